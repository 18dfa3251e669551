"""Values, gradients and Hessians of all objectives at a batch of points."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Shaped

from ..runs import kind


@kind("objectives.derivatives/1")
@dataclass(frozen=True)
class Derivatives:
    """Values, gradients and, where asked for, Hessians of all objectives at n points."""

    points: Float[np.ndarray, "n n_variables"]
    values: Float[np.ndarray, "n n_objectives"]
    gradients: Float[np.ndarray, "n n_objectives n_variables"]
    hessians: Float[np.ndarray, "n n_objectives n_variables n_variables"] | None

    def take(self, rows: np.ndarray) -> "Derivatives":
        """Those at some of the points, given by their numbers or by a mask."""
        hessians = None if self.hessians is None else self.hessians[rows]
        return Derivatives(self.points[rows], self.values[rows], self.gradients[rows], hessians)

    def join(self, other: "Derivatives") -> "Derivatives":
        """Both together; with Hessians only if both have them."""
        both = (
            None
            if self.hessians is None or other.hessians is None
            else np.concatenate([self.hessians, other.hessians])
        )
        parts = (
            (self.points, other.points),
            (self.values, other.values),
            (self.gradients, other.gradients),
        )
        points, values, gradients = (np.concatenate(pair) for pair in parts)
        return Derivatives(points, values, gradients, both)


def replace_rows(
    array: Shaped[np.ndarray, "n ..."], rows: np.ndarray, values: np.ndarray | float
) -> np.ndarray:
    """A copy of the array with some of its rows replaced."""
    array = np.array(array)
    array[rows] = values
    return array
