"""Cells between nodes of a mesh: which nodes they lie between, which of them touch, and the
polynomials through their nodes."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from ..bezier import design_matrix
from .schedule import SCHEDULE


class Cells(NamedTuple):
    """Simplices between nodes, on the chart of some of the objectives.

    Attributes:
        objectives: which of them count.
        nodes: the numbers of each one's nodes.
        miss: what is expected of its prediction; −1 in a gap.
        size: its longest edge on the chart.
        across: the node beyond the side that is opposite to each node; −1 where there is none.
        covered: whether arcs hold it.
    """

    objectives: Bool[np.ndarray, " n_objectives"]
    nodes: Int[np.ndarray, "n n_corners"]
    miss: Float[np.ndarray, " n"]
    size: Float[np.ndarray, " n"]
    across: Int[np.ndarray, "n n_corners"]
    covered: Bool[np.ndarray, " n"]

    def take(self, rows: np.ndarray) -> "Cells":
        """Some of them."""
        return Cells(self.objectives, *(part[rows] for part in self[1:]))


def chart_number(objectives: Bool[np.ndarray, " n_objectives"]) -> int:
    """Of a chart: the sum of the powers of 2 of its objectives."""
    return int(objectives @ 2 ** np.arange(len(objectives)))


def lowest(
    c: Float[np.ndarray, "n dimension"], level: Float[np.ndarray, " n"]
) -> Int[np.ndarray, " k"]:
    """Which of some points to lay cells between: of those at one place the one of the least level.

    On the chart of all objectives points of a front are apart. On that of some of them those are
    at one place that differ in others alone, and a polynomial goes through one value there.
    """
    if c.shape[1] > 1:  # Delaunay's triangulation takes one of them by itself
        return np.arange(len(c))
    place = c.sum(axis=1)  # 0 for a single objective
    order = np.lexsort((level, place))
    group = np.cumsum(np.diff(place[order], prepend=-np.inf) > SCHEDULE.same)
    order = order[np.lexsort((level[order], group))]
    return np.sort(order[np.unique(np.sort(group), return_index=True)[1]])


def triangulated(
    a: Float[np.ndarray, "n dimension"],
) -> tuple[Int[np.ndarray, "k n_corners"], Int[np.ndarray, "k n_corners"]]:
    """Cells between points, and the cell opposite to each corner of each, −1 for none."""
    n, d = a.shape
    nothing = np.zeros((0, d + 1), dtype=int)
    if n < d + 1:
        return nothing, nothing
    if d == 0:
        return np.zeros((1, 1), dtype=int), np.full((1, 1), -1)
    if d == 1:
        order = np.argsort(a[:, 0])
        beside = np.full((n - 1, 2), -1)
        beside[:-1, 0], beside[1:, 1] = np.arange(1, n - 1), np.arange(n - 2)
        return np.stack([order[:-1], order[1:]], axis=1), beside
    from scipy.spatial import Delaunay, QhullError  # half a second that only atlases need

    try:
        made = Delaunay(a)
    except QhullError:  # all on one line
        return nothing, nothing
    nodes, beside = np.asarray(made.simplices, dtype=int), np.asarray(made.neighbors, dtype=int)
    # Where the front is thinner than the chart, cells between nodes of it may be flat.
    spread = np.linalg.svd(a[nodes[:, 1:]] - a[nodes[:, :1]], compute_uv=False)
    kept = spread[:, -1] > SCHEDULE.flattest_cell * spread[:, 0]
    number = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
    return nodes[kept], number[beside[kept]]


def connected(nodes: Int[np.ndarray, "n n_corners"], keys: list[bytes]) -> list[int]:
    """A number for each cell: the same for those that share a side and have the same key."""
    owner = np.arange(len(nodes))
    sides: dict[tuple[bytes, tuple[int, ...]], int] = {}
    for k, (cell, key) in enumerate(zip(nodes.tolist(), keys, strict=True)):
        for i in range(len(cell)):
            side = key, tuple(sorted(cell[:i] + cell[i + 1 :]))
            other = sides.setdefault(side, k)
            owner[owner == owner[k]] = owner[other]
    return owner.tolist()


def hull(
    c: Float[np.ndarray, "n dimension"],
) -> tuple[Int[np.ndarray, "k dimension"], Float[np.ndarray, "k dimension"]]:
    """The sides of the convex hull of points, and their outward normals."""
    from scipy.spatial import ConvexHull, QhullError

    d = c.shape[1]
    try:
        hull = ConvexHull(c)
    except (QhullError, ValueError):
        return np.zeros((0, d), dtype=int), np.zeros((0, d))
    return np.asarray(hull.simplices, dtype=int), np.asarray(hull.equations)[:, :-1]


def constant(
    c: np.ndarray, y: np.ndarray, own: np.ndarray, across: np.ndarray
) -> tuple[int, np.ndarray]:
    """A single node."""
    return 0, y[own]


def cubic(
    c: np.ndarray, y: np.ndarray, own: np.ndarray, across: np.ndarray
) -> tuple[int, np.ndarray]:
    """A polynomial through an interval's nodes and one more on either side, as far as there are
    any."""
    part = np.concatenate([own, across[across >= 0]])
    t = (c[part, 0] - c[own[0], 0]) / (c[own[1], 0] - c[own[0], 0])
    D = len(part) - 1
    return D, np.linalg.solve(design_matrix(np.stack([1 - t, t], axis=1), D), y[part])


def quadratic(
    c: np.ndarray, y: np.ndarray, own: np.ndarray, across: np.ndarray
) -> tuple[int, np.ndarray]:
    """A quadratic through the nodes of a simplex and of its neighbors; linear where these are too
    few, or too near to a conic section."""
    M = len(own)
    others = across[across >= 0]
    linear = np.linalg.solve(design_matrix(np.eye(M), 1), y[own])
    sides = c[own[1:]] - c[own[0]]
    if len(others) < M * (M - 1) // 2 or np.linalg.cond(sides) > 1e8:
        return 1, linear
    part = np.concatenate([own, others])
    rest = np.linalg.solve(sides.T, (c[part] - c[own[0]]).T).T
    t = np.concatenate([1 - rest.sum(axis=1, keepdims=True), rest], axis=1)
    basis = design_matrix(t, 2)
    if np.linalg.cond(basis) > 1e3:
        return 1, linear
    return 2, np.linalg.lstsq(basis, y[part], rcond=None)[0]
