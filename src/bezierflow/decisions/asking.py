"""From questions in the user's units to choices: scale them, search, and settle what cannot be met."""

import numpy as np

from .basins import is_strict
from .choice import Certainty, Choice, Concession
from .minimax import FEASIBLE, Programs
from .searching import Found, search
from .view import View

MARGIN = 3e-9
"""Bounds are kept by this much more than asked, in units of each range: what a search and a stand-in may be off by together."""


def answer(view: View, question: str, A: np.ndarray, c: np.ndarray, bounds: np.ndarray) -> Choice:
    """The choice that minimizes max_k (A f − c)_k within bounds on f, all in the user's units.

    Where no point of the front obeys all bounds, the largest violation, in units of each objective's range, is made as small as
    it can be, and among the points that break no bound by more than that the question is answered.
    """
    return answers(view, [question], A[None], c[None], bounds)[0]


def answers(view: View, questions: list[str], A: np.ndarray, c: np.ndarray, bounds: np.ndarray) -> list[Choice]:
    """Several such questions within the same bounds, with as many goals each: A is (n, n_goals, M) and c is (n, n_goals)."""
    programs, sizes = scaled_programs(view, A, c, bounds)
    solution, found = view.solution, _within_bounds(view, programs)
    t = np.stack([one.end.t for one in found])
    choices = []
    for k, (x, f) in enumerate(zip(*view.designs_and_values(t), strict=True)):
        choice = Choice(
            question=questions[k],
            t=t[k],
            x=view.unravel(x),
            f=f,
            value=float((A[k] @ f - c[k]).max()),
            certainty=Certainty.of(solution, found[k].starts, found[k].agreed, found[k].end.residual),
            gave=_concessions(view, f, bounds),
            weights=found[k].weights * sizes[k] / view.scale,
            names=solution.names,
        )
        choices.append(choice)
    return choices


def scaled_programs(view: View, A: np.ndarray, c: np.ndarray, bounds: np.ndarray) -> tuple[Programs, np.ndarray]:
    """Questions in units of ranges, each divided by the size of its largest coefficient; and those sizes."""
    rows = A * view.scale
    sizes = np.abs(rows).max(axis=(1, 2))
    return Programs(rows / sizes[:, None, None], (c - A @ view.origin) / sizes[:, None], *_bound_rows(view, bounds)), sizes


def _within_bounds(view: View, programs: Programs) -> list[Found]:
    """The best points that obey the bounds; if there are none, the best of those that break the worst bound least."""
    terrain = view.terrain
    if programs.violation(terrain.values).min() <= FEASIBLE:  # some point of the grid obeys them
        found = search(terrain, programs)
        if all(one.end.violation <= FEASIBLE for one in found):
            return found
    B, d = programs.B, programs.d
    breaking = Programs(B[None], d[None], B[:0], d[:0])
    least = search(terrain, breaking)[0]
    if least.end.goal <= FEASIBLE:
        found = search(terrain, programs, also=least.end.t)  # there is room between the points of the grid
        if all(one.end.violation <= FEASIBLE for one in found):
            return found
    elif is_strict(terrain.true, breaking, 0, least.end):
        return [least] * len(programs.c)
    loosened = programs._replace(d=d + max(0.0, least.end.goal) + 2 * FEASIBLE)
    return [one if one.end.violation <= FEASIBLE else least for one in search(terrain, loosened, also=least.end.t)]


def _bound_rows(view: View, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
