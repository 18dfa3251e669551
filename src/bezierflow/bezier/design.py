"""The design matrix Z on the host: the numbers of `basis`, in NumPy, for any number of t without compiling anything."""

from functools import lru_cache

import numpy as np
from jaxtyping import Float

from ..simplex import index_positions, multi_indices, multinomials, n_controls


def design_matrix(t: Float[np.ndarray, "n n_objectives"], degree: int) -> Float[np.ndarray, "n n_controls"]:
    """Z on the host: row i is z(t_i). One product a column and degree, t^d = t_m · t^{d−e_m}, in contiguous columns."""
    n_objectives = t.shape[1]
    coordinates = np.ascontiguousarray(t.T)
    columns = np.empty((n_controls(n_objectives, degree), len(t)))
    columns[0] = 1
    for current in range(1, degree + 1):
        # From the last row up, as d − e_m never stands behind d: one array serves all degrees.
        for row, m, parent in _products(n_objectives, current):
            np.multiply(coordinates[m], columns[parent], out=columns[row])
    columns *= multinomials(n_objectives, degree)[:, None]
    return columns.T


@lru_cache(maxsize=256)
def _products(n_objectives: int, degree: int) -> list[tuple[int, int, int]]:
    """For each multi-index d, last one first: its row, the first m with d_m > 0, and the row of d − e_m a degree lower."""
    below = multi_indices(n_objectives, degree).copy()
    first = np.argmax(below > 0, axis=1)
    below[np.arange(len(below)), first] -= 1
    return list(zip(range(len(below)), first.tolist(), index_positions(below).tolist(), strict=True))[::-1]
