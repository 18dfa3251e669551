"""From questions in the user's units to choices: parts of a front to ask about, scaling, search,
and what is relaxed where bounds cannot be met."""

from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
from jaxtyping import PyTree

from ..answer import (
    SCHEDULE,
    FittedFront,
    Found,
    Program,
    Solution,
    good_starts,
    search,
    solve,
)
from ..bezier import BezierSimplex
from ..quiet import quiet
from ..simplex import check_on_simplex
from .choice import Bounds, Choice, Confidence, Relaxation, bounds_array, turned_bounds

MARGIN, BROKEN = 3e-9, 1e-8
"""Bounds are kept by so much more than asked, in units of each range: what a search and a stand-in
may be off by together. One that is broken by more than the second counts as relaxed."""

SLACK, GAIN = 1e-10, 1e-4
"""Bounds that cannot be met are loosened by their least violation and SLACK. The answer within
those is taken if it lowers the goal by more than GAIN: where one point alone breaks the bounds
least, the slack itself lowers goals by some √SLACK."""

Reach = tuple[np.ndarray, np.ndarray, Found | None]
"""Bounds B f ≤ d in units of ranges that some point of the front obeys; and the point that breaks
the worst of the bounds asked for least, where no point of the grid obeys all."""


@dataclass(frozen=True, eq=False)
class Region:
    """A solution with bounds on its objectives, made by `keep`: every question that takes a
    solution takes a region too, and has the bounds as constraints.

    Attributes:
        solution: the solution.
        bounds: lowest and highest value of each objective, (M, 2), infinite where nothing was said.
    """

    solution: Solution = field(repr=False)
    bounds: np.ndarray

    def contains(self, t: np.ndarray) -> np.ndarray:
        """Whether the objectives at each t obey the bounds."""
        f = np.asarray(self.solution.front(np.asarray(t, dtype=float)))
        return np.asarray(((f >= self.bounds[:, 0]) & (f <= self.bounds[:, 1])).all(axis=-1))


def opened(
    asked: Solution | Region, subject_to: Bounds | None = None
) -> tuple[Solution, np.ndarray]:
    """The solution that is asked, and all bounds on its minimized objectives, (M, 2): a region's
    and this question's.

    Where the two exclude each other, the later one stands and the answer says what was relaxed.
    """
    solution = asked.solution if isinstance(asked, Region) else asked
    if not isinstance(solution, Solution):
        raise TypeError(
            "solution must be a bezierflow.Solution, from minimize or load, got"
            f" {type(solution).__name__}; a surface alone has no objectives to decide by"
        )
    bounds = bounds_array(solution, {} if subject_to is None else subject_to)
    if isinstance(asked, Region):
        low = np.maximum(asked.bounds[:, 0], bounds[:, 0])
        high = np.minimum(asked.bounds[:, 1], bounds[:, 1])
        # An empty interval would leave nothing to search: the bounds of the question win.
        bounds = np.where((low > high)[:, None], bounds, np.stack([low, high], axis=1))
    return solution, turned_bounds(bounds, solution.names.signs)


def keep(solution: Solution | Region, subject_to: Bounds) -> Region:
    """The region of the front where objectives obey bounds; every question takes it in place of a
    solution.

    Keeping again narrows a region further: `keep(keep(solution, {"cost": (None, 3)}), {"weight":
    (None, 5)})`.
    """
    solution, bounds = opened(solution, subject_to)
    return Region(solution, turned_bounds(bounds, solution.names.signs))


def zoom(solution: Solution, vertices: np.ndarray) -> Solution:
    """The solution over a sub-simplex, given by its M corners as rows: the same designs, with t
    stretched over the part.

    Both surfaces are subdivided exactly (de Casteljau); error estimates stay those of the whole
    surface. A corner of the part is no minimizer of an objective any more.
    """
    vertices, M = np.asarray(vertices, dtype=float), solution.n_objectives
    if solution.set.trimmed:
        raise TypeError(
            "zoom takes a part of one simplex, and this Pareto set is an atlas. keep(solution,"
            " subject_to) takes a part for questions; for a finer atlas of the part where f_m <="
            " high, minimize with constraints=[lambda x: f(x)[m] - high]: its set is that part"
        )
    if vertices.shape != (M, M):
        raise ValueError(
            f"vertices must be {M} points of the simplex, one per row, got shape {vertices.shape}"
        )
    check_on_simplex(vertices, M, "vertices")
    # Rows of sum 1 span a simplex exactly if they are linearly independent.
    if abs(np.linalg.det(vertices)) < 1e-12:
        raise ValueError(
            "vertices must span a simplex, got points that lie in a common face or plane"
        )
    front = solution.fitted_front
    return replace(
        solution,
        pareto_set=cast(BezierSimplex, solution.pareto_set).subdivide(vertices),
        known_error=solution.error,
        known_front=FittedFront(front.surface.subdivide(vertices), front.rms, front.max),
        history={},
        origin=None,
        made_by={**solution.made_by, "zoom": vertices.tolist()},
    )


def reach(solution: Solution, bounds: np.ndarray) -> Reach:
    """Bounds on the minimized f, (M, 2), loosened by their least largest violation, in units of
    ranges, if no point of the front obeys them."""
    scale = np.abs(solution.set.scale)
    sides = np.concatenate([-np.eye(len(bounds)), np.eye(len(bounds))]) / scale
    limits = np.concatenate([-bounds[:, 0], bounds[:, 1]]) / np.tile(scale, 2) - MARGIN
    B, d = sides[np.isfinite(limits)], limits[np.isfinite(limits)]
    violation = Program(B, d, B[:0], d[:0])
    # One point of the grid that obeys all bounds proves that they can be met.
    if not len(d) or violation.goals(solution.set.sample_f).min() <= 0:
        return B, d, None
    least = search(solution.set, violation)
    return B, d + max(0.0, least.goal) + SLACK, least


@quiet()
def answer(
    solution: Solution,
    question: str,
    A: np.ndarray,
    c: np.ndarray,
    bounds: np.ndarray,
    within: Reach | None = None,
) -> Choice:
    """The choice that minimizes max_k (A f − c)_k within bounds on f, all in the user's units, but
    f as it is minimized.

    Where no point of the front obeys all bounds, the question is answered with all bounds loosened
    by their least largest violation in units of ranges; `within` is that `reach` where it is known.
    """
    unit, found = best_within(solution, A, c, within or reach(solution, bounds))
    names, scale = solution.names, np.abs(solution.set.scale)
    f = solution.set.values(found.t[None])[0]
    # What the patches of an atlas say of the front is searched: a bound holds up to their error.
    off = solution.set.front_error(solution.error) if solution.set.trimmed else 0.0
    allowed = np.maximum(BROKEN * scale, 2 * off)
    broken = np.column_stack([bounds[:, 0] - f, f - bounds[:, 1]]) > allowed[:, None]
    asked, got = names.signs[:, None] * bounds, names.signs * f
    relaxed = tuple(
        Relaxation(names.objectives[m], float(asked[m, k]), float(got[m]))
        for m, k in np.argwhere(broken)
    )
    return Choice(
        question=question,
        t=found.t,
        x=design_at(solution, found.t),
        f=got,
        value=float((A @ f - c).max()),
        confidence=Confidence.of(solution, found),
        relaxed=relaxed,
        weights=found.weights * unit,
        names=names,
    )


def design_at(solution: Solution, t: np.ndarray) -> PyTree:
    """The design at one t as people see it, without waiting for a compiler."""
    (flat,), raveling = solution.set.designs(t[None]), solution.raveling
    return solution.seen(flat if raveling.is_vector else raveling.unravel(flat))


def best_within(
    solution: Solution, A: np.ndarray, c: np.ndarray, within: Reach
) -> tuple[float, Found]:
    """The best point within bounds: the unit of the goal, its largest coefficient times a range,
    and the point in that unit."""
    (B, d, least), front = within, solution.set
    # Goals of order 1, so that tolerances of the search mean the same for every question.
    unit = float(np.abs(A * front.scale).max())
    program = Program(A / unit, c / unit, B, d)
    if least is None:
        return unit, search(front, program)
    # Bounds that only points between those of the grid obey: start at one of these.
    if least.goal <= SCHEDULE.rounding:
        return unit, search(front, program, np.stack([least.t, *good_starts(front, program)]))
    end = solve(front, program, least.t, SCHEDULE.screening)
    goal, lowest = (float(value) for value in program.goals(front.front(np.stack([least.t, end]))))
    least = least._replace(goal=goal)
    if goal - lowest <= GAIN:
        return unit, least
    found = search(front, program, np.stack([end, least.t]))
    return unit, found if goal - found.goal > GAIN else least
