"""Where a surface lies against its bounds, which a polynomial keeps at its nodes only."""

import jax
import numpy as np
from jaxtyping import Float

from ..answer import Reason, Result
from ..bezier import BezierSimplex
from ..methods import AbstractGradientMethod, AbstractMethod, GradientDescent, ProximalGradient
from ..objectives import FeasibleSet
from ..precision import double_precision
from ..simplex import from_cube, grid, kronecker, largest_degree_within

MOST_GRID_POINTS = 5000
"""Of the regular grid that a surface is looked at on: steps of 1/98 for three objectives."""

N_INSIDE = 1000
"""Evenly spread points on top, because a grid for many objectives has none inside."""

WIDE = 10.0
"""Where a variable has no bound, designs are looked for so far from the start, in units of its size
or 1."""

ROUNDING = 1e-12
"""Less than this, relative to the size of the bounds, is neither outside nor away from a bound."""


STOPS_AT_MINIMIZERS = (AbstractGradientMethod, GradientDescent, ProximalGradient)
"""Methods that rest, once their points are clipped to a box, at minimizers within the box: their
steps scale each variable apart. A clipped step of any other, such as Newton's, may rest elsewhere,
unless the objectives are separable."""


def dense_points(surface: BezierSimplex) -> Float[np.ndarray, "n n_variables"]:
    """Points b(t) of a flat surface for t on a fine grid and spread evenly inside."""
    M = surface.n_objectives
    t = grid(M, largest_degree_within(M, MOST_GRID_POINTS))
    with double_precision():
        if M > 1:
            t = np.vstack([t, np.asarray(from_cube(kronecker(N_INSIDE, M - 1)))])
        return np.asarray(surface(t))


def touches(bounds: FeasibleSet, surface: BezierSimplex) -> bool:
    """Whether the surface reaches a bound anywhere, so that it is not the Pareto set without
    bounds."""
    return _reached(bounds, dense_points(surface))


def _reached(bounds: FeasibleSet, x: np.ndarray) -> bool:
    slack = ROUNDING * _size(bounds)
    return bool(np.any(x <= bounds.lower + slack) or np.any(x >= bounds.upper - slack))


def explain_bounds(
    result: Result, bounds: FeasibleSet, surface: BezierSimplex, method: AbstractMethod
) -> Result:
    """The result of a lifted run with how far the surface leaves the bounds between its nodes, and
    what that leaves in doubt."""
    x = dense_points(surface)
    violation, text = bounds.worst(x)
    keeps = violation <= ROUNDING * _size(bounds)
    message = f"{result.message}; " + (
        "it keeps the bounds"
        if keeps
        else f"it leaves the bounds by at most {violation:.2g} ({text})"
    )
    if not _reached(bounds, x):
        return Result(result.reason, message)
    message += "; solution.error does not know the bounds that it reaches"
    if isinstance(method, STOPS_AT_MINIMIZERS):
        return Result(result.reason, message)
    doubt = (
        f"clipped steps of {type(method).__name__} reach minimizers within bounds only where"
        " variables do not interact"
    )
    reason = Reason.SUSPECT if result.reason is Reason.CONVERGED else result.reason
    return Result(reason, f"{message}; {doubt}: compare with GradientDescent")


def leaves(feasible: FeasibleSet, surface: BezierSimplex) -> str:
    """Which bound or constraint a surface violates, in words; empty if none.

    Rounding is allowed for bounds alone: how much of it a constraint may have depends on its units.
    """
    return _violation(feasible, dense_points(surface))


def corners_leave(feasible: FeasibleSet, surface: BezierSimplex) -> str:
    """The same for the corners of a surface whose values may be pytrees."""
    points = [jax.tree.leaves(surface.vertex(m)) for m in range(surface.n_objectives)]
    return _violation(
        feasible,
        np.array(
            [np.concatenate([np.ravel(leaf) for leaf in point]) for point in points], dtype=float
        ),
    )


def _violation(feasible: FeasibleSet, x: np.ndarray) -> str:
    violation, text = feasible.worst(x)
    rounding = np.where(
        np.arange(len(feasible.texts)) < 2 * feasible.n_variables, ROUNDING * _size(feasible), 0.0
    )
    if not np.any(feasible.violations(x) > rounding):
        return ""
    return f"without bounds and constraints the Pareto set violates {text} by {violation:.3g}"


def search_box(feasible: FeasibleSet, start: BezierSimplex) -> tuple[np.ndarray, np.ndarray]:
    """A finite box to look in: the bounds, and where there are none a wide interval around the
    start."""
    x = np.asarray(start.control_points, dtype=float)
    low, high = x.min(axis=0), x.max(axis=0)
    wide = WIDE * np.maximum(1.0, np.maximum(np.abs(x).max(axis=0), high - low))
    lower = np.where(
        np.isfinite(feasible.lower), feasible.lower, np.minimum(low, feasible.upper) - wide
    )
    upper = np.where(
        np.isfinite(feasible.upper), feasible.upper, np.maximum(high, feasible.lower) + wide
    )
    return lower, upper


def _size(bounds: FeasibleSet) -> float:
    sides = np.concatenate([bounds.lower, bounds.upper])
    return 1 + float(np.abs(sides[np.isfinite(sides)]).max(initial=0.0))
