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
from ..normal import Incumbents, Matrices, Schedule, probes_around, probes_within
from ..normal import better_point as normal_better_point
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
    return _challenger(problem, answer, feasible, box, spent, budget)


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


def _challenger(
    problem: Problem,
    atlas: BezierAtlas,
    feasible: FeasibleSet,
    box: Box,
    spent: Evaluations,
    budget: int | None,
) -> tuple[Float[np.ndarray, " n_variables"] | None, int, Evaluations]:
    """The feasible point among fresh probes, or at the bottom of a well that they hint at, that is
    clearly better than the answer at its own t.

    Every point f is an answer at t(f), so that no objective of the answer there may exceed that of
    f.
    """
    low, high = box
    x, f = atlas.units.x(atlas.points.z), atlas.units.ideal + atlas.points.f * atlas.units.span
    if feasible.unbounded:
        # The box is that many times as wide as what one surface found.
        size = float(np.linalg.norm(high - low)) / (1 + 2 * SCHEDULE.around)
        probes = probes_around(x.mean(axis=0), size)
    else:
        probes = probes_within(low, high)
    spread = np.linspace(0, len(x) - 1, SCHEDULE.compared_points).astype(int)
    rows = np.concatenate([f.argmin(axis=0), spread])
    incumbents = Incumbents(x[rows], f[rows], np.abs(atlas.units.span))
    L, M = probes.shape[1], atlas.n_objectives
    evaluator = JaxEvaluator(problem.flat, M, L, budget, spent)
    diameter = float(np.linalg.norm(np.ptp(incumbents.x, axis=0)))
    curvature = Matrices(evaluator, incumbents.x[:M], diameter)

    def gain(x: np.ndarray, f: np.ndarray) -> np.ndarray:
        usable = np.isfinite(f).all(axis=1) & (feasible.violation(x) <= 0)
        worse = np.full(len(x), -np.inf)
        if usable.any():
            answers = atlas.front(atlas.t(f[usable]))
            worse[usable] = ((answers - f[usable]) / incumbents.units).max(axis=1)
        return worse

    found = None
    with suppress(BudgetSpentError):
        boxes = (
            part.reshape(-1, Schedule().probes, part.shape[1])
            for part in (probes, evaluator.values(probes))
        )
        found = normal_better_point(curvature, *boxes, incumbents, gain, L, feasible.clip)
    return found, len(probes), evaluator.evaluations
