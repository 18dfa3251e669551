"""Is a better point known? A search all over the box, whose best points are held against an
answer."""

from contextlib import suppress

import numpy as np
from jaxtyping import Float

from ..answer import BezierAtlas, best_levels, centered
from ..atlas import Settings, survey
from ..bezier import BezierSimplex
from ..evaluations import Evaluations
from ..flows import dense_points
from ..normal import (
    Incumbents,
    Matrices,
    Schedule,
    better_point,
    probes_around,
    probes_within,
)
from ..objectives import BudgetSpentError, FeasibleSet, JaxEvaluator, Problem
from .schedule import SCHEDULE

Box = tuple[Float[np.ndarray, " n_variables"], Float[np.ndarray, " n_variables"]]
"""Lower and upper bounds to look between."""


Found = tuple[Float[np.ndarray, " n_variables"] | None, int, Evaluations]
"""A feasible design that is clearly better than an answer, None if none was found; how many were
looked at; and what was spent by then."""


def better_than_surface(
    problem: Problem,
    surface: BezierSimplex,
    feasible: FeasibleSet,
    box: Box,
    spent: Evaluations,
    budget: int | None = None,
    seed: int = 0,
) -> Found:
    """A design of a population that moves towards the front which no point of the surface comes
    close to dominating: a surface may be the Pareto set of one basin only.

    Every feasible design is dominated by a point of the whole set, or is one.
    """
    settings = Settings(feasible, box, budget=budget)
    points = np.asarray(feasible.clip(np.asarray(problem.start.control_points, dtype=float)))
    found = survey(problem.flat, surface.n_objectives, settings, points, seed, spent)
    looked = int(found.evaluations.objective - spent.objective)
    if not len(found.f):
        return None, looked, found.evaluations
    x = dense_points(surface)
    # The surface itself costs nothing of the budget: it is the answer.
    front = JaxEvaluator(problem.flat, surface.n_objectives, x.shape[1]).values(x)
    # Of a front that is one value in an objective, the survey's range is the unit.
    span, wide = np.ptp(front, axis=0), np.ptp(found.f, axis=0)
    scale = np.where(span > SCHEDULE.negligible * wide, span, wide)
    scale = np.maximum(scale, np.finfo(float).tiny)
    lead = best_levels(front / scale, found.f / scale)[0]
    best, few = int(np.argmax(lead)), surface.n_objectives <= 2
    clear = lead[best] > (SCHEDULE.clear_lead if few else SCHEDULE.largest_lead)
    return found.x[best] if clear else None, looked, found.evaluations


def better_than_atlas(
    problem: Problem,
    atlas: BezierAtlas,
    feasible: FeasibleSet,
    box: Box,
    spent: Evaluations,
    budget: int | None = None,
) -> Found:
    """A feasible point among fresh probes, or at the bottom of a well that they hint at, that is
    clearly better than the answer at its own t. An atlas begins with a population itself, but has
    never seen these.

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
            worse[usable] = worse_answers(atlas, f[usable])
        return worse

    found = None
    with suppress(BudgetSpentError):
        boxes = probes.reshape(-1, Schedule().probes, L)
        values = evaluator.values(probes).reshape(*boxes.shape[:2], M)
        found = better_point(curvature, boxes, values, incumbents, gain, L, feasible.clip)
    return found, len(probes), evaluator.evaluations


def worse_answers(
    atlas: BezierAtlas, f: Float[np.ndarray, "n n_objectives"]
) -> Float[np.ndarray, " n"]:
    """By how much answers at the chart points of objective values are worse than these, in units of
    ranges."""
    values = (f - atlas.units.ideal) / atlas.units.span
    a = centered(values)
    worse = (atlas.mapped(a).f - values).max(axis=1)
    # Answers are solved for only where patches leave a doubt.
    doubt = np.flatnonzero(worse > 0) if atlas.polisher is not None else np.zeros(0, dtype=int)
    if len(doubt):
        worse[doubt] = (atlas.answers(a[doubt]).f - values[doubt]).max(axis=1)
    return worse
