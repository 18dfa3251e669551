"""Shortest vectors within linear constraints: what small convex quadratic programs come down to, several of one size at once."""

import numpy as np
from jaxtyping import Float


def shortest(constraints: Float[np.ndarray, "n size_and_1 n_constraints"]) -> Float[np.ndarray, "n n_constraints"]:
    """For each of several G and b the u ≥ 0 with which y = G u is the shortest vector with Gᵀ y ≥ b; u = 0 if there is none.

    Nonnegative least squares finds it (Lawson and Hanson, "Solving Least Squares Problems", 1974, Chapter 23).

    Args:
        constraints: G, and b as its last row, none of it much larger than 1.
    """
    from scipy.optimize import nnls  # a third of a second that only questions need

    n, size, n_constraints = constraints.shape
    target = np.zeros(size)
    target[-1] = 1.0
    u = np.empty((n, n_constraints))
    for k in range(n):
        try:
            u[k] = nnls(constraints[k], target, maxiter=20 * n_constraints)[0]
        except RuntimeError:  # it cycled, which only rounding makes it do
            u[k] = np.nan
    left = 1.0 - (constraints[:, -1] * u).sum(axis=1, keepdims=True)
    solved = left > 1e-15
    return u / left if solved.all() else np.where(solved, u / np.where(solved, left, 1.0), 0.0)
