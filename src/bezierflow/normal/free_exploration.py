"""Is there anything better elsewhere? As `exploration`, with probes made where they are
evaluated."""

from functools import partial

import jax
import numpy as np
from jaxtyping import Array, Float

from ..bezier import BezierSimplex
from .exploration import gains
from .held_out import held_out_points
from .layout import Layout
from .long_evaluator import LongEvaluator
from .schedule import Schedule
from .span import Span


def explore_freely(
    evaluator: LongEvaluator,
    span: Span,
    surface: BezierSimplex,
    diameter: float,
    schedule: Schedule,
) -> tuple[int, Float[Array, " n_variables"] | None]:
    """How many points were looked at in boxes around the surface, and the one that beats it most;
    None if no point does.

    A box's side is such that its points are, on average, half of a multiple of the diameter away:
    in many dimensions those of a box with the diameter for a side are all much farther.
    """
    numbers, size, M = schedule.explore, evaluator.chunk, surface.n_objectives
    each = -(-schedule.free.probes // size) * size
    n = each * len(numbers.boxes)
    if n + numbers.samples // 3 + M > evaluator.left:
        return 0, None
    points = np.asarray(surface.control_points, dtype=float)
    t = np.concatenate(
        [np.eye(M), held_out_points(points, M, surface.degree, numbers.samples // 3, seed=0)]
    )
    on_surface = values_of(evaluator, span, np.asarray(surface(t)))
    span_of_values = np.ptp(on_surface, axis=0)
    scale = np.where(
        span_of_values > 0,
        span_of_values,
        np.maximum(np.abs(on_surface).max(axis=0), np.finfo(float).tiny),
    )
    best, rival = numbers.clear, None
    for number, start in enumerate(range(0, n, size)):
        side = diameter * numbers.boxes[start // each] * np.sqrt(3 / evaluator.n_variables)
        probes = _probes(
            evaluator.layout, span.origin, np.asarray(side, evaluator.layout.dtype), number, size
        )
        values = evaluator.values(probes, size)
        values = np.where(np.isfinite(values).all(axis=1, keepdims=True), values, np.inf)
        corner, dominates = gains(values / scale, on_surface / scale)
        gain = np.maximum(corner, dominates.max(axis=1))
        if gain.max() > best:
            best, rival = float(gain.max()), probes[int(gain.argmax())]
    return n, rival


def values_of(
    evaluator: LongEvaluator, span: Span, x: Float[np.ndarray, "n width"]
) -> Float[np.ndarray, "n n_objectives"]:
    """Values at points given by coordinates."""
    found = [evaluator.values(span.points(x[rows]), n)[:n] for rows, n in evaluator.batches(len(x))]
    return np.concatenate(found)


@partial(jax.jit, static_argnums=(0, 4))
def _probes(layout: Layout, center: Array, side: Array, number: Array, n: int) -> Array:
    key = jax.random.fold_in(jax.random.key(0), number)
    return layout.split(
        center + side * jax.random.uniform(key, (n, *center.shape), center.dtype, -0.5, 0.5)
    )
