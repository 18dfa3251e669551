"""Inner control points from the boundary: the smoothest net with the given edges."""

from functools import lru_cache
from itertools import combinations

import numpy as np
from jaxtyping import Float

from ..simplex import index_positions, multi_indices


def fill_inside(
    control_points: Float[np.ndarray, "n_controls n_variables"], n_objectives: int, degree: int
) -> Float[np.ndarray, "n_controls n_variables"]:
    """The control points with those off the edges replaced, for least squares of p_{d+2e_i} −
    2p_{d+e_i+e_j} + p_{d+2e_j}.

    For a flat net with evenly spread edges this is exactly the flat net.
    """
    if degree < 3:
        return control_points
    outer, inner, matrix = _filling(n_objectives, degree)
    filled = control_points.copy()
    filled[inner] = matrix @ control_points[outer]
    return filled


@lru_cache(maxsize=64)
def _filling(n_objectives: int, degree: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which control points lie on edges, which do not, and the matrix that gives the latter from
    the former."""
    indices = multi_indices(n_objectives, degree)
    outer = np.flatnonzero((indices > 0).sum(axis=1) <= 2)
    inner = np.flatnonzero((indices > 0).sum(axis=1) > 2)
    below = multi_indices(n_objectives, degree - 2)
    unit = np.eye(n_objectives, dtype=np.int64)
    blocks = []
    for i, j in combinations(range(n_objectives), 2):
        rows = np.zeros((len(below), len(indices)))
        for shift, coefficient in (
            (2 * unit[i], 1.0),
            (unit[i] + unit[j], -2.0),
            (2 * unit[j], 1.0),
        ):
            rows[np.arange(len(below)), index_positions(below + shift)] += coefficient
        blocks.append(rows)
    differences = np.concatenate(blocks)
    matrix = -np.linalg.lstsq(differences[:, inner], differences[:, outer], rcond=None)[0]
    return outer, inner, matrix
