"""From a question in the user's units to a choice: scale it, search from many places, and settle what cannot be met."""

from dataclasses import dataclass

import numpy as np

from .choice import Certainty, Choice, Concession
from .minimax import End, Program, descend
from .refine import refine
from .view import GUIDE_ERROR, View

MOST_STARTS = 3
"""Searches start at the lowest few local minima of the grid. It is fine, so that a lower basin than theirs cannot hide."""

AGREES = 1e-6
"""Ends whose goals differ by less, in units of the goal's range, agree."""

MARGIN = 2e-9
"""Bounds are kept by this much more than asked, in units of each range, so that rounding does not break them."""

FEASIBLE = 1e-8
"""A larger violation, in units of the range, means that a bound is broken."""

PENALTY = 10.0
"""What one range of violation counts against one unit of the goal when starting points are ranked."""


@dataclass(frozen=True)
class Found:
    """The best end of a search, in units of ranges."""

    t: np.ndarray
    goal: float
    violation: float
    weights: np.ndarray
    residual: float
    agreed: int
    starts: int


def answer(view: View, question: str, A: np.ndarray, c: np.ndarray, bounds: np.ndarray) -> Choice:
    """The choice that minimizes max_k (A f − c)_k within bounds on f, all in the user's units.

    Where no point of the front obeys all bounds, the largest violation, in units of each objective's range, is made as small as
    it can be, all bounds are loosened by that much, and the question is asked again.
    """
    rows = A * view.scale
    size = np.abs(rows).max()
    rows, offsets = rows / size, (c - A @ view.origin) / size
    B, d = bound_rows(view, bounds)
    found = _within_bounds(view, Program(rows, offsets, B, d))
    t = found.t
    f = view.values(t[None])[0]
    solution = view.solution
    return Choice(
        question=question,
        t=t,
        x=solution.pareto_set(t),
        f=f,
        value=float((A @ f - c).max()),
        certainty=Certainty.of(solution, found.starts, found.agreed, found.residual),
        gave=_concessions(view, f, bounds),
        weights=found.weights * size / view.scale,
        names=solution.names,
    )


def _within_bounds(view: View, program: Program) -> Found:
    """The best point that obeys the bounds; if there is none, the best of those that break the worst bound least."""
    if program.violation(view.grid_scaled).min() <= FEASIBLE:  # some point of the grid obeys them
        found = search(view, program)
        if found.violation <= FEASIBLE:
            return found
    least = search(view, Program(program.B, program.d, program.B[:0], program.d[:0]))
    if least.goal <= FEASIBLE:
        found = search(view, program, also=least.t)  # there is room between the points of the grid
        if found.violation <= FEASIBLE:
            return found
    loosened = program._replace(d=program.d + max(0.0, least.goal) + 2 * FEASIBLE)
    found = search(view, loosened, also=least.t)
    return found if found.violation <= FEASIBLE else least


def search(view: View, program: Program, also: np.ndarray | None = None) -> Found:
    """The best of several local solutions; never worse than the best point of the grid."""
    goals, violations = program.goal(view.grid_scaled), program.violation(view.grid_scaled)
    rank = goals + PENALTY * violations
    starts = [*local_minima(view, rank), *([] if also is None else [also])]
    ends: list[End] = []
    for start in starts:
        ends.append(descend(view.guide, program, start, FEASIBLE, ends))
    reached, broken = np.array([end.goal for end in ends]), np.array([end.violation for end in ends])
    best = int(np.lexsort([reached, np.where(broken <= FEASIBLE, 0.0, broken)])[0])
    agreed = int(np.sum((np.abs(reached - reached[best]) <= AGREES) & (broken <= broken[best] + FEASIBLE)))
    found = _on_the_front(view, program, ends[best], agreed, len(starts))
    ranked = np.where(violations <= max(FEASIBLE, found.violation), goals, np.inf)
    if np.isfinite(ranked).any() and not ranked.min() >= found.goal - 1e-9:
        k = int(np.argmin(ranked))
        return Found(view.grid_t[k], float(goals[k]), float(violations[k]), found.weights, np.inf, 0, len(starts))
    return found


def _on_the_front(view: View, program: Program, end: End, agreed: int, starts: int) -> Found:
    """The best end, which was found on the guide, brought onto the front itself, to its last digits."""
    attempts = [end] if view.guide is view.scaled else [end, None]
    for attempt in attempts:
        if attempt is None:  # the guide misled: search the front itself, from there
            attempt = end = descend(view.scaled, program, end.t, FEASIBLE)
        refined = refine(view.scaled, program, attempt.t, attempt.binding, attempt.dual)
        if refined is None:
            continue
        t, dual, residual = refined
        values = view.scaled.values(t[None])
        goal, violation = float(program.goal(values)[0]), float(program.violation(values)[0])
        if violation <= max(FEASIBLE, end.violation) and goal <= attempt.goal + 10 * GUIDE_ERROR:
            return Found(t, goal, violation, program.weights(dual), residual, agreed, starts)
    return Found(end.t, end.goal, end.violation, program.weights(end.dual), np.inf, agreed, starts)


def local_minima(view: View, rank: np.ndarray) -> list[np.ndarray]:
    """The lowest few local minima of the grid, where searches start, without those whose basins cannot hold the lowest point.

    The bottom of a basin is not deeper below its lowest grid point than the highest neighbor is above it.
    """
    rank = np.where(np.isfinite(rank), rank, np.inf)
    beside = rank[view.grid_neighbors]
    lowest = np.flatnonzero(rank <= beside.min(axis=1))
    lowest = lowest[2 * rank[lowest] - beside[lowest].max(axis=1) <= rank[lowest].min()]
    return [view.grid_t[k] for k in lowest[np.argsort(rank[lowest], kind="stable")[:MOST_STARTS]]]


def bound_rows(view: View, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bounds as rows B f ≤ d in units of ranges, lowest values first."""
    low, high = ((bounds - view.origin[:, None]) / view.scale[:, None]).T
    d = np.concatenate([-low, high]) - MARGIN
    identity = np.eye(len(bounds))
    given = np.isfinite(d)
    return np.concatenate([-identity, identity])[given], d[given]


def _concessions(view: View, f: np.ndarray, bounds: np.ndarray) -> tuple[Concession, ...]:
    given = []
    for m, name in enumerate(view.solution.names.objectives):
        for limit, excess in ((bounds[m, 0], bounds[m, 0] - f[m]), (bounds[m, 1], f[m] - bounds[m, 1])):
            if excess > FEASIBLE * view.scale[m]:
                given.append(Concession(name, float(limit), float(f[m])))
    return tuple(given)
