"""Folds: where a surface turns back on itself. Seen from its control points alone, without any
evaluation."""

from functools import lru_cache
from itertools import permutations

import numpy as np

from ..bezier import surface_tangents
from ..simplex import grid, index_positions, largest_degree_within, multi_indices

GRID_SIZE = 1300
"""About how many t a surface is looked at: 50 on an edge for M = 3."""

FEW = 64
"""Up to so many variables control points are used as they are."""


@lru_cache(maxsize=16)
def _fine_grid(n_objectives: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of the simplex that crowd towards its sides (a surface mostly folds there), and pairs
    of neighbors among them."""
    resolution = int(np.clip(largest_degree_within(n_objectives, GRID_SIZE), 2, 200))
    squares = grid(n_objectives, resolution) ** 2
    indices = multi_indices(n_objectives, resolution)
    pairs = []
    for i, j in permutations(range(n_objectives), 2):
        rows = np.flatnonzero(indices[:, j] > 0)
        step = np.eye(n_objectives, dtype=np.int64)[i] - np.eye(n_objectives, dtype=np.int64)[j]
        pairs.append(np.stack([rows, index_positions(indices[rows] + step)], axis=1))
    return squares / squares.sum(axis=1, keepdims=True), np.concatenate(pairs)


def fold_points(
    control_points: np.ndarray, n_objectives: int, degree: int, most: int
) -> np.ndarray:
    """At most so many t next to where the surface turns back: none for a surface without folds.

    Between neighbors the tangent frames J must not change sides: det(J_iᵀ J_j), the product of
    their volumes and of the cosine between them, is positive unless a fold lies between.
    """
    if n_objectives < 2 or control_points.shape[1] < n_objectives - 1:
        return np.zeros((0, n_objectives))
    t, pairs = _fine_grid(n_objectives)
    if control_points.shape[1] > max(FEW, len(control_points)):
        # Only inner products count, and those are kept by coordinates in the span of the control
        # points.
        control_points = np.asarray(np.linalg.qr(control_points.T, mode="r")).T
    frames = surface_tangents(control_points, t, degree)
    turned = np.linalg.det(np.swapaxes(frames[pairs[:, 0]], 1, 2) @ frames[pairs[:, 1]]) < 0
    rows = np.unique(pairs[turned])
    rows = rows[t[rows].max(axis=1) < 1]
    if len(rows) > most:
        rows = rows[np.linspace(0, len(rows) - 1, most).astype(int)]
    return t[rows]
