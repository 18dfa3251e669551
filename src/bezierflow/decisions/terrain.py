"""What is searched: a front over its domain, its values on a grid, and how one moves on the domain;
here over one simplex.

What the domain of a front is, is known here and in `atlas_terrain`, and nowhere else in the search.
"""

from dataclasses import dataclass
from functools import cache
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from ..simplex import grid, largest_degree_within, neighbor_positions
from .front_map import FrontMap

LARGEST_GRID, FINEST = 1500, 400
"""Points of the grid at most, 53 along an edge for M = 3 and 12 for M = 5; and its steps along an
edge, for M = 2."""

ZERO = 1e-10
"""Coordinates of t below this are set to 0."""


@runtime_checkable
class Around(Protocol):
    """The domain of a front around one of its points, in coordinates y that are 0 there."""

    @property
    def dimension(self) -> int:
        """How many coordinates there are."""
        ...

    def t(self, y: Float[np.ndarray, " dimension"]) -> Float[np.ndarray, " n_objectives"]:
        """Where on the domain y is."""
        ...

    def look(
        self, y: Float[np.ndarray, " dimension"]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The values, and what is at most 0 on the domain, each with its slopes by y."""
        ...


@runtime_checkable
class AbstractTerrain(Protocol):
    """A front over its domain, with its values on a grid of it: what is searched."""

    @property
    def t(self) -> Float[np.ndarray, "n n_objectives"]:
        """The grid."""
        ...

    @property
    def values(self) -> Float[np.ndarray, "n n_values"]:
        """The front on the grid."""
        ...

    def front_values(
        self, t: Float[np.ndarray, "n n_objectives"]
    ) -> Float[np.ndarray, "n n_values"]:
        """The front elsewhere."""
        ...

    def local_minima(self, rank: Float[np.ndarray, " n"]) -> Int[np.ndarray, " n_minima"]:
        """Local minima of a rank on the grid, lowest first, that may lie in the lowest basin."""
        ...

    def around(self, t: Float[np.ndarray, " n_objectives"]) -> Around:
        """The domain around a point."""
        ...

    def rounded(self, t: Float[np.ndarray, " n_objectives"]) -> Float[np.ndarray, " n_objectives"]:
        """The point of the domain that t is but for rounding."""
        ...

    def goes_on(self, around: Around, t: Float[np.ndarray, " n_objectives"]) -> bool:
        """Whether the domain goes on beyond what `around` knows, at t."""
        ...


class AroundSimplex:
    """The simplex around a point: t = start + directions y, from the largest coordinate of the
    start to each of the others."""

    def __init__(self, front: FrontMap, start: Float[np.ndarray, " n_objectives"]):
        largest = int(np.argmax(start))
        self.front, self.start, self.faces = front, start, -np.eye(len(start))
        self.directions = np.delete(np.eye(len(start)), largest, axis=1)
        self.directions[largest] = -1.0

    @property
    def dimension(self) -> int:
        """M − 1."""
        return self.directions.shape[1]

    def t(self, y: Float[np.ndarray, " dimension"]) -> Float[np.ndarray, " n_objectives"]:
        """The point of the simplex."""
        return self.start + self.directions @ y

    def look(
        self, y: Float[np.ndarray, " dimension"]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The front and the faces −t ≤ 0."""
        t = self.t(y)
        (values,), (slopes,) = self.front.slopes(t[None])
        return values, slopes.T @ self.directions, self.faces @ t, self.faces @ self.directions


@dataclass(frozen=True, eq=False)
class Terrain:
    """A front over Δ^{M−1} with its values on the grid t = `search_grid(M)`."""

    front: FrontMap
    t: Float[np.ndarray, "n n_objectives"]
    values: Float[np.ndarray, "n n_values"]

    def local_minima(self, rank: Float[np.ndarray, " n"]) -> Int[np.ndarray, " n_minima"]:
        """The local minima of a rank on the grid, lowest first, that may lie in the lowest basin.

        The bottom of a basin is taken to be no deeper below its lowest grid point than the highest
        neighbor is above it.
        """
        n_objectives = self.t.shape[1]
        beside = rank[neighbor_positions(n_objectives, _resolution(n_objectives))]
        minima = np.flatnonzero(
            (rank <= beside.min(axis=1)) & (2 * rank - beside.max(axis=1) <= rank.min())
        )
        return minima[np.argsort(rank[minima])]

    def front_values(
        self, t: Float[np.ndarray, "n n_objectives"]
    ) -> Float[np.ndarray, "n n_values"]:
        """The front."""
        return self.front.values(t)

    def around(self, t: Float[np.ndarray, " n_objectives"]) -> AroundSimplex:
        """The simplex around a point."""
        return AroundSimplex(self.front, t)

    def goes_on(self, around: Around, t: Float[np.ndarray, " n_objectives"]) -> bool:
        """No: there is one simplex."""
        return False

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
