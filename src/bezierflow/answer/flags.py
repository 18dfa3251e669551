"""Flags: what a run or an estimate found wrong, each with advice a person can act on."""

from collections.abc import Iterable
from enum import Enum

from ..runs import kind


@kind("answer.flag/1")
class Flag(Enum):
    """A warning about a surface. The value is the advice. In the order of cause: a later one may
    follow from those before it."""

    BUDGET_SPENT = (
        "the budget of evaluations was spent: the best surface so far was returned; give a larger"
        " budget"
    )
    NOT_CONVERGED = (
        "an objective's minimizer was not found (it may be unbounded below or very flat): check the"
        " objectives, or another x0"
    )
    FEW_VARIABLES = (
        "there are fewer variables than objectives minus one: the set cannot be a simplex of that"
        " dimension, and inner t say little; trust the edges and corners, or drop objectives"
    )
    MINIMIZER_NOT_UNIQUE = (
        "an objective has more than one minimizer, so the corners of the Pareto set are not single"
        " points: ties were broken by the other objectives; add a small regularization to make the"
        " minimizer unique"
    )
    WEAKLY_PARETO_VERTEX = (
        "a corner is only weakly Pareto optimal: another point is as good there and better"
        " elsewhere; regularize that objective"
    )
    BETTER_ELSEWHERE = (
        "points far from the surface beat it: it is a local Pareto set, and the global one lies"
        " elsewhere or in several pieces; start from the point named here, or give bounds if that"
        " point makes no sense"
    )
    WRONG_BRANCH = (
        "the surface crosses points that are no local optimum: a path probably ended at another"
        " local minimizer; try another x0"
    )
    NOT_SIMPLICIAL = (
        "the surface folds, or parts of it are dominated: the Pareto set is probably no single"
        " curved simplex (disconnected or oscillating); do not trust the surface as a whole"
    )
    CORNERS_MISSED = (
        "a corner of the surface is far from the minimizer of its objective: the run has not"
        " arrived there; give it more iterations or longer steps"
    )
    NOT_COVERED = (
        "a part of the chart has no certified answer: pieces of the Pareto set may be missing or"
        " wrong there; raise the budget, narrow the bounds, or trust only where pareto_set.holds(a)"
    )
    POINTS_APART = (
        "the points fall into groups apart from each other: the Pareto set has several pieces, or"
        " points are missing; what the surface says between the groups is a guess"
    )
    POINTS_DEGENERATE = (
        "the points fill fewer dimensions than there are objectives minus one: some objectives"
        " agree; trust the surface near the points alone, or drop an objective"
    )
    POINTS_MISSED = (
        "held-out points lie far from the surface: the points scatter, are too few, or are no"
        " single curved simplex; do not trust the surface between the points"
    )
    FRONT_ROUGH = (
        "objective values in the file are a fit that misses them by more than 1 % of their range"
        " somewhere: load it with objectives=f for exact ones"
    )
    ESTIMATE_INVALID = (
        "the distance could not be estimated at some points: take the error with caution"
    )
    NOT_ESTIMATED = (
        "the distance to the Pareto set was not estimated, because that takes Hessians which are"
        " too large or which the objectives do not have; solution.estimate_error() tries it all the"
        " same"
    )
    BOUNDS_IGNORED = (
        "the estimate does not know the bounds, and the surface reaches them: it is the distance to"
        " the Pareto set without bounds"
    )
    NOT_AT_TOLERANCE = (
        "the surface is less exact than tol asks for, which is all that is known to be wrong:"
        " accept error.bound, or raise max_degree or the budget"
    )


SYMPTOMS = (Flag.CORNERS_MISSED, Flag.ESTIMATE_INVALID, Flag.NOT_AT_TOLERANCE)
"""Flags that say nothing new where another one is raised."""


def by_cause(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """The flags to tell a person, causes first; mere symptoms only where there is no cause, and of
    those the first."""
    order = list(Flag)
    found = sorted(set(flags), key=order.index)
    causes = [flag for flag in found if flag not in SYMPTOMS]
    return tuple(causes or found[:1])
