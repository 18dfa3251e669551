"""The domain of a front as a search needs it: a grid to start from, directions to move in, and what bounds it.

That a front lives over one simplex is known here and nowhere else in the search.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

from ..simplex import grid, index_positions, multi_indices, n_controls

LARGEST_GRID = 1500
"""Points of the grid at most: 53 along an edge for M = 3, 20 for M = 4, 12 for M = 5."""

FINEST = 400
"""Steps along an edge of the grid at most, which only M = 2 reaches."""

ZERO = 1e-10
"""A coordinate of t that is smaller is set to 0."""


@dataclass(frozen=True)
class SimplexDomain:
    """Δ^{M−1}, with a regular grid on it."""

    n_objectives: int

    @property
    def grid(self) -> Float[np.ndarray, "n n_objectives"]:
        """The points from which searches start."""
        return grid(self.n_objectives, _resolution(self.n_objectives))

    @property
    def neighbors(self) -> Int[np.ndarray, "n n_neighbors"]:
        """For each point of the grid the positions of its neighbors, and its own where one would lie outside."""
        return _neighbors(self.n_objectives, _resolution(self.n_objectives))

    @cached_property
    def faces(self) -> Float[np.ndarray, "n_faces n_objectives"]:
        """G, such that the domain is the set of all t with G t ≤ 0 that can be reached along `directions`."""
        return -np.eye(self.n_objectives)

    def directions(self, t: Float[np.ndarray, " n_objectives"]) -> Float[np.ndarray, "n_objectives dimension"]:
        """Directions that span the domain: from the largest coordinate of t to each of the others."""
        largest = int(np.argmax(t))
        result = np.delete(np.eye(self.n_objectives), largest, axis=1)
        result[largest] = -1.0
        return result

    def rounded(self, t: Float[np.ndarray, " n_objectives"]) -> Float[np.ndarray, " n_objectives"]:
        """The point of the domain that t is but for rounding."""
        t = np.where(t < ZERO, 0.0, t)
        return t / t.sum()


@cache
def _resolution(n_objectives: int) -> int:
    resolution = 1
    while n_objectives > 1 and resolution < FINEST and n_controls(n_objectives, resolution + 1) <= LARGEST_GRID:
        resolution += 1
    return resolution


@cache
def _neighbors(n_objectives: int, resolution: int) -> Int[np.ndarray, "n n_neighbors"]:
    indices, identity = multi_indices(n_objectives, resolution), np.eye(n_objectives, dtype=int)
    steps = np.array([sign * (one - other) for one, other in combinations(identity, 2) for sign in (1, -1)])
    beside = indices[:, None, :] + steps
    inside = beside.min(axis=2, keepdims=True) >= 0
    return index_positions(np.where(inside, beside, indices[:, None, :]))
