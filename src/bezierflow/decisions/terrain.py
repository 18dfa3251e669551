"""What is searched: a front over the simplex, its values on a grid, and how one moves on the simplex.

That the domain of a front is one simplex is known here and nowhere else in the search.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Float, Int

from ..simplex import grid, largest_degree_within, neighbor_positions
from .front_map import FrontMap

LARGEST_GRID, FINEST = 1500, 400
"""Points of the grid at most, 53 along an edge for M = 3 and 12 for M = 5; and its steps along an edge, for M = 2."""

ZERO = 1e-10
"""Coordinates of t below this are set to 0."""


@dataclass(frozen=True, eq=False)
class Terrain:
    """A front over Δ^{M−1} with its values on the grid t = `search_grid(M)`."""

    front: FrontMap
    t: Float[np.ndarray, "n n_objectives"]
    values: Float[np.ndarray, "n n_values"]

    def local_minima(self, rank: Float[np.ndarray, " n"]) -> Int[np.ndarray, " n_minima"]:
        """The local minima of a rank on the grid, lowest first, that may lie in the lowest basin.

        The bottom of a basin is taken to be no deeper below its lowest grid point than the highest neighbor is above it.
        """
        n_objectives = self.t.shape[1]
        beside = rank[neighbor_positions(n_objectives, _resolution(n_objectives))]
        minima = np.flatnonzero((rank <= beside.min(axis=1)) & (2 * rank - beside.max(axis=1) <= rank.min()))
        return minima[np.argsort(rank[minima])]

    @property
    def faces(self) -> Float[np.ndarray, "n_faces n_objectives"]:
        """G: the domain is where G t ≤ 0, among all points that `directions` lead to from one of its points."""
        return -np.eye(self.t.shape[1])

    def directions(self, t: Float[np.ndarray, " n_objectives"]) -> Float[np.ndarray, "n_objectives dimension"]:
        """Directions that span the domain: from the largest coordinate of t to each of the others."""
        largest = int(np.argmax(t))
        result = np.delete(np.eye(len(t)), largest, axis=1)
        result[largest] = -1.0
        return result

    def rounded(self, t: Float[np.ndarray, " n_objectives"]) -> Float[np.ndarray, " n_objectives"]:
        """The point of the domain that t is but for rounding."""
        t = np.where(t < ZERO, 0.0, t)
        return t / t.sum()


def search_grid(n_objectives: int) -> Float[np.ndarray, "n n_objectives"]:
    """The regular grid from which searches start."""
    return grid(n_objectives, _resolution(n_objectives))


@cache
def _resolution(n_objectives: int) -> int:
    return min(largest_degree_within(n_objectives, LARGEST_GRID), FINEST)
