"""Which designs to evaluate next: most of them where the surface promises most, some where they
teach most about it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from ..gaussian import Posterior, covariances, mean_path, means, sample_paths, stds
from .model_sets import ModelSet, find_sets, nondominated, properly_nondominated, useful

N_PATHS = 2
"""Paths of the posterior whose sets count beside that of the mean."""

PERIOD, KNOWN_WELL = 8, 0.1
"""One point of so many is there to teach, as long as the uncertainty along the surface, in units of
the ranges, is above this."""

N_PROMISING, N_TARGETS = 256, 64
"""So many points of the mean's set may be picked for hypervolume; so many stand for the set of a
path."""

N_POOL = 96
"""Random points of the cube, and points around the sets, that may be picked beside those of the
sets."""

AROUND = 0.1
"""The standard deviation of the latter from the sets, in units of the cube."""

CLOSE, CLOSE_TO_FAILED = 1e-4, 0.02
"""Nearer than this to a point that was asked or told, along every variable, is the same point;
likewise for one that failed."""

N_PLACES = 256
"""Among so many random places the one farthest from all points is taken in place of a point that is
there already."""

BEYOND = 0.1
"""The reference point of hypervolumes lies beyond the worst values of the set by this share of
their ranges, unless the user says which values are the worst that are of use."""

FARTHEST = 1.0
"""In that case, at most by this share: far away it would make tiny gains at the ends of the set
worth more than all between."""


@dataclass(frozen=True)
class Known:
    """Where processes were evaluated, where they are being evaluated, and where that failed: points
    of the cube."""

    evaluated: Float[np.ndarray, "n n_free"]
    pending: Float[np.ndarray, "p n_free"]
    failed: Float[np.ndarray, "q n_free"]


@dataclass(frozen=True)
class Wanted:
    """Which points a search wants.

    Attributes:
        numbers: one for each point, in the order in which they will be asked for.
        worst: values beyond which a point is of no use, infinite where there is no such value.
    """

    numbers: range
    worst: Float[np.ndarray, " n_objectives"]


@dataclass(frozen=True)
class Proposal:
    """Points to evaluate.

    Attributes:
        u: points of the cube.
        on_surface: which of them lie on the set of the mean: their values, once known, are a
            held-out test of the surface.
        uncertainty: the RMS standard deviation along the set of the mean, in units of the ranges.
        span: the ranges of the objectives over that set.
    """

    u: Float[np.ndarray, "n n_free"]
    on_surface: Bool[np.ndarray, " n"]
    uncertainty: float
    span: Float[np.ndarray, " n_objectives"]


class Prospect(NamedTuple):
    """What the mean promises, in scaled values.

    Attributes:
        mean_set: points of its set.
        span: the ranges of the objectives over it.
        seen: what is known, or being evaluated, by the mean.
        end: the reference point of hypervolumes.
        starts: evaluated points to look for sets from.
        worst: values beyond which a point is of no use.
    """

    mean_set: ModelSet
    span: Float[np.ndarray, " n_objectives"]
    seen: Float[np.ndarray, "n n_objectives"]
    end: Float[np.ndarray, " n_objectives"]
    starts: Float[np.ndarray, "k n_free"]
    worst: Float[np.ndarray, " n_objectives"]


def propose(
    posterior: Posterior, known: Known, wanted: Wanted, calibration: float, rng: np.random.Generator
) -> Proposal:
    """The next points: for hypervolume, but for those that teach.

    Args:
        posterior: of the objectives.
        known: where they were, are being, or cannot be evaluated.
        wanted: which points.
        calibration: by what standard deviations are to be multiplied.
        rng: of everything random.
    """
    found = _prospect(posterior, known, wanted.worst, rng)
    promising, seen, units = found.mean_set, found.seen, np.asarray(posterior.scale) * found.span
    uncertainty = float(np.sqrt(np.mean((stds(posterior, promising.u) / units) ** 2)))
    teaching = [
        calibration * uncertainty > KNOWN_WELL and number % PERIOD == PERIOD - 1
        for number in wanted.numbers
    ]
    table = _reductions(posterior, found, known, rng) if any(teaching) else None
    picked, on_surface = np.zeros((0, promising.u.shape[1])), []
    for teaches in teaching:
        row = _row(found, seen, table if teaches else None, known, picked)
        if row is None:
            u = emptiest(known, picked, rng)
        else:
            # the first points of a table are these
            u = (promising.u if table is None else table.u)[row]
            seen = seen if teaches else np.vstack([seen, promising.f[row]])
        if table is not None and row is not None:
            table.condition(row)
        picked = np.vstack([picked, u])
        on_surface.append(row is not None and not teaches)
    return Proposal(picked, np.array(on_surface), uncertainty, units)


def _prospect(
    posterior: Posterior, known: Known, worst: np.ndarray, rng: np.random.Generator
) -> Prospect:
    unit, shift = np.asarray(posterior.scale), np.asarray(posterior.shift)
    f, worst = (means(posterior, known.evaluated) - shift) / unit, (worst - shift) / unit
    starts = known.evaluated[properly_nondominated(f)]
    mean_set = thin(
        useful(find_sets(mean_path(posterior), starts, worst, rng)[0], worst), N_PROMISING
    )
    low, high = mean_set.f.min(axis=0), mean_set.f.max(axis=0)
    span = np.where(high > low, high - low, np.maximum(f.std(axis=0), 1e-6))
    beyond = np.where(
        np.isfinite(worst) & (high <= worst).all(),
        np.clip(worst - high, 0.0, FARTHEST * span),
        BEYOND * span,
    )
    seen = (
        np.vstack([f, (means(posterior, known.pending) - shift) / unit])
        if len(known.pending)
        else f
    )
    return Prospect(mean_set, span, seen, high + beyond, starts, worst)


def _row(
    found: Prospect, seen: np.ndarray, table: "Reductions | None", known: Known, picked: np.ndarray
) -> int | None:
    """The next pick: where it teaches most by a table, else where the set adds most; None where
    nothing is left."""
    if table is None:
        return _most_volume(
            found.mean_set.f, seen, found.end, ~is_taken(found.mean_set.u, known, picked)
        )
    return table.most_informative(~is_taken(table.pickable, known, picked))


def _reductions(
    posterior: Posterior, found: Prospect, known: Known, rng: np.random.Generator
) -> "Reductions":
    """Over the set of the mean, whose points come first, and those of paths."""
    paths = sample_paths(posterior, N_PATHS, rng)
    others = [
        thin(useful(one, found.worst), N_TARGETS)
        for one in find_sets(paths, found.starts, found.worst, rng)
    ]
    return Reductions(posterior, [found.mean_set, *others], known, found.span, rng)


def thin(one: ModelSet, most: int) -> ModelSet:
    """Points of a set far from each other in objectives, its ends among them."""
    span = np.ptp(one.f, axis=0)
    z = one.f / np.where(span > 0, span, 1.0)
    chosen = list(dict.fromkeys(int(i) for i in z.argmin(axis=0)))
    away = np.min([np.linalg.norm(z - z[i], axis=1) for i in chosen], axis=0)
    while len(chosen) < most and away.max() > 0:
        chosen.append(int(away.argmax()))
        away = np.minimum(away, np.linalg.norm(z - z[chosen[-1]], axis=1))
    return ModelSet(one.u[chosen], one.f[chosen])


def _most_volume(
    f: np.ndarray, seen: np.ndarray, worst: np.ndarray, free: np.ndarray
) -> int | None:
    """The row of f that adds most hypervolume to what was seen, of those that are free; None if
    none adds any."""
    import moocore

    base = seen[nondominated(seen)]
    volumes = [
        moocore.hypervolume(np.vstack([base, row]), ref=worst) if ok else 0.0
        for row, ok in zip(f, free, strict=True)
    ]
    best = int(np.argmax(volumes))
    return best if volumes[best] > moocore.hypervolume(base, ref=worst) else None


class Reductions:
    """How much the evaluation of a point would reduce the variance along the sets: covariances,
    conditioned as points are picked.

    Attributes:
        u: the points of the sets, then others that may be picked, then points that are known of.
        weight: of the points of the sets; each set counts as much as any other.
    """

    def __init__(
        self,
        posterior: Posterior,
        sets: list[ModelSet],
        known: Known,
        span: np.ndarray,
        rng: np.random.Generator,
    ):
        targets = np.concatenate([one.u for one in sets])
        around = targets[rng.integers(0, len(targets), N_POOL)]
        around = np.clip(around + AROUND * rng.standard_normal(around.shape), 0.0, 1.0)
        others = np.concatenate([rng.random((N_POOL, targets.shape[1])), around])
        self.u = np.concatenate([targets, others, known.pending, known.failed])
        self.n_pickable = len(targets) + len(others)
        self.weight = np.concatenate([np.full(len(one.u), 1 / len(one.u)) for one in sets])
        self.covariances = np.array(covariances(posterior, self.u)) / span[:, None, None] ** 2
        self.noise = (
            np.asarray(posterior.nugget) + 1e-10 * np.asarray(posterior.variance)
        ) / span**2
        # nothing can be learned any more where somebody looks already
        for row in range(self.n_pickable, len(self.u)):
            self.condition(row)

    @property
    def pickable(self) -> Float[np.ndarray, "n n_free"]:
        """The points that may be picked."""
        return self.u[: self.n_pickable]

    @property
    def variances(self) -> Float[np.ndarray, "n_objectives n"]:
        """At each point, in units of the ranges squared."""
        return np.maximum(np.diagonal(self.covariances, axis1=1, axis2=2), 0.0)

    def condition(self, row: int) -> None:
        """What would be known after an evaluation at this point."""
        column = self.covariances[:, :, row].copy()
        total = np.maximum(column[:, row] + self.noise, 1e-16)
        self.covariances -= column[:, :, None] * column[:, None, :] / total[:, None, None]

    def most_informative(self, free: Bool[np.ndarray, " n_pickable"]) -> int | None:
        """The free point whose evaluation reduces the mean variance along the sets most, objectives
        in units of their ranges."""
        n = len(self.weight)
        total = np.maximum(self.variances + self.noise[:, None], 1e-16)[:, : self.n_pickable]
        gain = (
            np.einsum("k,mkj->mj", self.weight, self.covariances[:, :n, : self.n_pickable] ** 2)
            / total
        )
        row = int(np.argmax(np.where(free, gain.sum(axis=0), -1.0)))
        return row if free[row] else None


def is_taken(
    u: Float[np.ndarray, "k n_free"], known: Known, picked: Float[np.ndarray, "p n_free"]
) -> Bool[np.ndarray, " k"]:
    """Which points were asked for before, or lie where an evaluation failed."""

    def nearest(points: np.ndarray) -> np.ndarray:
        return np.abs(u[:, None] - points[None]).max(axis=2).min(axis=1, initial=np.inf)

    places = np.concatenate([known.evaluated, known.pending, picked])
    return (nearest(places) < CLOSE) | (nearest(known.failed) < CLOSE_TO_FAILED)


def emptiest(
    known: Known, picked: np.ndarray, rng: np.random.Generator
) -> Float[np.ndarray, " n_free"]:
    """Of random places of the cube the one farthest from all points."""
    taken = np.concatenate([known.evaluated, known.pending, known.failed, picked])
    places = rng.random((N_PLACES, taken.shape[1]))
    away = np.min(np.sum((places[:, None] - taken[None]) ** 2, axis=2), axis=1)
    return places[int(away.argmax())]
