"""Is a point known that is better than an atlas says? Values at fresh probes, and the bottoms of
wells that they hint at."""

from contextlib import suppress

import numpy as np
from jaxtyping import Float

from ..answer import BezierAtlas
from ..evaluations import Evaluations
from ..normal import (
    ExploreSchedule,
    Seen,
    Survey,
    deepest_rival,
    evenly_spread,
    probes_around,
    sides_of_boxes,
)
from ..objectives import BudgetSpentError, FeasibleSet, FlatObjectives, JaxEvaluator

N_COMPARED = 300
"""Points of the atlas that wells are compared with."""


def probes_of(
    atlas: BezierAtlas, box: tuple[np.ndarray, np.ndarray], size: float | None
) -> Float[np.ndarray, "n n_variables"]:
    """Fresh points all over the box, or in cubes around the atlas whose sides are multiples of a
    size."""
    numbers, (low, high) = ExploreSchedule(), box
    if size is not None:
        center = atlas.units.x(atlas.points.z).mean(axis=0)
        return probes_around(
            center,
            sides_of_boxes(size, max(1.0, float(np.linalg.norm(center))), numbers),
            numbers.probes,
        )
    return low + (high - low) * evenly_spread(numbers.probes * len(numbers.boxes), len(low))


def find_rival(
    objectives: FlatObjectives,
    atlas: BezierAtlas,
    probes: Float[np.ndarray, "n n_variables"],
    feasible: FeasibleSet,
    budget: int | None,
    spent: Evaluations,
) -> tuple[Float[np.ndarray, " n_variables"] | None, Evaluations]:
    """The point that the answers of an atlas are worst against, if they are clearly worse, and what
    was spent by then.

    Every point f is an answer above its chart point, so that no objective of the answer there may
    exceed that of f.
    """
    evaluator = JaxEvaluator(objectives, atlas.n_objectives, probes.shape[1], budget, spent)
    rival = None
    with suppress(BudgetSpentError):
        values = evaluator.values(probes)
        rival = _worst(atlas, probes, values, feasible)
        if rival is None:
            rival = _bottom(evaluator, atlas, probes, values, feasible)
    return rival, evaluator.evaluations


def _worst(
    atlas: BezierAtlas, x: np.ndarray, f: np.ndarray, feasible: FeasibleSet
) -> Float[np.ndarray, " n_variables"] | None:
    """The feasible point that is clearly better than the answer above its chart point, the best of
    them."""
    usable = np.isfinite(f).all(axis=1) & (feasible.violation(x) <= 0)
    x, f = x[usable], f[usable]
    if len(x) == 0:
        return None
    worse = ((atlas.front(atlas.t(f)) - f) / np.abs(atlas.units.span)).max(axis=1)
    best = int(worse.argmax())
    return x[best] if worse[best] > ExploreSchedule().clear else None


def _bottom(
    evaluator: JaxEvaluator,
    atlas: BezierAtlas,
    probes: np.ndarray,
    values: np.ndarray,
    feasible: FeasibleSet,
) -> Float[np.ndarray, " n_variables"] | None:
    """The bottom of a well, clipped to the bounds, where it is clearly better than the answer above
    its chart point."""
    x, f = atlas.units.x(atlas.points.z), atlas.units.ideal + atlas.points.f * atlas.units.span
    rows = np.concatenate([f.argmin(axis=0), np.linspace(0, len(x) - 1, N_COMPARED).astype(int)])
    x, f, scale = x[rows], f[rows], np.abs(atlas.units.span)
    usable = np.isfinite(values).all(axis=1, keepdims=True)
    seen = Seen(probes, np.where(usable, values, np.inf) / scale, x, f / scale, scale)
    diameter = float(np.linalg.norm(np.ptp(x, axis=0)))
    bottom = deepest_rival(Survey(evaluator, x[: f.shape[1]], diameter), seen, ExploreSchedule())
    if bottom is None:
        return None
    bottom = np.asarray(feasible.clip(bottom[None]))
    return _worst(atlas, bottom, evaluator.values(bottom), feasible)
