"""The search behind every question: from the best places of a grid to the lowest point, several questions at once."""

from dataclasses import dataclass

import numpy as np

from .front_map import AbstractFrontMap
from .minimax import PENALTIES, End, Programs, descend, first_guess
from .refine import refine
from .terrain import PENALTY, Terrain

AGREES = 1e-6
"""Ends whose goals differ by less, in units of the goal's range, agree."""

FEASIBLE = 1e-8
"""A larger violation, in units of the range, means that a bound is broken."""

GUESSES = 3
"""So many times Newton's method is tried, each time one step of the descent farther on, before the descent goes all the way."""

WAY = np.linspace(0, 1, 9)
"""Places on the straight way from a start to an end at which it is looked whether that leads downhill."""

GUIDE_ERROR = 1e-4
"""A guide this close to the true map on the grid, in units of its range, is good enough to search on before refining."""


@dataclass(frozen=True)
class Found:
    """The best end of a search, in units of ranges."""

    t: np.ndarray
    goal: float
    violation: float
    weights: np.ndarray
    residual: float
    strict: bool
    agreed: int
    starts: int


def least_goals(terrain: Terrain, programs: Programs) -> np.ndarray:
    """The least goal of each program, of a single goal each.

    Without bounds the guide's best point will do: at a minimum, an error of t counts with its square only.
    """
    if len(programs.d) or terrain.guide is terrain.true:
        return np.array([found.goal for found in search(terrain, programs)])
    values = terrain.true.values(np.stack([found.t for found in search(terrain, programs, guide_will_do=True)]))
    return (programs.A[:, 0] * values).sum(axis=1) - programs.c[:, 0]


def search(terrain: Terrain, programs: Programs, also: np.ndarray | None = None, guide_will_do: bool = False) -> list[Found]:
    """For each program the best of several local solutions; never worse than the best point of the grid.

    Args:
        terrain: what is searched.
        programs: the questions.
        also: a place to start from beside those of the grid.
        guide_will_do: whether the guide's answers are good enough.
    """
    goals, violations = programs.goals(terrain.values), programs.violation(terrain.values)
    which, where = terrain.starts(programs, goals + PENALTY * violations)
    starts = terrain.t[where]
    if also is not None:
        which = np.concatenate([which, np.arange(len(goals))])
        starts = np.concatenate([starts, np.tile(also, (len(goals), 1))])
    ends = local_solutions(terrain.guide, programs, which, starts)
    chosen = [_best([end for end, p in zip(ends, which, strict=True) if p == number]) for number in range(len(goals))]
    found = _on_the_true_map(terrain, programs, chosen, guide_will_do)
    for number, one in enumerate(found):
        ranked = np.where(violations <= max(FEASIBLE, one.violation), goals[number], np.inf)
        k = int(np.argmin(ranked))
        if np.isfinite(ranked[k]) and not ranked[k] >= one.goal - 1e-9:
            weights, agreed = one.weights, 0
            found[number] = Found(
                terrain.t[k], float(ranked[k]), float(violations[k]), weights, np.inf, False, agreed, one.starts
            )
    return found


def local_solutions(front: AbstractFrontMap, programs: Programs, which: np.ndarray, starts: np.ndarray) -> list[End]:
    """A local solution from each start: by Newton's method, all at once, where it goes well, and else by a careful descent.

    A start from which it goes straight downhill to where another one ended is no basin of its own, and ends there too.
    """
    ends: list[End | None] = [None] * len(starts)
    t, at_most, left = starts.copy(), np.full(len(starts), np.inf), np.arange(len(starts))
    for _ in range(GUESSES):
        t[left], binding, duals, merit = first_guess(front, programs, which[left], t[left])
        at_most[left] = np.minimum(at_most[left], merit)
        for k, end in zip(left, refine(front, programs, which[left], t[left], binding, duals), strict=True):
            if end is not None and end.violation <= FEASIBLE and end.goal <= at_most[k] + FEASIBLE:
                ends[k] = end
        _join(front, programs, which, starts, ends)
        left = np.array([k for k in left if ends[k] is None], dtype=int)
        if not len(left):
            break
    for k in left:
        known = [end for end, number in zip(ends, which, strict=True) if end is not None and number == which[k]]
        ends[k] = descend(front, programs.one(which[k]), starts[k], FEASIBLE, known)
    return ends  # type: ignore[return-value]


def _join(front: AbstractFrontMap, programs: Programs, which: np.ndarray, starts: np.ndarray, ends: list[End | None]) -> None:
    """Gives every start without an end that of another start of its question, where the way there leads downhill throughout."""
    known: dict[int, End] = {}
    for end, number in zip(ends, which.tolist(), strict=True):
        if end is not None and (number not in known or end.goal < known[number].goal):
            known[number] = end
    lost = [k for k, end in enumerate(ends) if end is None and which[k] in known]
    if not lost:
        return
    goals = np.stack([known[which[k]].t for k in lost])
    ways = starts[lost][:, None] + WAY[:, None] * (goals - starts[lost])[:, None]
    values = front.values(ways.reshape(-1, starts.shape[1])).reshape(len(lost), len(WAY), -1)
    for k, along in zip(lost, values, strict=True):
        program = programs.one(which[k])
        merit = program.goal(along) + PENALTIES[0] * program.violation(along)
        if (np.diff(merit) <= FEASIBLE).all():
            ends[k] = known[which[k]]


def _best(ends: list[End]) -> tuple[End, int, int]:
    """The best of the ends, how many agree with it, and how many there are."""
    reached, broken = np.array([end.goal for end in ends]), np.array([end.violation for end in ends])
    best = int(np.lexsort([reached, np.where(broken <= FEASIBLE, 0.0, broken)])[0])
    agreed = int(np.sum((np.abs(reached - reached[best]) <= AGREES) & (broken <= broken[best] + FEASIBLE)))
    return ends[best], agreed, len(ends)


def _on_the_true_map(
    terrain: Terrain, programs: Programs, chosen: list[tuple[End, int, int]], guide_will_do: bool
) -> list[Found]:
    """The best ends, which were found on the guide, brought onto the true map, to their last digits."""
    ends = [end for end, _, _ in chosen]
    misses = terrain.guide is not terrain.true or not all(np.isfinite(end.residual) for end in ends)
    if misses and not guide_will_do:
        refined = _refined(terrain, programs, np.arange(len(ends)), ends)
        for number, better in enumerate(refined):
            if better is None and terrain.guide is not terrain.true:  # the guide misled: search the true map, from there
                ends[number] = descend(terrain.true, programs.one(number), ends[number].t, FEASIBLE)
                better = _refined(terrain, programs, np.array([number]), [ends[number]])[0]
            ends[number] = better or ends[number]
    return [
        Found(end.t, end.goal, end.violation, programs.one(k).weights(end.dual), end.residual, end.strict, agreed, starts)
        for k, (end, (_, agreed, starts)) in enumerate(zip(ends, chosen, strict=True))
    ]


def _refined(terrain: Terrain, programs: Programs, which: np.ndarray, ends: list[End]) -> list[End | None]:
    """The ends after Newton's method on the true map; None where that led elsewhere."""
    t, binding, duals = (np.stack(parts) for parts in zip(*((end.t, end.binding, end.dual) for end in ends), strict=True))
    return [
        better
        if better and better.violation <= max(FEASIBLE, end.violation) and better.goal <= end.goal + 10 * GUIDE_ERROR
        else None
        for better, end in zip(refine(terrain.true, programs, which, t, binding, duals), ends, strict=True)
    ]
