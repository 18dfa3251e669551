"""From questions in the user's units to choices: scale them, search, and settle what cannot be met."""

from typing import NamedTuple

import numpy as np

from .choice import Certainty, Choice, Concession
from .program import Program
from .search import KEPT, Found, search
from .view import View

MARGIN = 3e-9
"""Bounds are kept by this much more than asked, in units of each range: what a search and a stand-in may be off by together."""

BROKEN = 1e-8
"""A bound that is broken by more, in units of the range, had to give."""

SLACK = 1e-10
"""Bounds that cannot be met are loosened by this much more than they must be, so that the loosened program has a solution."""

UNIQUE = 1e-4
"""Where no other point breaks the bounds as little, the slack alone lets the goal fall by some √SLACK; a smaller gain is none."""


class Reach(NamedTuple):
    """Bounds as rows B f ≤ d in units of ranges, loosened as far as they must be.

    Attributes:
        B: the rows.
        d: the limits.
        least: the point that breaks the worst of the original bounds least, where no point of the grid obeys them.
        loosened: whether the bounds had to be.
    """

    B: np.ndarray
    d: np.ndarray
    least: Found | None = None
    loosened: bool = False


def reach(view: View, bounds: np.ndarray) -> Reach:
    """The bounds, if a point of the front obeys them; else loosened by the least largest violation, in units of ranges."""
    B, d = _bound_rows(view, bounds)
    nothing = Program(B, d, B[:0], d[:0])
    if not len(d) or nothing.goals(view.terrain.values).min() <= 0:
        return Reach(B, d)
    least = search(view.terrain, nothing)
    return Reach(B, d + max(0.0, least.goal) + SLACK, least, least.goal > KEPT)


def answer(view: View, question: str, A: np.ndarray, c: np.ndarray, bounds: np.ndarray) -> Choice:
    """The choice that minimizes max_k (A f − c)_k within bounds on f, all in the user's units.

    Where no point of the front obeys all bounds, two programs are solved: the first makes the largest violation, in units of
    each objective's range, as small as it can be; the second is the question with all bounds loosened by that much.
    """
    return answer_within(view, question, A, c, bounds, reach(view, bounds))


def answer_within(view: View, question: str, A: np.ndarray, c: np.ndarray, bounds: np.ndarray, reached: Reach) -> Choice:
    """The same where it is known how far the bounds have to be loosened."""
    size, found = best_within(view, A, c, reached)
    (x,), (f,) = view.designs_and_values(found.t[None])
    return Choice(
        question=question,
        t=found.t,
        x=view.unravel(x),
        f=f,
        value=float((A @ f - c).max()),
        certainty=Certainty.of(view.solution, found.starts, found.agreed, found.residual),
        gave=_concessions(view, f, bounds),
        weights=found.weights * size / view.scale,
        names=view.solution.names,
    )


def best_within(view: View, A: np.ndarray, c: np.ndarray, reached: Reach) -> tuple[float, Found]:
    """The best point within bounds for a goal in the user's units: the unit of the goal, and what was found in that unit."""
    rows = A * view.scale
    size = float(np.abs(rows).max())
    program = Program(rows / size, (c - A @ view.origin) / size, reached.B, reached.d)
    least = reached.least
    if least is None:
        return size, search(view.terrain, program)
    if not reached.loosened:
        return size, search(view.terrain, program, np.concatenate([least.t[None], view.terrain.starts(program)]))
    found = search(view.terrain, program, least.t[None])
    goal = float(program.goals(view.terrain.front.values(least.t[None]))[0])
    return size, found if goal - found.goal > UNIQUE else least._replace(goal=goal)


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
            if excess > BROKEN * view.scale[m]:
                given.append(Concession(name, float(limit), float(f[m])))
    return tuple(given)
