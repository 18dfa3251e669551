"""Errors in decision space: the MSE against the exact Pareto map, and distances of finite sets."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from ..arguments import read_doubles

TREE_DIMENSIONS = 12
"""Up to this many coordinates a k-d tree finds neighbors faster than comparing all pairs does;
beyond, it degenerates."""

BLOCK_ENTRIES = 4_000_000
"""Pairs compared at a time, to bound memory (32 MB)."""

BLOCK_POINTS = 100_000
"""Values of t evaluated at a time, likewise."""


def as_points(
    points: ArrayLike, argument: str, width: int | None = None
) -> Float[np.ndarray, "n width"]:
    """A finite set of points as a float64 matrix, or a ValueError that names the argument."""
    array = read_doubles(points, argument, "a matrix of numbers with one point per row")
    if array.ndim != 2 or len(array) == 0:
        raise ValueError(
            f"{argument} must be a matrix with one point per row, at least one, got shape"
            f" {array.shape}"
        )
    if width is not None and array.shape[1] != width:
        raise ValueError(
            f"{argument} must have {width} columns like the other points, got shape {array.shape}"
        )
    if not np.isfinite(array).all():
        row = int(np.argmax(~np.isfinite(array).all(axis=1)))
        raise ValueError(f"{argument} must be finite, but row {row} is {array[row].tolist()}")
    return array


def mse(surface: Callable[[np.ndarray], ArrayLike], problem: object, t: ArrayLike) -> float:
    """The mean over n of |b(t_n) − x*(t_n)|² (Section "Numerical Experiments").

    Args:
        surface: b, a `BezierSimplex` into R^L or any function over batches of t.
        problem: an object with `pareto_map(t)`, the minimizer of the t-weighted sum.
        t: points of the simplex, one per row.
    """
    pareto_map = getattr(problem, "pareto_map", None)
    if pareto_map is None:
        raise TypeError(
            f"problem must have a pareto_map(t) to compare with, and {type(problem).__name__} has"
            " none; compare sets instead, with gd, igd or the problem's distance(x)"
        )
    t = as_points(t, "t")
    total = 0.0
    for start in range(0, len(t), BLOCK_POINTS):
        block = t[start : start + BLOCK_POINTS]
        found, exact = (np.asarray(b(block), dtype=float) for b in (surface, pareto_map))
        if found.shape != exact.shape:
            raise ValueError(
                f"surface must return shape {exact.shape} like the problem's pareto_map, got"
                f" {found.shape}"
            )
        total += float(np.sum((found - exact) ** 2))
    return total / len(t)


def gd(x: ArrayLike, y: ArrayLike) -> float:
    """GD: the mean over x ∈ X of min_{y ∈ Y} |x − y| (Section "GDs and IGDs comparison").

    Args:
        x: points of the estimated surface, one per row.
        y: points of the true set, one per row.
    """
    return float(np.mean(_nearest_distances(*_pair(x, y))))


def igd(x: ArrayLike, y: ArrayLike) -> float:
    """IGD: the mean over y ∈ Y of min_{x ∈ X} |x − y|. Arguments as in `gd`."""
    x, y = _pair(x, y)
    return float(np.mean(_nearest_distances(y, x)))


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
    there, back = _nearest_distances(x, y), _nearest_distances(y, x)
    return TwoSided(float(max(there.mean(), back.mean())), float(max(there.max(), back.max())))


def _pair(
    x: ArrayLike, y: ArrayLike, first: str = "x", second: str = "y"
) -> tuple[np.ndarray, np.ndarray]:
    x = as_points(x, first)
    return x, as_points(y, second, x.shape[1])


def _nearest_distances(
    x: Float[np.ndarray, "n L"], y: Float[np.ndarray, "k L"]
) -> Float[np.ndarray, " n"]:
    """min_{y ∈ Y} |x − y| for each x."""
    if x.shape[1] <= TREE_DIMENSIONS:
        from scipy.spatial import KDTree

        return KDTree(y).query(x)[0]
    from scipy.spatial.distance import cdist

    block = max(1, BLOCK_ENTRIES // len(y))
    return np.concatenate([cdist(x[i : i + block], y).min(axis=1) for i in range(0, len(x), block)])
