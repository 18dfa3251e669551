"""What is searched: a map over the simplex, a stand-in for it that is fast, and its values on a grid to start from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from .front_map import AbstractFrontMap
from .minimax import Programs

MOST_STARTS = 3
"""Searches start at the lowest few local minima of the grid. It is fine, so that a lower basin than theirs cannot hide."""

PENALTY = 10.0
"""What one range of violation counts against one unit of the goal when starting points are ranked."""


@dataclass(frozen=True, eq=False)
class Terrain:
    """A map, a guide through it, and its values on a grid.

    Attributes:
        true: the map; its values are what is answered.
        guide: a map close to it that is faster, or the same. It decides where a search looks and never what is answered.
        t: the grid.
        values: those of the true map on the grid.
        neighbors: for each point of the grid the positions of its neighbors.
    """

    true: AbstractFrontMap
    guide: AbstractFrontMap
    t: Float[np.ndarray, "n n_objectives"]
    values: Float[np.ndarray, "n n_values"]
    neighbors: Int[np.ndarray, "n n_neighbors"]

    @cached_property
    def steps(self) -> Float[np.ndarray, "n n_values"]:
        """How much each value changes at most from a point of the grid to its neighbors."""
        return np.abs(self.values[self.neighbors] - self.values[:, None]).max(axis=1)

    def starts(self, programs: Programs, rank: Float[np.ndarray, "n_programs n"]) -> tuple[np.ndarray, np.ndarray]:
        """For each program the lowest few local minima of its rank on the grid: numbers of programs, and positions.

        Without those whose basins cannot hold the lowest point: the bottom of a basin is not deeper below its lowest grid point
        than the highest neighbor is above it.
        """
        lowest = rank.min(axis=1, keepdims=True)
        reach = programs.largest_change(self.steps, PENALTY)  # no neighbor is higher than this above a point
        which, where = np.nonzero(rank - reach <= lowest)
        own, beside = rank[which, where], rank[which[:, None], self.neighbors[where]]
        kept = (own <= beside.min(axis=1)) & (2 * own - beside.max(axis=1) <= lowest[which, 0])
        which, where, own = which[kept], where[kept], own[kept]
        order = np.lexsort([own, which])
        which, where = which[order], where[order]
        place = np.arange(len(which)) - np.searchsorted(which, which)  # first, second, … of its program
        return which[place < MOST_STARTS], where[place < MOST_STARTS]
