"""Errors in decision space, and quality of fronts in objective space, all objectives minimized."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike

from ..arguments import read_doubles, shown

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


LEVELS = {2: (313, 1250, 5000), 3: (128, 512, 2048), 4: (64, 256, 1024), 5: (50, 200, 800)}
"""Points of a whole front, by the number of objectives; each time four times as many. For more
objectives those of five, since exact volumes take long."""

GAP = 0.01
"""Neighbors on a front of two objectives that are so far apart, in units of its ranges, are ends of
two pieces; 1,250 points of one piece are closer."""

POLYGON_SHARE, ROUNDING = 0.01, 1e-12
"""The least error that the volume under a polygon states: as a share of what the polygon adds to
its points, since a front has finitely many points to choose from, and of the volume."""

ERROR_SHARE = 0.1
"""The least error that an extrapolated volume states, as a share of the last correction."""


def nondominated(
    f: Float[np.ndarray, "n n_objectives"], keep_equal: bool = False
) -> Bool[np.ndarray, " n"]:
    """Which rows no other row dominates. Rows that are not finite are not among them.

    Args:
        f: objective values, one point per row.
        keep_equal: of rows that are equal, whether to keep all or the first only.
    """
    import moocore  # here and below: an import that only its users pay

    finite = np.isfinite(f).all(axis=1)
    keep = np.zeros(len(f), dtype=bool)
    # moocore calls equal points weakly dominated by each other
    keep[finite] = moocore.is_nondominated(f[finite], keep_weakly=keep_equal)
    return keep


def farthest_points(
    x: Float[np.ndarray, "n width"], n: int, first: Int[np.ndarray, " m"] | None = None
) -> Int[np.ndarray, " chosen"]:
    """Rows far from each other: `first`, then always the row farthest from all that were chosen.

    n rows, or fewer where all others coincide with a chosen one.

    Args:
        x: points, one per row.
        n: how many.
        first: rows to begin with; the one farthest from the mean if not given.
    """
    outermost = int(np.argmax(np.linalg.norm(x - x.mean(axis=0), axis=1)))
    chosen = [outermost] if first is None else [int(row) for row in first]
    away = np.min([np.linalg.norm(x - x[row], axis=1) for row in chosen], axis=0)
    while len(chosen) < n and away.max() > 0:
        chosen.append(int(np.argmax(away)))
        away = np.minimum(away, np.linalg.norm(x - x[chosen[-1]], axis=1))
    return np.array(chosen)


def igd_plus(front: ArrayLike, reference: ArrayLike) -> float:
    """IGD+: the mean over the reference front of the least distance by which the front falls short.

    (Ishibuchi et al., "Modified distance calculation in generational distance and inverted
    generational distance", EMO 2015.) Only objectives in which a point is worse count, so it never
    rewards a dominated front.

    Args:
        front: objective values found, one point per row.
        reference: objective values of the true front, one point per row.
    """
    front = as_points(front, "front")
    import moocore

    return float(moocore.igd_plus(front, ref=as_points(reference, "reference", front.shape[1])))


class Volume(float):
    """A volume, a number like any other, that states its own error.

    Attributes:
        error: how far the number may be from the volume of the whole front; 0 for a finite front.
    """

    error: float

    def __new__(cls, value: float, error: float) -> "Volume":
        """The number with its error."""
        volume = super().__new__(cls, value)
        volume.error = error
        return volume

    def __repr__(self) -> str:
        return f"{float(self):.6g} ± {self.error:.1g}" if self.error else repr(float(self))


def hypervolume(front: Any, reference: ArrayLike) -> Volume:
    """The volume of what the front dominates, up to the reference point.

    Points beyond that in any objective count for nothing. Of finitely many points the volume is
    exact, as `moocore` computes it. Of a whole front of two objectives it is that of the polygon
    through n points. For more objectives, what n points miss is nearly proportional to
    n^(−1/(M−1)), so that the volume is extrapolated from three numbers of points. `.error` of the
    result says how far off that may be: the difference that four times as many points make, or,
    where it is extrapolated, the difference between the last two extrapolations, or a tenth of the
    last correction.

    Args:
        front: objective values found, one point per row, or a `Solution`.
        reference: one point, worse than the front in each objective.
    """
    if not hasattr(front, "spread"):
        return Volume(_volume(as_points(front, "front"), reference), 0.0)
    n_objectives = np.asarray(reference, dtype=float).size
    levels = LEVELS.get(n_objectives, LEVELS[5])
    # −1 for an objective that is maximized
    signs = np.asarray(getattr(getattr(front, "names", None), "signs", 1.0))
    if np.size(signs) in (1, n_objectives):
        reference = signs * np.asarray(reference, dtype=float)
    fronts = [signs * np.asarray(front.spread(n).F) for n in levels]
    volumes = [_volume(points, reference) for points in fronts]
    if n_objectives == 2:
        added = [_between(points, np.asarray(reference)) for points in fronts]
        before, limit = (volumes[k] + added[k] for k in (1, 2))
        return Volume(limit, max(abs(limit - before), POLYGON_SHARE * added[2], ROUNDING * limit))
    # The limit of v(n) = v − c n^(−1/d), from the last two levels and from the two before.
    gap = np.array(levels, dtype=float) ** (-1 / max(n_objectives - 1, 1))
    before, limit = (
        volumes[k + 1] + (volumes[k + 1] - volumes[k]) * gap[k + 1] / (gap[k] - gap[k + 1])
        for k in (0, 1)
    )
    return Volume(limit, max(abs(limit - before), ERROR_SHARE * abs(limit - volumes[2])))


def _between(front: Float[np.ndarray, "n 2"], reference: Float[np.ndarray, " 2"]) -> float:
    """What a polygon through points sorted along a front adds to their own volume: half of the
    rectangle between neighbors. Across a gap between two pieces it adds nothing."""
    steps = np.diff(np.minimum(front, reference), axis=0)
    away = np.linalg.norm(
        np.diff(front, axis=0) / np.maximum(np.ptp(front, axis=0), 1e-300), axis=1
    )
    rectangles = np.maximum(-steps[:, 0] * steps[:, 1], 0)
    return float(np.sum(rectangles[away < GAP]) / 2)


def _volume(front: Float[np.ndarray, "n n_objectives"], reference: ArrayLike) -> float:
    point = read_doubles(reference, "reference", "one point of objective values")
    if point.shape != front.shape[1:] or not np.isfinite(point).all():
        raise ValueError(
            f"reference must be one finite point of {front.shape[1]} objectives, got"
            f" {shown(reference)}"
        )
    import moocore

    return float(moocore.hypervolume(front, ref=point))
