"""Distances between two finite sets of points: GD, IGD, and both ways at once."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from .point_set import as_points

TREE_DIMENSIONS = 12
"""Up to this many coordinates a k-d tree finds neighbors faster than comparing all pairs does;
beyond, it degenerates."""

BLOCK_ENTRIES = 4_000_000
"""Pairs compared at a time, to bound memory (32 MB)."""


def gd(x: ArrayLike, y: ArrayLike) -> float:
    """The generational distance: the mean over x ∈ X of min_{y ∈ Y} |x − y| (Section "GDs and IGDs
    comparison").

    Args:
        x: points of the estimated surface, one a row.
        y: points of the true set, one a row.
    """
    return float(np.mean(nearest_distances(*_pair(x, y))))


def igd(x: ArrayLike, y: ArrayLike) -> float:
    """The inverted generational distance: the mean over y ∈ Y of min_{x ∈ X} |x − y|. Arguments as
    in `gd`."""
    x, y = _pair(x, y)
    return float(np.mean(nearest_distances(y, x)))


class TwoSided(NamedTuple):
    """How far two sets are from each other, the worse of both ways: on average, and at most."""

    mean: float
    max: float


def two_sided(surface_points: ArrayLike, exact_points: ArrayLike) -> TwoSided:
    """The mean max(GD, IGD) and the Hausdorff distance of two finite sets.

    (The first is the averaged Hausdorff distance Δ_1 of Schütze et al., IEEE Trans. Evol. Comput.
    16, 2012.) Both carry the spacing of the samples: the distance between neighbors is the smallest
    error they can see.
    """
    x, y = _pair(surface_points, exact_points, "surface_points", "exact_points")
    there, back = nearest_distances(x, y), nearest_distances(y, x)
    return TwoSided(float(max(there.mean(), back.mean())), float(max(there.max(), back.max())))


def nearest_distances(
    x: Float[np.ndarray, "n L"], y: Float[np.ndarray, "k L"]
) -> Float[np.ndarray, " n"]:
    """min_{y ∈ Y} |x − y| for each x."""
    if x.shape[1] <= TREE_DIMENSIONS:
        from scipy.spatial import KDTree

        return KDTree(y).query(x)[0]
    from scipy.spatial.distance import cdist

    block = max(1, BLOCK_ENTRIES // len(y))
    return np.concatenate([cdist(x[i : i + block], y).min(axis=1) for i in range(0, len(x), block)])


def _pair(
    x: ArrayLike, y: ArrayLike, first: str = "x", second: str = "y"
) -> tuple[np.ndarray, np.ndarray]:
    x = as_points(x, first)
    return x, as_points(y, second, x.shape[1])
