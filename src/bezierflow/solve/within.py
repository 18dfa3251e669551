"""One surface within bounds: whether it is the whole answer, in words."""

import numpy as np
from jaxtyping import Float

from ..answer import Result, best_levels
from ..atlas import Survey
from ..names import Names
from ..objectives import point_in_words

CLEAR_LEAD, LARGEST_LEAD = {1: 0.005, 2: 0.005}, 0.02
"""A design is not dominated if no point of the surface comes closer to dominating it than this
share of the ranges, by the number of objectives. The second is for three and more, where the points
that a surface is looked at are farther apart."""


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


def cut_off(why: str) -> ValueError:
    """What to say where one surface was asked for, which cannot follow bounds."""
    return ValueError(
        f"bounds and constraints cut off a part of the Pareto set: {why}. A set that follows them"
        " has kinks, which one surface cannot: leave degree and parametrization open for an atlas,"
        " or give bounds with a lifted method"
    )
