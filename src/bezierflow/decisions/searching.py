"""The search behind every question: from the best places of a grid to the lowest point, several questions at once."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .basins import CLOSE, Starts, leads_to
from .descent import TOL, descend
from .minimax import FEASIBLE, End, Programs
from .questions import only
from .terrain import PENALTY, Terrain

AGREES = 1e-6
"""Ends whose goals differ by less, in units of the goal's range, agree."""

NEAR = 0.6
"""Starts this many steps of the grid from an end, or fewer, lead there: the grid tells no basins apart that are closer."""

TRUST = 1.0
"""Where the guide found first-order conditions to hold and on the true map a residual is larger, its slopes are of no use."""

GUIDE_ERROR = 1e-4
"""A guide this close to the true map on the grid, in units of its range, is good enough to search on before refining."""


class Found(NamedTuple):
    """The best end of a search, how many of its starts led there or to one as good, and what each value counts for there."""

    end: End
    agreed: int
    starts: int
    weights: np.ndarray


def least_goals(terrain: Terrain, programs: Programs) -> Float[np.ndarray, " n_programs"]:
    """The least goal of each program, of a single goal each.

    A point close to the best one will do: an error of t counts with its square only in the Lagrangian.
    """
    goals = programs.goals(terrain.values)
    if len(programs.d):
        ends = [found.end for found in search(terrain, programs, tol=CLOSE)]
        goals = np.where(programs.violation(terrain.values) <= FEASIBLE, goals, np.inf)
    else:
        which, where = terrain.starts(goals)
        ends = [_best(some, CLOSE) for some in _ends(terrain, programs, which, where, CLOSE)]
        if terrain.guide is not terrain.true:
            ends = _on_the_true_map(terrain, programs, ends, CLOSE)
    return np.minimum([end.height if end.residual <= CLOSE else end.goal for end in ends], goals.min(axis=1))


def search(terrain: Terrain, programs: Programs, also: np.ndarray | None = None, tol: float = TOL) -> list[Found]:
    """For each program the best of several local solutions; never worse than the best point of the grid.

    Args:
        terrain: what is searched.
        programs: the questions.
        also: a place to start from beside those of the grid.
        tol: the residual with which a search has arrived.
    """
    goals, violations, bounded = programs.goals(terrain.values), programs.violation(terrain.values), len(programs.d) > 0
    which, where = terrain.starts(goals + PENALTY * violations if bounded else goals)
    if bounded:  # the best point that is allowed comes first, where there is one
        allowed = violations <= FEASIBLE
        first = np.where(allowed, goals, np.inf).argmin(axis=1) if allowed.any() else np.full(len(goals), -1)
        some, others = np.flatnonzero(first >= 0), where != first[which]
        which, where = np.concatenate([some, which[others]]), np.concatenate([first[some], where[others]])
    guided = terrain.guide is not terrain.true
    rough = max(tol, CLOSE) if guided else tol  # a guide is not worth a fine search
    reached = _ends(terrain, programs, which, where, rough, also)
    ends = [_best(some, rough) for some in reached]
    if guided:
        ends = _on_the_true_map(terrain, programs, ends, tol)
    broken = np.array([[max(FEASIBLE, end.violation)] for end in ends])
    ranked = np.where(violations <= broken, goals, np.inf) if bounded else goals
    weights = programs.weights(np.arange(len(ends)), np.stack([end.dual for end in ends]))
    found = []
    for number, (k, end, some) in enumerate(zip(ranked.argmin(axis=1).tolist(), ends, reached, strict=True)):
        agreed = _agreed(some, rough)
        if ranked[number, k] < end.goal - 4 * tol:  # by more than a search that arrived is off
            agreed, end = (
                0,
                end._replace(t=terrain.t[k], goal=float(ranked[number, k]), violation=float(violations[k]), residual=np.inf),
            )
        found.append(Found(end, agreed, len(some), weights[number]))
    return found


def _ends(
    terrain: Terrain, programs: Programs, which: np.ndarray, where: np.ndarray, tol: float, also: np.ndarray | None = None
) -> list[list[End]]:
    """The local solutions of each question: first from its best start, to which most of the others lead."""
    front, first = terrain.guide, np.unique(which, return_index=True)[1]
    best = where[first]
    there = descend(front, programs, which[first], terrain.t[best], tol=tol, expansions=terrain.expansions(best))
    ends = [[end] for end in there]
    others = _others(terrain, programs, which, where, first, [end for (end,) in ends], also)
    if not len(others.which):
        return ends
    leads = leads_to(front, programs, others, [ends[number][0] for number in others.which], tol, NEAR * terrain.spacing)
    for number in others.which[leads]:
        ends[number].append(ends[number][0])
    left = only(others, ~leads)
    known, seen = [ends[number][0] for number in left.which], terrain.expansions(left.where) if also is None else None
    there = descend(front, programs, left.which, left.t, tol=tol, known=known, expansions=seen)
    for number, end in zip(left.which, there, strict=True):
        ends[number].append(end)
    return ends


def _others(
    terrain: Terrain,
    programs: Programs,
    which: np.ndarray,
    where: np.ndarray,
    first: np.ndarray,
    ends: list[End],
    also: np.ndarray | None,
) -> Starts:
    """Further starts: all but the first ones, and neighbors of those where the Lagrangian leaves room for something better."""
    more = np.ones(len(which), dtype=bool)
    more[first] = False
    which, where, best = which[more], where[more], where[first]
    if programs.n_rows > 1:
        beside, goals = terrain.neighbors[best], np.array([[end.goal] for end in ends])
        duals, values = np.stack([end.dual for end in ends]), terrain.guide_values(beside)
        room = programs.lagrangians(np.arange(len(ends)), duals, values) < goals - AGREES
        number, place = np.nonzero(room & (beside != best[:, None]))
        which, where = np.concatenate([which, number]), np.concatenate([where, beside[number, place]])
    others = Starts(which, where, terrain.t[where], terrain.guide_values(where))
    if also is None:
        return others
    n, there = len(ends), np.tile(also, (len(ends), 1))
    beside_them = Starts(np.arange(n), np.full(n, -1), there, terrain.guide.values(there))
    return Starts(*map(np.concatenate, zip(others, beside_them, strict=True)))


def _best(ends: list[End], tol: float) -> End:
    """The lowest end among those that break bounds least; a search to this tolerance may break them as much."""
    return min(ends, key=lambda end: (end.violation if end.violation > max(FEASIBLE, tol) else 0.0, end.goal))


def _agreed(ends: list[End], tol: float) -> int:
    """How many of the ends are as good as the best one, to the tolerance of the search."""
    best, same, feasible = _best(ends, tol), max(AGREES, tol), max(FEASIBLE, tol)
    return sum(abs(end.goal - best.goal) <= same and end.violation <= best.violation + feasible for end in ends)


def _on_the_true_map(terrain: Terrain, programs: Programs, ends: list[End], tol: float) -> list[End]:
    """What was found on the guide, brought onto the true map; at a kink, where that has no slopes, with its values alone."""
    t, duals = (np.stack(parts) for parts in zip(*((end.t, end.dual) for end in ends), strict=True))
    return descend(terrain.true, programs, np.arange(len(ends)), t, duals, tol, trust=TRUST)
