"""Is a better point known? A search all over the box, whose best points are held against an
answer."""

from contextlib import suppress

import numpy as np
from jaxtyping import Float

from ..answer import BezierAtlas, best_levels
from ..atlas import Settings, survey
from ..bezier import BezierSimplex
from ..evaluations import Evaluations
from ..flows import dense_points
from ..normal import (
    ExploreSchedule,
    Seen,
    Survey,
    deepest_rival,
    evenly_spread,
    probes_around,
    sides_of_boxes,
)
from ..objectives import BudgetSpentError, FeasibleSet, JaxEvaluator, Problem
from .schedule import SCHEDULE

Box = tuple[Float[np.ndarray, " n_variables"], Float[np.ndarray, " n_variables"]]
"""Lower and upper bounds to look between."""


def better_point(
    problem: Problem,
    answer: BezierSimplex | BezierAtlas,
    feasible: FeasibleSet,
    box: Box,
    spent: Evaluations,
    budget: int | None = None,
    seed: int = 0,
) -> tuple[Float[np.ndarray, " n_variables"] | None, int, Evaluations]:
    """A feasible design that is clearly better than an answer, if one is found; how many were
    looked at, and what was spent by then.

    A surface may be the Pareto set of one basin only: it is held against a population that moves
    towards the front. An atlas begins with such a population itself: it is held against evenly
    spread probes that it has never seen, and the bottoms of wells that they hint at.
    """
    if isinstance(answer, BezierSimplex):
        settings = Settings(feasible, box, budget=budget)
        points = np.asarray(feasible.clip(np.asarray(problem.start.control_points, dtype=float)))
        found = survey(problem.flat, answer.n_objectives, settings, points, seed, spent)
        looked = int(found.evaluations.objective - spent.objective)
        best = _not_dominated(problem, answer, found.f) if len(found.f) else None
        return None if best is None else found.x[best], looked, found.evaluations
    probes = _probes(answer, feasible, box)
    evaluator = JaxEvaluator(problem.flat, answer.n_objectives, probes.shape[1], budget, spent)
    rival = None
    with suppress(BudgetSpentError):  # then what was looked at so far must do
        values = evaluator.values(probes)
        rival = _beats_its_answer(answer, probes, values, feasible)
        if rival is None:
            bottom = _bottom(evaluator, answer, probes, values)
            if bottom is not None:
                x = np.asarray(feasible.clip(bottom[None]))
                rival = _beats_its_answer(answer, x, evaluator.values(x), feasible)
    return rival, len(probes), evaluator.evaluations


def _not_dominated(
    problem: Problem, surface: BezierSimplex, f: Float[np.ndarray, "n n_objectives"]
) -> int | None:
    """The row that no point of a surface comes close to dominating, if there is one.

    Every feasible design is dominated by a point of the whole set, or is one.
    """
    x = dense_points(surface)
    # The surface itself costs nothing of the budget: it is the answer.
    front = JaxEvaluator(problem.flat, surface.n_objectives, x.shape[1]).values(x)
    # Of a front that is one value in an objective, the survey's range is the unit.
    span, wide = np.ptp(front, axis=0), np.ptp(f, axis=0)
    scale = np.maximum(
        np.where(span > SCHEDULE.negligible * wide, span, wide), np.finfo(float).tiny
    )
    lead = best_levels(front / scale, f / scale)[0]
    best = int(np.argmax(lead))
    few = surface.n_objectives <= 2
    return best if lead[best] > (SCHEDULE.clear_lead if few else SCHEDULE.largest_lead) else None


def _probes(
    atlas: BezierAtlas, feasible: FeasibleSet, box: Box
) -> Float[np.ndarray, "n n_variables"]:
    """Fresh points all over the box; without bounds, in cubes around the atlas of several sizes."""
    numbers, (low, high) = ExploreSchedule(), box
    if not feasible.unbounded:
        return low + (high - low) * evenly_spread(numbers.probes * len(numbers.boxes), len(low))
    # The box is that many times as wide as what one surface found.
    size = float(np.linalg.norm(high - low)) / (1 + 2 * SCHEDULE.around)
    center = atlas.units.x(atlas.points.z).mean(axis=0)
    sides = sides_of_boxes(size, max(1.0, float(np.linalg.norm(center))), numbers)
    return probes_around(center, sides, numbers.probes)


def _beats_its_answer(
    atlas: BezierAtlas, x: np.ndarray, f: np.ndarray, feasible: FeasibleSet
) -> Float[np.ndarray, " n_variables"] | None:
    """The feasible point that is clearly better than the answer at its place, the best of
    them.

    Every point f is an answer at its place, so that no objective of the answer there may
    exceed that of f.
    """
    usable = np.isfinite(f).all(axis=1) & (feasible.violation(x) <= 0)
    x, f = x[usable], f[usable]
    if len(x) == 0:
        return None
    worse = ((atlas.front(atlas.t(f)) - f) / np.abs(atlas.units.span)).max(axis=1)
    best = int(worse.argmax())
    return x[best] if worse[best] > ExploreSchedule().clear else None


def _bottom(
    evaluator: JaxEvaluator, atlas: BezierAtlas, probes: np.ndarray, values: np.ndarray
) -> Float[np.ndarray, " n_variables"] | None:
    """The bottom of a well that probes hint at, where it is clearly better than points of the
    atlas."""
    x, f = atlas.units.x(atlas.points.z), atlas.units.ideal + atlas.points.f * atlas.units.span
    spread = np.linspace(0, len(x) - 1, SCHEDULE.compared_points).astype(int)
    rows = np.concatenate([f.argmin(axis=0), spread])  # corners come first
    x, f, scale = x[rows], f[rows], np.abs(atlas.units.span)
    usable = np.isfinite(values).all(axis=1, keepdims=True)
    seen = Seen(probes, np.where(usable, values, np.inf) / scale, x, f / scale, scale)
    diameter = float(np.linalg.norm(np.ptp(x, axis=0)))
    return deepest_rival(Survey(evaluator, x[: f.shape[1]], diameter), seen, ExploreSchedule())
