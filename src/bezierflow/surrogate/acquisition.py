"""Which designs to evaluate next.

Most of them maximize the hypervolume improvement on the Pareto set of the posterior mean; their
values are a held-out test of it. While that set is uncertain, some explore: they reduce the
posterior variance along it, and along the sets of Thompson samples, most. Points live in the unit
cube; values are standardized.
"""

from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PyTree

from ..compilation import compiled, pad_rows
from ..gaussian import (
    Numbers,
    Paths,
    Posterior,
    covariances,
    mean_path,
    means,
    sample_paths,
    stds,
)
from ..metrics import farthest_points, nondominated
from ..precision import double_precision
from ..simplex import grid, largest_degree_within
from .domain import ANYWHERE, Domain
from .feasibility import Gates, chance, shortfall
from .schedule import SCHEDULE


class ModelSet(NamedTuple):
    """Points of the Pareto set of a path, and their values."""

    u: Float[np.ndarray, "n n_free"]
    f: Float[np.ndarray, "n n_objectives"]


class Known(NamedTuple):
    """What is known of the cube.

    Attributes:
        evaluated: points that were evaluated.
        pending: points that are being evaluated.
        failed: points whose evaluation failed.
        gates: what designs must keep that only an evaluation tells.
        kept: which of the evaluated points keep all constraints; None for all of them.
    """

    evaluated: Float[np.ndarray, "n n_free"]
    pending: Float[np.ndarray, "p n_free"]
    failed: Float[np.ndarray, "q n_free"]
    gates: Gates = ()
    kept: Bool[np.ndarray, " n"] | None = None


class Proposal(NamedTuple):
    """Points to evaluate.

    Attributes:
        u: the points.
        on_surface: which of them lie on the set of the mean.
        uncertainty: the RMS standard deviation along that set, in units of the ranges.
        span: the ranges of the objectives over it, in their own units.
    """

    u: Float[np.ndarray, "n n_free"]
    on_surface: Bool[np.ndarray, " n"]
    uncertainty: float
    span: Float[np.ndarray, " n_objectives"]


def propose(
    posterior: Posterior,
    known: Known,
    numbers: range,
    worst: Float[np.ndarray, " n_objectives"],
    calibration: float,
    rng: np.random.Generator,
    domain: Domain = ANYWHERE,
) -> Proposal:
    """The next points, one after the other, each as if those before had their expected values.

    `numbers` are those of the points in the order in which they are asked for: one of `period`
    explores. `worst` are values beyond which a point is of no use, infinite where there are none;
    `calibration` is a factor of standard deviations; `domain` knows what can be set.
    """
    unit, shift = np.asarray(posterior.scale), np.asarray(posterior.shift)
    f, worst = (means(posterior, known.evaluated) - shift) / unit, (worst - shift) / unit
    spread, (f, starts) = f.std(axis=0), _feasible_part(known, f)
    within = known.gates, domain
    promising = useful(find_sets(mean_path(posterior), starts, worst, rng, *within)[0], worst)
    promising = thin(promising, SCHEDULE.n_promising)
    low, high = promising.f.min(axis=0), promising.f.max(axis=0)
    span = np.where(high > low, high - low, np.maximum(spread, SCHEDULE.least_span))
    # A reference point beyond the nadir values the ends of the set too; much farther away, tiny
    # gains at the ends would be worth more than all between.
    reference = high + np.where(
        np.isfinite(worst) & (high <= worst).all(),
        np.clip(worst - high, 0.0, span),
        SCHEDULE.beyond * span,
    )
    if len(known.pending):  # as if evaluated, with the values that are expected
        f = np.vstack([f, (means(posterior, known.pending) - shift) / unit])
    settable = domain.on_steps(promising.u)
    if settable is not promising.u:
        promising = ModelSet(settable, (means(posterior, settable) - shift) / unit)
    uncertainty = float(np.sqrt(np.mean((stds(posterior, promising.u) / (unit * span)) ** 2)))
    uncertain = calibration * uncertainty > SCHEDULE.known_well
    explores = uncertain & (np.array(numbers) % SCHEDULE.period == SCHEDULE.period - 1)
    table, candidates = None, promising.u
    if explores.any():
        paths = sample_paths(posterior, SCHEDULE.n_paths, rng)
        others = [
            thin(useful(one, worst), SCHEDULE.n_targets)
            for one in find_sets(paths, starts, worst, rng, *within)
        ]
        table = VarianceReduction(posterior, [promising, *others], known, span, rng, domain)
        candidates = table.candidates  # those of the mean's set come first
    n_pending, on_surface = len(known.pending), []
    likely = chance(known.gates, candidates)
    for exploring in explores:
        # of no use where a point is taken already
        worth = np.where(is_taken(candidates, known), 0.0, likely)
        if exploring:
            row = cast(VarianceReduction, table).best(worth)
        else:
            row = most_improvement(promising.f, f, reference, worth[: len(promising.f)])
            # as if evaluated, with the values that are expected
            f = f if row is None else np.vstack([f, promising.f[row]])
        on_surface.append(row is not None and not exploring)
        u = emptiest(known, rng, domain) if row is None else candidates[row]
        if row is not None and table is not None:
            table.condition(row)
        known = known._replace(pending=np.vstack([known.pending, u]))
    return Proposal(known.pending[n_pending:], np.array(on_surface), uncertainty, unit * span)


def _feasible_part(known: Known, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values of evaluations that keep the constraints, and the best of their points: what
    violates one improves on nothing, and is no reason to stay away."""
    if known.kept is None:
        return f, known.evaluated[properly_nondominated(f)]
    f, u = f[known.kept], known.evaluated[known.kept]
    return f, u[properly_nondominated(f)] if len(u) else known.evaluated


def most_improvement(
    f: Float[np.ndarray, "n n_objectives"],
    known: Float[np.ndarray, "k n_objectives"],
    reference: Float[np.ndarray, " n_objectives"],
    worth: Float[np.ndarray, " n"],
) -> int | None:
    """The row of f with the largest hypervolume improvement over known values, times what it is
    worth, a probability or 0; None where there is no improvement."""
    import moocore

    base = known[nondominated(known)]  # the others take time and change nothing
    volume = moocore.hypervolume(base, ref=reference) if len(base) else 0.0
    gains = [
        share * (moocore.hypervolume(np.vstack([base, row]), ref=reference) - volume)
        if share > 0
        else 0.0
        for row, share in zip(f, worth, strict=True)
    ]
    best = int(np.argmax(gains))
    return best if gains[best] > 0 else None


class VarianceReduction:
    """How much an evaluation would reduce the posterior variance, integrated over sets.

    Attributes:
        candidates: points that may be picked: those of the sets, random ones, and ones around the
            sets.
    """

    def __init__(
        self,
        posterior: Posterior,
        sets: list[ModelSet],
        known: Known,
        span: Float[np.ndarray, " n_objectives"],
        rng: np.random.Generator,
        domain: Domain = ANYWHERE,
    ):
        targets, n = np.concatenate([one.u for one in sets]), SCHEDULE.n_pool
        around = targets[rng.integers(0, len(targets), n)]
        around = np.clip(around + SCHEDULE.around * rng.standard_normal(around.shape), 0.0, 1.0)
        everywhere = rng.random((n, targets.shape[1]))
        self.candidates = domain.on_steps(np.concatenate([targets, everywhere, around]))
        # Each set counts as much as any other, however many points it has.
        self._weight = np.concatenate([np.full(len(one.u), 1 / len(one.u)) for one in sets])
        u = np.concatenate([self.candidates, known.pending, known.failed])
        self._covariances = np.array(covariances(posterior, u)) / span[:, None, None] ** 2
        jitter = SCHEDULE.jitter * np.asarray(posterior.variance)
        self._noise = (np.asarray(posterior.nugget) + jitter) / span**2
        # Nothing more can be learned where a point is pending, or cannot be evaluated.
        for row in range(len(self.candidates), len(u)):
            self.condition(row)

    def condition(self, row: int) -> None:
        """Counts the point of this row as evaluated: a rank-one update of the covariances."""
        column = self._covariances[:, :, row].copy()
        total = np.maximum(column[:, row], 0.0) + self._noise
        self._covariances -= column[:, :, None] * column[:, None, :] / total[:, None, None]

    def best(self, worth: Float[np.ndarray, " n"]) -> int | None:
        """The candidate that reduces the mean variance along the sets most, times what it is worth,
        a probability or 0; None if none is worth anything. Objectives count in units of their
        ranges."""
        k, n = len(self._weight), len(self.candidates)
        variances = np.maximum(np.diagonal(self._covariances, axis1=1, axis2=2), 0.0)
        total = (variances + self._noise[:, None])[:, :n]
        gain = np.einsum("k,mkj->mj", self._weight, self._covariances[:, :k, :n] ** 2) / total
        row = int(np.argmax(np.where(worth > 0, gain.sum(axis=0) * worth, -1.0)))
        return row if worth[row] > 0 else None


def is_taken(u: Float[np.ndarray, "k n_free"], known: Known) -> Bool[np.ndarray, " k"]:
    """Which points were asked for before, or lie where an evaluation failed."""
    taken = np.zeros(len(u), dtype=bool)
    for points, close in (
        (known.evaluated, SCHEDULE.close),
        (known.pending, SCHEDULE.close),
        (known.failed, SCHEDULE.close_to_failed),
    ):
        taken |= np.abs(u[:, None] - points[None]).max(axis=2).min(axis=1, initial=np.inf) < close
    return taken


def emptiest(
    known: Known, rng: np.random.Generator, domain: Domain = ANYWHERE
) -> Float[np.ndarray, " n_free"]:
    """Of random places of the cube the one farthest from all points, where designs are likely to be
    feasible."""
    taken = np.concatenate(known[:3])
    places = domain.on_steps(rng.random((SCHEDULE.n_promising, taken.shape[1])))
    away = np.min(np.sum((places[:, None] - taken[None]) ** 2, axis=2), axis=1)
    return places[int((away * chance(known.gates, places)).argmax())]


def ranges(f: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, " n_objectives"]:
    """Of the objectives over points; 1 for one that does not vary."""
    span = np.ptp(f, axis=0)
    return np.where(span > 0, span, 1.0)


def properly_nondominated(f: Float[np.ndarray, "n n_objectives"]) -> Bool[np.ndarray, " n"]:
    """Which points no other one dominates for the wider cone, with units from the points
    themselves."""
    keep = nondominated(f)
    for _ in range(2):  # the wider cone cuts off tails, and units change with them
        keep = nondominated(_widened(f / ranges(f[keep])))
    return keep


def _widened(z: Any) -> Any:
    """Objectives in units of their ranges, for the wider dominance cone."""
    return z + SCHEDULE.cone * (z.sum(axis=-1, keepdims=True) - z)


def useful(one: ModelSet, worst: Float[np.ndarray, " n_objectives"]) -> ModelSet:
    """The points with no value beyond `worst`; all of them where there is none."""
    keep = (one.f <= worst).all(axis=1)
    return ModelSet(one.u[keep], one.f[keep]) if keep.any() else one


def thin(one: ModelSet, most: int) -> ModelSet:
    """Points of a set far from each other in objectives, its ends among them."""
    z = one.f / ranges(one.f)
    chosen = farthest_points(z, most, np.array(list(dict.fromkeys(z.argmin(axis=0)))))
    return ModelSet(one.u[chosen], one.f[chosen])


def find_sets(
    paths: Paths,
    starts: Float[np.ndarray, "n n_free"],
    worst: Float[np.ndarray, " n_objectives"],
    rng: np.random.Generator,
    gates: Gates = (),
    domain: Domain = ANYWHERE,
    n_rounds: int = SCHEDULE.n_rounds,
) -> list[ModelSet]:
    """The Pareto set of each path, as points, on the cube or on the part of it that gates are
    expected to leave; directions are spread over what is better than `worst`.

    Each direction w minimizes max_m w_m z_m, z in units of the ranges, from the best candidate:
    smooth maximum, Adam, clipped to the cube. Directions of the ends start at several candidates.
    """
    (n_paths, M, _), n = np.shape(paths.height), SCHEDULE.n_candidates
    starts = starts[-(n // 2) :]  # the last ones, which the search chose
    others = domain.on_choices(rng.random((n - len(starts), starts.shape[1])))
    candidates = np.concatenate([starts, others])
    regular = grid(M, largest_degree_within(M, SCHEDULE.n_directions))
    random = rng.dirichlet(np.ones(M), SCHEDULE.n_directions)
    # The direction of equal weights finds points that are of use, if there are any.
    middle, ends = np.full((1, M), 1 / M), np.repeat(np.eye(M), SCHEDULE.n_ends, axis=0)
    weights = np.concatenate([regular, random, middle, ends])
    weights = np.maximum(weights, SCHEDULE.least_weight)
    weights = weights / weights.max(axis=1, keepdims=True)
    u = np.broadcast_to(candidates, (n_paths, *candidates.shape))
    walls = tuple((mean_path(posterior), level, unit) for posterior, level, unit in gates)
    with double_precision():
        f = np.asarray(_values(paths, candidates))
        for k in range(n_rounds):
            units = [_units(one, worst) for one in f]
            ideal, span = (np.stack(part) for part in zip(*units, strict=True))
            z = _widened((f - ideal[:, None]) / span[:, None])
            z = z + SCHEDULE.penalty * shortfall(gates, u)[..., None]
            inner = weights[: -len(ends)]
            best = [np.argmin(np.max(w * z, axis=2), axis=1)[:, None] for w in inner]
            # among the first candidates: points found since are near ends that are known
            own = slice(k * SCHEDULE.n_ends, (k + 1) * SCHEDULE.n_ends)
            best += [np.argsort(z[:, :n, m], axis=1)[:, own] for m in range(M)]
            begin = np.take_along_axis(u, np.concatenate(best, axis=1)[:, :, None], axis=1)
            units = weights, ideal, span
            found, values = map(np.asarray, _descend(paths, walls, begin, domain.moves, *units))
            u, f = np.concatenate([u, found], axis=1), np.concatenate([f, values], axis=1)
    sets = []
    for points, values, short in zip(u, f, shortfall(gates, u), strict=True):
        # descents end on the boundary up to rounding; the nearest where none is inside
        inside = short <= max(SCHEDULE.slack, short.min())
        keep = np.flatnonzero(inside)[properly_nondominated(values[inside])]
        sets.append(ModelSet(points[keep], values[keep]))
    return sets


def _units(
    f: Float[np.ndarray, "n n_objectives"], worst: Float[np.ndarray, " n_objectives"]
) -> tuple[np.ndarray, np.ndarray]:
    """Ideal point and ranges of the points that are not dominated; ranges end where values are of
    no use any more."""
    best = f[properly_nondominated(f)]
    ideal = best.min(axis=0)
    span = np.minimum(best.max(axis=0), np.where(worst > ideal, worst, np.inf)) - ideal
    return ideal, np.where(span > 0, span, np.maximum(f.std(axis=0), SCHEDULE.least_span))


def path_values(
    paths: Paths, u: Float[np.ndarray, "n n_free"]
) -> Float[np.ndarray, "P n n_objectives"]:
    """The standardized values of each path at points."""
    with double_precision():
        return np.asarray(_values(paths, pad_rows(u, SCHEDULE.n_promising)))[:, : len(u)]


@compiled
def _values(paths: Paths, u: Numbers) -> Array:
    return jax.vmap(lambda *path: paths.at_rows(u, *path)[0].T)(paths.height, paths.alpha)


@compiled
def _descend(
    paths: Paths,
    walls: tuple[tuple[Paths, Numbers, Numbers], ...],
    u: Numbers,
    moves: Numbers | None,
    weights: Numbers,
    ideal: Numbers,
    span: Numbers,
) -> tuple[Array, Array]:
    """The best points on the way of each direction of each path, and their values, where the mean
    of each wall is as high as its level."""
    import optax  # a sixth of a second that only searches need

    (first, last), (wide, narrow), n = SCHEDULE.steps, SCHEDULE.widths, SCHEDULE.n_steps
    b1, b2 = SCHEDULE.decay
    adam = optax.adam(optax.exponential_decay(first, n, last / first), b1=b1, b2=b2)

    def descend(u: Array, height: Array, alpha: Array, ideal: Array, span: Array) -> tuple:
        def step(k: Array, carry: tuple[PyTree, ...]) -> tuple[PyTree, ...]:
            u, memory, best, best_u = carry
            width = wide * (narrow / wide) ** (k / n)  # narrows as the steps shrink

            def smooth(f: Array) -> tuple[Array, Array]:
                z = weights * _widened((f - ideal) / span)
                # directions do not depend on each other: the gradient of the sum has all of theirs
                return jnp.sum(width * jax.nn.logsumexp(z / width, axis=1)), jnp.max(z, axis=1)

            f, jacobian = paths.at_rows(u, height, alpha)
            by_f, level = jax.grad(smooth, has_aux=True)(f.T)
            slope = jnp.einsum("nm,mnl->nl", by_f, jacobian)
            for wall, least, size in walls:  # exact penalties
                own, rise = wall.at_rows(u, wall.height[0], wall.alpha[0])
                unit, shift = jnp.asarray(wall.posterior.scale), jnp.asarray(wall.posterior.shift)
                by = (unit / size)[:, None]
                short = (jnp.asarray(least) - shift)[:, None] / jnp.asarray(size)[
                    :, None
                ] - own * by
                level = level + SCHEDULE.penalty * jnp.sum(jnp.maximum(short, 0.0), axis=0)
                steep = jnp.where(short > 0, SCHEDULE.penalty * by, 0.0)
                slope = slope - jnp.einsum("kn,knl->nl", steep, rise)
            better = level < best
            best, best_u = jnp.minimum(level, best), jnp.where(better[:, None], u, best_u)
            # Adam's moments must not see slopes that push against a side of the cube.
            slope = jnp.where(((u <= 0) & (slope > 0)) | ((u >= 1) & (slope < 0)), 0.0, slope)
            slope = slope if moves is None else jnp.where(jnp.asarray(moves), slope, 0.0)
            change, memory = adam.update(slope, memory)
            return jnp.clip(u + jnp.asarray(change), 0.0, 1.0), memory, best, best_u

        begin = (u, adam.init(u), jnp.full(len(u), jnp.inf), u)
        best = jax.lax.fori_loop(0, n, step, begin)[3]
        return best, paths.at_rows(best, height, alpha)[0].T

    each = map(jnp.asarray, (u, paths.height, paths.alpha, ideal, span))
    return jax.vmap(descend)(*each)
