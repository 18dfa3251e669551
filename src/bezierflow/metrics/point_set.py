"""The door of every metric: a finite set of points as a float64 matrix."""

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from ..arguments import read_doubles


def as_points(
    points: ArrayLike, argument: str, width: int | None = None
) -> Float[np.ndarray, "n width"]:
    """The points as float64, one a row, or a ValueError that names the argument."""
    array = read_doubles(points, argument, "a matrix of numbers with one point a row")
    if array.ndim != 2 or len(array) == 0:
        raise ValueError(
            f"{argument} must be a matrix with one point a row, at least one, got shape"
            f" {array.shape}"
        )
    if width is not None and array.shape[1] != width:
        raise ValueError(
            f"{argument} must have {width} columns like the other points, got shape {array.shape}"
        )
    if not np.isfinite(array).all():
        row = int(np.argmax(~np.isfinite(array).all(axis=1)))
        raise ValueError(f"{argument} must be finite, but row {row} is {array[row].tolist()}")
    return array
