"""From questions in the user's units to choices: scale them, search, and settle what cannot be
met."""

import numpy as np

from ..quiet import quiet
from .choice import Certainty, Choice, Concession
from .program import Program, solve
from .search import ROUNDING, SCREENING, Found, good_starts, search
from .view import AnyView

MARGIN, BROKEN = 3e-9, 1e-8
"""Bounds are kept by so much more than asked, in units of each range: what a search and a stand-in
may be off by together. One that is broken by more than the second had to give."""

SLACK, GAIN = 1e-10, 1e-4
"""Bounds that cannot be met are loosened by their least violation and SLACK. The answer within
those is taken if it lowers the goal by more than GAIN: where one point alone breaks the bounds
least, the slack itself lowers goals by some √SLACK."""

Reach = tuple[np.ndarray, np.ndarray, Found | None]
"""Bounds B f ≤ d in units of ranges that some point of the front obeys; and the point that breaks
the worst of the bounds asked for least, where no point of the grid obeys all."""


def reach(view: AnyView, bounds: np.ndarray) -> Reach:
    """Bounds on the minimized f, (M, 2), loosened by their least largest violation if no point of
    the front obeys them."""
    sides = np.concatenate([-np.eye(len(bounds)), np.eye(len(bounds))]) / view.scale
    limits = np.concatenate([-bounds[:, 0], bounds[:, 1]]) / np.tile(view.scale, 2) - MARGIN
    B, d = sides[np.isfinite(limits)], limits[np.isfinite(limits)]
    violation = Program(B, d, B[:0], d[:0])
    if not len(d) or violation.goals(view.terrain.values).min() <= 0:
        return B, d, None
    least = search(view.terrain, violation)
    return B, d + max(0.0, least.goal) + SLACK, least


@quiet()
def answer(
    view: AnyView,
    question: str,
    A: np.ndarray,
    c: np.ndarray,
    bounds: np.ndarray,
    within: Reach | None = None,
) -> Choice:
    """The choice that minimizes max_k (A f − c)_k within bounds on f, all in the user's units, but
    f as it is minimized.

    Where no point of the front obeys all bounds, two programs are solved: the first makes the
    largest violation, in units of each objective's range, as small as it can be; the second is the
    question with all bounds loosened by that much. `within` saves the first where its solution is
    known.
    """
    unit, found = best_within(view, A, c, within or reach(view, bounds))
    x, f = view.point(found.t)
    return Choice(
        question=question,
        t=found.t,
        x=x,
        f=view.solution.names.signs * f,
        value=float((A @ f - c).max()),
        certainty=Certainty.of(view.solution, found.starts, found.agreed, found.residual),
        gave=_concessions(view, f, bounds),
        weights=found.weights * unit,
        names=view.solution.names,
    )


def best_within(view: AnyView, A: np.ndarray, c: np.ndarray, within: Reach) -> tuple[float, Found]:
    """The best point within bounds: the unit of the goal, its largest coefficient times a range,
    and the point in that unit."""
    (B, d, least), terrain, unit = within, view.terrain, float(np.abs(A * view.scale).max())
    program = Program(A / unit, c / unit, B, d)
    if least is None:
        return unit, search(terrain, program)
    if least.goal <= ROUNDING:
        return unit, search(terrain, program, np.stack([least.t, *good_starts(terrain, program)]))
    end = solve(terrain, program, least.t, SCREENING)
    goal, lowest = (
        float(value) for value in program.goals(terrain.front_values(np.stack([least.t, end])))
    )
    least = least._replace(goal=goal)
    if goal - lowest <= GAIN:
        return unit, least
    found = search(terrain, program, np.stack([end, least.t]))
    return unit, found if goal - found.goal > GAIN else least


def _concessions(view: AnyView, f: np.ndarray, bounds: np.ndarray) -> tuple[Concession, ...]:
    given, names = [], view.solution.names
    for name, sign, value, limits, scale in zip(
        names.objectives, names.signs, f, bounds, view.scale, strict=True
    ):
        allowed = max(BROKEN, 2 * view.front_error) * scale
        broken = (limits[0] - value > allowed, value - limits[1] > allowed)
        given += [
            Concession(name, float(sign * limits[k]), float(sign * value))
            for k in (0, 1)
            if broken[k]
        ]
    return tuple(given)
