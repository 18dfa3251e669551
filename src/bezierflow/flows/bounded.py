"""Where a surface lies against its bounds, which a polynomial keeps at its nodes only."""

import numpy as np
from jaxtyping import Float

from ..answer import Result
from ..bezier import BezierSimplex
from ..methods import AbstractGradientMethod, AbstractMethod, GradientDescent, ProximalGradient
from ..objectives import FeasibleSet
from ..precision import ROUNDING, double_precision
from ..simplex import from_cube, grid, kronecker, largest_degree_within
from .schedule import SCHEDULE

STOPS_AT_MINIMIZERS = (AbstractGradientMethod, GradientDescent, ProximalGradient)
"""Methods that rest, once their points are clipped to a box, at minimizers within the box: their
steps scale each variable apart. A clipped step of any other, such as Newton's, may rest elsewhere,
unless the objectives are separable."""


def dense_t(n_objectives: int) -> Float[np.ndarray, "n n_objectives"]:
    """Points of the simplex on a fine grid and spread evenly inside."""
    t = grid(n_objectives, largest_degree_within(n_objectives, SCHEDULE.grid_points))
    if n_objectives == 1:
        return t
    # A grid for many objectives has no points inside the simplex.
    with double_precision():
        inside = from_cube(kronecker(SCHEDULE.inner_points, n_objectives - 1))
        return np.vstack([t, np.asarray(inside)])


def dense_points(surface: BezierSimplex) -> Float[np.ndarray, "n n_variables"]:
    """Points b(t) of a flat surface for many t."""
    with double_precision():
        return np.asarray(surface(dense_t(surface.n_objectives)))


def touches(bounds: FeasibleSet, surface: BezierSimplex) -> bool:
    """Whether the surface reaches a bound anywhere, so that it is not the Pareto set without
    bounds."""
    x, slack = dense_points(surface), _rounding(bounds)
    return bool(np.any(x <= bounds.lower + slack) or np.any(x >= bounds.upper - slack))


def explain_bounds(
    result: Result, bounds: FeasibleSet, surface: BezierSimplex, method: AbstractMethod
) -> Result:
    """The result of a lifted run with how far the surface leaves the bounds between its nodes, and
    what that leaves uncertain."""
    violation, text = bounds.worst(dense_points(surface))
    keeps = violation <= _rounding(bounds)
    result = result.noted(
        "it keeps the bounds"
        if keeps
        else f"it leaves the bounds by at most {violation:.2g} ({text})"
    )
    if not touches(bounds, surface):
        return result
    result = result.noted("solution.error does not know the bounds that it reaches")
    if isinstance(method, STOPS_AT_MINIMIZERS):
        return result
    doubt = (
        f"clipped steps of {type(method).__name__} reach minimizers within bounds only where"
        " variables do not interact: compare with GradientDescent"
    )
    # Only an answer that would be used as it is loses its name by the doubt.
    return result.doubted(doubt) if result.success else result.noted(doubt)


def leaves(feasible: FeasibleSet, x: Float[np.ndarray, "n n_variables"]) -> str:
    """Which bound or constraint points of a surface violate, in words; empty if none.

    Rounding is allowed for bounds alone: how much of it a constraint may have depends on its units.
    """
    is_bound = np.arange(len(feasible.texts)) < 2 * feasible.n_variables
    if not np.any(feasible.violations(x) > np.where(is_bound, _rounding(feasible), 0.0)):
        return ""
    _, text = feasible.worst(x)
    return f"the front is cut off at {text}"


def search_box(feasible: FeasibleSet, start: BezierSimplex) -> tuple[np.ndarray, np.ndarray]:
    """A finite box to look in: the bounds, and where there are none a wide interval around the
    start."""
    x = np.asarray(start.control_points, dtype=float)
    low, high = x.min(axis=0), x.max(axis=0)
    wide = SCHEDULE.wide * np.maximum(1.0, np.maximum(np.abs(x).max(axis=0), high - low))
    lower, upper = feasible.lower, feasible.upper
    # A start beyond the one bound that there is must not turn the box inside out.
    return (
        np.where(np.isfinite(lower), lower, np.minimum(low, upper) - wide),
        np.where(np.isfinite(upper), upper, np.maximum(high, lower) + wide),
    )


def _rounding(bounds: FeasibleSet) -> float:
    """Less than this is neither outside nor away from a bound."""
    sides = np.concatenate([bounds.lower, bounds.upper])
    size = 1 + float(np.abs(sides[np.isfinite(sides)]).max(initial=0.0))
    return ROUNDING * size
