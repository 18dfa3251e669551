"""Tests of a surface's shape that need no more evaluations: folds, gaps, dominated parts, weakly
Pareto corners."""

from itertools import combinations

import numpy as np

from ..bezier import design_matrix

CLEAR = 1e-3
"""A determinant (of unit columns) or a gain (over an objective's range) below this decides
nothing."""


EQUAL = 1e-12
MUCH = 0.05
"""A corner is called weakly Pareto optimal where another point is as good to EQUAL and better by
MUCH, both of an objective's range. A high power of a norm is flat, too, but not that flat that far
from its minimizer."""


def fold_fraction(gradients: np.ndarray, tangents: np.ndarray, multipliers: np.ndarray) -> float:
    """The share of inner t where the surface runs backwards, against the majority; 0 where it
    cannot be told.

    The front's tangents ĝ_m · ∂b/∂t_k and its normal w make a matrix whose determinant keeps its
    sign as long as the front is traced without a fold.
    """
    n, n_objectives, n_variables = gradients.shape
    if n == 0 or n_objectives < 2 or n_variables < n_objectives - 1:
        return 0.0
    directions = gradients / np.maximum(np.linalg.norm(gradients, axis=2, keepdims=True), 1e-300)
    columns = np.concatenate([directions @ tangents, multipliers[:, :, None]], axis=2)
    columns = columns / np.maximum(np.linalg.norm(columns, axis=1, keepdims=True), 1e-300)
    determinant = np.linalg.det(columns)
    clear = np.abs(determinant) > CLEAR
    positive = float(np.mean(determinant[clear] > 0)) if clear.any() else 1.0
    return min(positive, 1 - positive)


def largest_gap(control_points: np.ndarray, n_objectives: int, degree: int, n: int = 65) -> float:
    """The largest jump between neighbors on a grid of n points on each edge, over that edge's
    median jump."""
    worst = 1.0
    line = np.linspace(0, 1, n)
    for i, j in combinations(range(n_objectives), 2):
        t = np.zeros((n, n_objectives))
        t[:, i], t[:, j] = 1 - line, line
        jump = np.linalg.norm(np.diff(design_matrix(t, degree) @ control_points, axis=0), axis=1)
        worst = (
            max(worst, float(jump.max() / max(np.median(jump), 1e-300)))
            if jump.max() > 0
            else worst
        )
    return worst


def dominated_rows(values: np.ndarray) -> np.ndarray:
    """Which points another one beats in every objective by more than a thousandth of its range;
    none that is not finite."""
    usable = np.isfinite(values).all(axis=1)
    dominated, values = np.zeros(len(values), dtype=bool), values[usable]
    if len(values):
        margin = CLEAR * np.ptp(values, axis=0) + rounding_of(values)
        dominated[usable] = np.all(values[None, :, :] < values[:, None, :] - margin, axis=2).any(
            axis=1
        )
    return dominated


def weakly_pareto_vertices(values: np.ndarray, n_objectives: int) -> np.ndarray:
    """Which corners m (the first rows) another point equals in f_m and clearly beats in every other
    objective."""
    span = np.ptp(values, axis=0)
    others = ~np.eye(n_objectives, dtype=bool)
    own = values[:n_objectives]
    equal = np.abs(values[None, :, :] - own[:, None, :]) <= EQUAL * span
    better = values[None, :, :] < own[:, None, :] - MUCH * span - rounding_of(values)
    beaten = np.all(np.where(others[:, None, :], better, equal), axis=2)
    return beaten.any(axis=1)


def rounding_of(values: np.ndarray) -> np.ndarray:
    """Differences of an objective below this are rounding."""
    return (
        64
        * np.finfo(float).eps
        * np.abs(np.where(np.isfinite(values), values, 0.0)).max(axis=0, initial=0.0)
    )
