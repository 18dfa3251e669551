"""What is searched: a map over the simplex, a stand-in for it that is fast, and its values on a grid to start from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from .front_map import AbstractFrontMap, PolynomialMap

MOST_STARTS = 6
"""Searches start at the lowest few local minima of the grid. It is fine, so that a lower basin than theirs cannot hide."""

PENALTY = 10.0
"""What one range of violation counts against one unit of the goal when starting points are ranked."""

FEW = 100
"""So few points are compared with all their neighbors at once."""


@dataclass(frozen=True, eq=False)
class Terrain:
    """A map, a guide through it, and its values on a grid.

    Attributes:
        true: the map; its values are what is answered.
        guide: a map close to it that is faster, or the same. It decides where a search looks and never what is answered.
        t: the grid.
        values: those of the true map on the grid.
        neighbors: for each point of the grid the positions of its neighbors, of which the first two are on opposite sides.
    """

    true: AbstractFrontMap
    guide: AbstractFrontMap
    t: Float[np.ndarray, "n n_objectives"]
    values: Float[np.ndarray, "n n_values"]
    neighbors: Int[np.ndarray, "n n_neighbors"]

    @cached_property
    def _expansions(self) -> Float[np.ndarray, "n n_values width"] | None:
        return self.guide.expansions(self.t) if isinstance(self.guide, PolynomialMap) else None

    def expansions(self, where: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n n_values width"] | None:
        """Those of the guide at points of the grid, if they are known: some are asked for by every question."""
        return None if self._expansions is None else self._expansions[where]

    def guide_values(self, where: Int[np.ndarray, "*n"]) -> Float[np.ndarray, "*n n_values"]:
        """Those of the guide at points of the grid."""
        if self.guide is self.true or not where.size:
            return self.values[where]
        if self._expansions is not None:
            return self._expansions[where, :, 0]
        return self.guide.values(self.t[where.ravel()]).reshape(*where.shape, -1)

    @cached_property
    def spacing(self) -> float:
        """How far apart neighbors are."""
        return float(np.abs(self.t[self.neighbors[0]] - self.t[0]).max())

    @cached_property
    def shifts(self) -> list[Int[np.ndarray, " n"]]:
        """How far away in the grid's order the first neighbor of every point is, the second, and so on."""
        return list(np.ascontiguousarray((self.neighbors - np.arange(len(self.neighbors))[:, None]).T))

    def starts(self, rank: Float[np.ndarray, "n_programs n"]) -> tuple[np.ndarray, np.ndarray]:
        """For each row of ranks its lowest few local minima on the grid: numbers of rows, and positions.

        Without those whose basins cannot hold the lowest point: the bottom of a basin is not deeper below its lowest grid point
        than the highest neighbor is above it.
        """
        n, flat = rank.shape[1], rank.ravel()
        one, other = self.neighbors[:, 0], self.neighbors[:, 1]
        places = np.flatnonzero((rank <= rank.take(one, axis=1)) & (rank <= rank.take(other, axis=1)))
        where = places % n
        for shift in self.shifts[2:]:  # most points are gone after a few neighbors
            if len(places) <= FEW:
                break
            kept = flat.take(places) <= flat.take(places + shift.take(where))
            places, where = places[kept], where[kept]
        which, own = places // n, flat.take(places)
        beside = rank[which[:, None], self.neighbors[where]]
        kept = (own <= beside.min(axis=1)) & (2 * own - beside.max(axis=1) <= rank.min(axis=1)[which])
        which, where, own = which[kept], where[kept], own[kept]
        order = np.lexsort([own, which])
        which, where = which[order], where[order]
        place = np.arange(len(which)) - np.searchsorted(which, which)  # first, second, … of its program
        return which[place < MOST_STARTS], where[place < MOST_STARTS]
