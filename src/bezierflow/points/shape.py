"""Whether points and the surface through them are one curved simplex: groups apart, lost
dimensions, folds, dominated parts."""

import numpy as np
from jaxtyping import Float

from ..bezier import BezierSimplex, surface_tangents
from ..simplex import grid, largest_degree_within

GROUP = 0.05
"""A smaller share of the points than this is no group of its own but a few outliers."""

WIDE_GAP, USUAL, LONG_GAP = 6.0, 0.9, 0.12
"""Groups are apart if the gap between them is wider than so many of the widest usual gaps between
neighbors, the quantile USUAL of all, and than the last share of the ranges."""

MOST_COMPARED = 1500
"""Of more points than this, so many are looked at for groups: all pairs are compared."""

THIN = 0.05
"""A neighborhood has lost a dimension if it is thinner than this share of its width."""

MOST_FOLDED, MOST_DOMINATED = 0.1, 0.05
"""Shares of a front that may run backwards, or be dominated by other parts, where points are not
exact."""

LOOKED_AT = 2000
"""At about so many t a front is looked at for folds and dominated parts."""

CLEAR = 1e-2
"""A point counts as dominated if another one is better by this share of the range of every
objective. A determinant of unit columns below this has no sign."""


def n_groups(rows: Float[np.ndarray, "n width"]) -> int:
    """How many groups of points lie clearly apart: single linkage, cut at gaps that are wide beside
    the usual ones."""
    from scipy.cluster.hierarchy import linkage

    if len(rows) > MOST_COMPARED:
        rows = rows[np.random.default_rng(0).permutation(len(rows))[:MOST_COMPARED]]
    links = linkage(rows, "single")
    widest = max(WIDE_GAP * float(np.quantile(links[:, 2], USUAL)), LONG_GAP)
    sizes = np.concatenate([np.ones(len(rows)), links[:, 3]])
    apart = links[:, 2] > widest
    smaller = np.minimum(sizes[links[:, 0].astype(int)], sizes[links[:, 1].astype(int)])
    return 1 + int(np.sum(apart & (smaller >= GROUP * len(rows))))


def has_lost_a_dimension(f: Float[np.ndarray, "n n_objectives"]) -> bool:
    """Whether points fill fewer than M − 1 dimensions: the neighbors of most of them lie along a
    thinner set."""
    from scipy.spatial import KDTree

    n_objectives = f.shape[1]
    beside = KDTree(f).query(f, k=min(len(f), 4 * (n_objectives - 1) + 1))[1]
    around = f[np.asarray(beside)]
    widths = np.linalg.svd(around - around.mean(axis=1, keepdims=True), compute_uv=False)
    return bool(
        np.median(widths[:, n_objectives - 2] / np.maximum(widths[:, 0], np.finfo(float).tiny))
        < THIN
    )


def folded_share(front: BezierSimplex) -> float:
    """The share of t where a front runs backwards, against the majority.

    A front has a normal with no negative entry, so that the determinant of its tangents and (1, …,
    1) keeps its sign.
    """
    t = _looked_at(front.n_objectives)
    tangents = surface_tangents(np.asarray(front.control_points), t, front.degree)
    columns = np.concatenate([tangents, np.ones((len(t), front.n_objectives, 1))], axis=2)
    determinant = np.linalg.det(
        columns / np.maximum(np.linalg.norm(columns, axis=1, keepdims=True), np.finfo(float).tiny)
    )
    return min(float(np.mean(determinant > CLEAR)), float(np.mean(determinant < -CLEAR)))


def dominated_share(front: BezierSimplex) -> float:
    """The share of a front, its values in units of ranges, that other parts of it clearly
    dominate."""
    import moocore

    values = np.asarray(front(_looked_at(front.n_objectives)))
    # A point is clearly dominated if it still is after all others have become worse by CLEAR.
    best = values[np.asarray(moocore.is_nondominated(values))] + CLEAR
    return float(np.mean([(best <= value).all(axis=1).any() for value in values]))


def _looked_at(n_objectives: int) -> Float[np.ndarray, "n n_objectives"]:
    """Points inside the simplex."""
    t = grid(n_objectives, largest_degree_within(n_objectives, LOOKED_AT))
    return 0.999 * t + 0.001 / n_objectives
