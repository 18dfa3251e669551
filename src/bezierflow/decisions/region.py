"""The part of the front that a decision maker keeps, to go on from there."""

from dataclasses import dataclass, field

import numpy as np

from ..flow import Solution


@dataclass(frozen=True, eq=False)
class Region:
    """A solution with bounds on its objectives: every question that takes a solution takes a region too. Made by `keep`.

    The surface stays whole and exact. A question to a region is answered with the bounds as constraints, so the answer is
    right up to the very edge of the region, however it cuts through the simplex.

    Attributes:
        solution: the solution.
        bounds: lowest and highest value of each objective, (M, 2), infinite where nothing was said.
    """

    solution: Solution = field(repr=False)
    bounds: np.ndarray

    def contains(self, t: np.ndarray) -> np.ndarray:
        """Whether the objectives at each t obey the bounds."""
        f = np.asarray(self.solution.front(np.asarray(t, dtype=float)))
        return np.asarray(((f >= self.bounds[:, 0]) & (f <= self.bounds[:, 1])).all(axis=-1))
