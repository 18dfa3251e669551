"""The surface of a surrogate: the Pareto set of the posterior mean, followed by an atlas, and how
much of the front it may still miss."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..answer import Solution
from ..atlas import AtlasFlow
from ..bezier import Raveling
from ..gaussian import Numbers, Posterior, PosteriorMean, sample_paths
from ..objectives import Placed, Space, box_on_solver_side, feasible_set, read_names
from ..solve import Call, minimize, minimize_mixed
from .acquisition import ModelSet, find_sets, path_values, ranges, thin, useful
from .domain import ANYWHERE, Domain
from .feasibility import Gates
from .schedule import SCHEDULE


class Within(eqx.Module):
    """Constraints that keep the set of the mean to where its trade-offs are proper and of use: no
    objective worse than its limit.

    With the wider dominance cone (`Schedule.cone`) the set ends earlier: what lies beyond is worse
    in some objective than any proper point. Whatever dominates a point within the limits is within
    them too, so that the set within them is a part of the whole one.
    """

    mean: PosteriorMean
    limit: Float[Numbers, " n_objectives"]
    span: Float[Numbers, " n_objectives"]
    gates: Gates = ()

    def __call__(self, x: PyTree) -> Float[Array, " n_limits"]:
        """At most 0 where objectives keep their limits, and gates their levels."""
        f = (jnp.asarray(self.mean.names.signs) * self.mean(x) - self.limit) / self.span
        u = self.mean.place(x)
        rows = [(level - posterior.mean(u)) / unit for posterior, level, unit in self.gates]
        return jnp.concatenate([f, *rows])


def follow(
    within: Within, domain: Domain, part: ModelSet, seed: int, rounds: int | None
) -> Solution:
    """The atlas of the mean within the bounds, where no objective is worse than its limit; one
    atlas for all choices that points of the set are next to."""
    mean, names, known = within.mean, domain.names, domain.from_cube(part.u)
    tol = SCHEDULE.curve_tol if len(names.objectives) == 2 else SCHEDULE.tol

    def atlas_of(
        f: Placed | PosteriorMean,
        start: Float[np.ndarray, " n_variables"],
        given: Mapping[str, Any],
        raveling: Raveling,
    ) -> Solution:
        own = read_names(f, None, given["transforms"], None, len(start))
        limits = given["bounds"], given["constraints"], raveling, own.variables, start
        inside = box_on_solver_side(feasible_set(*limits), own)
        box = np.asarray(inside.lower), np.asarray(inside.upper)
        most = SCHEDULE.most_points
        flow = AtlasFlow(inside, box, tol=tol, budget=most, n_iterations=rounds)
        kept = {name: given[name] for name in ("bounds", "constraints", "transforms", "seed")}
        return minimize(f, raveling.unravel(start), flow, **kept)

    if not any(domain.values):
        # The flow starts where the worst of the objectives, in units of ranges, is least.
        middle = int(np.argmin(((part.f - part.f.min(axis=0)) / ranges(part.f)).max(axis=1)))
        sides = (mean.raveling.unravel(domain.lower), mean.raveling.unravel(domain.upper))
        given = {"bounds": sides, "constraints": [within], "transforms": None, "seed": seed}
        return atlas_of(mean, known[middle], given, mean.raveling)
    whole, named = (False,) * len(names.variables), not mean.raveling.is_vector
    sides = tuple(domain.lower.tolist()), tuple(domain.upper.tolist())
    space = Space(names.variables, *sides, domain.values, whole, named, coded=True)
    logarithms: dict[str | int, str] = {
        name: kind for name, kind in zip(names.variables, names.transforms, strict=True) if kind
    }

    def start(f: Placed, x0: PyTree, method: object, **rest: Any) -> Solution:
        # From the point of the set with the most similar choice.
        rows, free = space.discrete, space.continuous
        away = np.abs(known[:, rows] - f.x[rows]) / (domain.upper - domain.lower)[rows]
        first = known[int(away.sum(axis=1).argmin()), free]
        return atlas_of(f, first, rest, Raveling.of(first))

    call = Call(
        mean, constraints=[within], transforms=logarithms or None, variables=space, seed=seed
    )
    return minimize_mixed(call, start, known)


def missing(
    posterior: Posterior,
    calibration: float,
    u: Float[np.ndarray, "n n_free"],
    worst: Float[np.ndarray, " n_objectives"],
    rng: np.random.Generator,
    gates: Gates = (),
    domain: Domain = ANYWHERE,
) -> tuple[float, float]:
    """The share of the front's hypervolume that designs u all over the surface miss, for all that
    the evaluations say: its expectation, and what it is below with a probability of
    `Schedule.confidence`.

    Functions drawn from the posterior are as likely as its mean. Each has a front of its own, and
    at the designs of the surface values of its own: what these leave of the hypervolume of that
    front, as far as values are of use, is what would be missing if it were the truth.
    `calibration` is a factor of standard deviations; the others are those of `find_sets`. Fronts
    have fewer points than there are designs, so that those between designs count for little.
    """
    import moocore

    paths = sample_paths(posterior, SCHEDULE.n_fronts, rng)
    # farther from the mean by the factor
    mean, alpha = np.asarray(posterior.alpha), np.asarray(paths.alpha)
    rows = calibration * np.asarray(paths.height), mean + calibration * (alpha - mean)
    paths = eqx.tree_at(lambda one: (one.height, one.alpha), paths, rows)
    some, shares = u[:: max(len(u) // SCHEDULE.n_targets, 1)], []
    fronts = find_sets(paths, some, worst, rng, gates, domain, n_rounds=1)
    for one, values in zip(fronts, path_values(paths, u), strict=True):
        front = thin(useful(one, worst), SCHEDULE.n_targets).f
        low, high = front.min(axis=0), front.max(axis=0)
        reference = np.minimum(high + SCHEDULE.beyond * (high - low), worst)
        whole = moocore.hypervolume(np.vstack([front, values]), ref=reference)
        found = moocore.hypervolume(values, ref=reference)
        shares.append(1 - found / whole if whole > 0 else 0.0)
    return float(np.mean(shares)), float(np.quantile(shares, SCHEDULE.confidence))
