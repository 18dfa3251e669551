"""Where a surface lies against its bounds, which a polynomial keeps at its nodes only."""

import jax
import numpy as np
from jaxtyping import Float

from ..atlas import Survey, best_levels
from ..bezier import BezierSimplex
from ..feasible import FeasibleSet
from ..methods import AbstractGradientMethod, AbstractMethod, GradientDescent, ProximalGradient
from ..precision import double_precision
from ..problems import Names
from ..simplex import from_cube, grid, kronecker, largest_degree_within
from .result import Reason, Result
from .solver_side import point_in_words

MOST_GRID_POINTS = 5000
"""Of the regular grid that a surface is looked at on: steps of 1/98 for three objectives."""

N_INSIDE = 1000
"""Evenly spread points on top, because a grid for many objectives has none inside."""

CLEAR_LEAD, LARGEST_LEAD = {1: 0.005, 2: 0.005}, 0.02
"""A design is not dominated if no point of the surface comes closer to dominating it than this
share of the ranges, by the number of objectives. The second is for three and more, where the points
that a surface is looked at are farther apart."""

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


def keeps_everything(result: Result, n_surveyed: int) -> Result:
    """The result of a run that knew of no bounds and whose surface keeps them: it is the Pareto set
    with them too.

    A Pareto point of the whole space that is feasible is one among feasible points, and whatever
    else is feasible is dominated by one of them.
    """
    looked = (
        f", and none of {n_surveyed} designs looked at all over the box is better"
        if n_surveyed
        else ""
    )
    kept = "it keeps the bounds and constraints, so it is the Pareto set with them too"
    return Result(result.reason, f"{result.message}; {kept}{looked}")


def unfinished(result: Result, why: str) -> Result:
    """The result of a run that was stopped before it could turn to bounds, with what its surface
    violates."""
    return Result(result.reason, f"{result.message}; {why}") if why else result


def leaves(feasible: FeasibleSet, surface: BezierSimplex) -> str:
    """Which bound or constraint a surface violates, in words; empty if none.

    Rounding is allowed for bounds alone: how much of it a constraint may have depends on its units.
    """
    return _violation(feasible, dense_points(surface))


def incomplete(survey: Survey, front: Float[np.ndarray, "n n_objectives"], names: Names) -> str:
    """Which design of a survey of the box no point of a front dominates, in words; empty if there
    is none.

    A surface that keeps all bounds may be the Pareto set of one basin only. Every feasible design
    is dominated by a point of the whole set, or is one.
    """
    if len(survey.f) == 0:
        return ""
    span, wide = np.ptp(front, axis=0), np.ptp(survey.f, axis=0)
    scale = np.maximum(np.where(span > 1e-6 * wide, span, wide), np.finfo(float).tiny)
    lead = best_levels(front / scale, survey.f / scale)[0]
    best = int(np.argmax(lead))
    if lead[best] <= CLEAR_LEAD.get(front.shape[1], LARGEST_LEAD):
        return ""
    return (
        f"x = {point_in_words(survey.x[best], names)} is not dominated by the set that was found"
        " from the start"
    )


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


def cut_off(why: str) -> ValueError:
    """What to say where one surface was asked for, which cannot follow bounds."""
    return ValueError(
        f"bounds and constraints cut off a part of the Pareto set: {why}. A set that follows them"
        " has kinks, which one surface cannot: leave degree and parametrization open for an atlas,"
        " or give bounds with a lifted method"
    )


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
