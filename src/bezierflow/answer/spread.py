"""Points spread evenly over a front: for tables, for other tools, and for people who want a dozen
alternatives."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, PyTree

from ..simplex import grid, largest_degree_within
from .asking import centered
from .atlas import BezierAtlas

CANDIDATES = 20_000
"""Points of the simplex to choose from: about this many."""

LARGEST_SPREAD = 5000
"""More points than this are not chosen: candidates would be too few to choose evenly from."""


SKETCH = 50
"""About so many points make a sketch of a front."""


class Points(NamedTuple):
    """Points of a Pareto set.

    Attributes:
        t: where on the simplex, or on the chart of an atlas, one a row.
        X: the designs, shaped like x0 with an axis in front.
        F: their objective values, one point a row.
    """

    t: Float[np.ndarray, "n n_objectives"]
    X: PyTree
    F: Float[np.ndarray, "n n_objectives"]


def spread_t(
    front: Callable[[np.ndarray], np.ndarray], n_objectives: int, n: int
) -> Float[np.ndarray, "n n_objectives"]:
    """The t of n points that lie evenly on a front, each objective in units of its range; the
    corners come first.

    Two objectives: equal lengths of arc. More: always the point farthest from all that were chosen
    (Gonzalez, "Clustering to minimize the maximum intercluster distance", Theoret. Comput. Sci. 38,
    1985), so that no part of the front is farther from the nearest point than twice what n points
    can do.
    """
    t = _candidates(n_objectives)
    values = front(t)
    span = np.ptp(values, axis=0)
    scaled = values / np.where(span > 0, span, 1.0)
    return (
        _equal_arcs(t, scaled, n)
        if n_objectives == 2
        else t[_farthest(scaled, (t == 1).argmax(axis=0), n)]
    )


def spread_chart(atlas: BezierAtlas, n: int) -> Float[np.ndarray, "n n_objectives"]:
    """The chart points of n points that lie evenly on the front of an atlas, the best of each
    objective first."""
    f = atlas.points.f
    return centered(f[_farthest(f, np.unique(f.argmin(axis=0)), n)])


def coarse_t(n_objectives: int) -> Float[np.ndarray, "n n_objectives"]:
    """Some dozens of points of the simplex, corners among them: enough for a sketch of a front."""
    return grid(n_objectives, min(SKETCH - 1, max(1, largest_degree_within(n_objectives, SKETCH))))


@lru_cache(maxsize=8)
def _candidates(n_objectives: int) -> Float[np.ndarray, "n_candidates n_objectives"]:
    """Points of the simplex to choose from; half of them crowd towards its faces, where fronts may
    be steep."""
    if n_objectives == 2:
        return grid(2, CANDIDATES)
    regular = grid(n_objectives, largest_degree_within(n_objectives, CANDIDATES // 2))
    crowded = regular**2 / np.sum(regular**2, axis=1, keepdims=True)
    return np.concatenate([regular, crowded])


def _equal_arcs(t: np.ndarray, values: np.ndarray, n: int) -> Float[np.ndarray, "n 2"]:
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(values, axis=0), axis=1))])
    first = np.interp(np.linspace(0, length[-1], n), length, t[:, 0])
    return np.column_stack([first, 1 - first])


def _farthest(values: np.ndarray, start: Int[np.ndarray, " m"], n: int) -> Int[np.ndarray, " n"]:
    """Rows to start with, and then always the row farthest from all that were chosen."""
    chosen = list(start)
    away = np.min([np.linalg.norm(values - values[row], axis=1) for row in chosen], axis=0)
    while len(chosen) < n:
        chosen.append(int(np.argmax(away)))
        away = np.minimum(away, np.linalg.norm(values - values[chosen[-1]], axis=1))
    return np.array(chosen)
