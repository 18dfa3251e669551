"""Small convex quadratic programs: min ½ zᵀ diag(h) z + gᵀz subject to C z ≤ e, several of one size at once."""

import numpy as np
from jaxtyping import Float


def solve_quadratics(
    h: Float[np.ndarray, "n size"],
    g: Float[np.ndarray, "n size"],
    C: Float[np.ndarray, "n n_constraints size"],
    e: Float[np.ndarray, "n n_constraints"],
) -> tuple[Float[np.ndarray, "n size"], Float[np.ndarray, "n n_constraints"]]:
    """The minimizers and the duals of the constraints, for h > 0 and programs with feasible points.

    In y = √h z + g/√h it is the search for the shortest vector with G y ≥ b, which nonnegative least squares solves
    (Lawson and Hanson, "Solving Least Squares Problems", 1974, Chapter 23).
    """
    from scipy.optimize import nnls  # a third of a second that only questions need

    n, n_constraints, size = C.shape
    root, free = np.sqrt(h)[:, None], g / h
    G, b = -C / root, -e - (C @ free[..., None])[..., 0]
    unit = np.maximum(np.abs(b).max(axis=1, keepdims=True), 1.0)
    E = np.empty((n, size + 1, n_constraints))
    E[:, :size], E[:, size] = np.swapaxes(G, 1, 2), b / unit
    target = np.zeros(size + 1)
    target[size] = 1.0
    u = np.zeros((n, n_constraints))
    for k in range(n):
        try:
            u[k] = nnls(E[k], target, maxiter=20 * n_constraints)[0]
        except RuntimeError:  # it cycled, which only rounding makes it do
            u[k] = np.nan
    left = 1.0 - (E[:, size] * u).sum(axis=1, keepdims=True)
    solved = left > 1e-15
    duals = np.where(solved, u * unit / np.where(solved, left, 1.0), 0.0)
    z = ((duals[:, None] @ G) / root)[:, 0] - free
    return np.where(solved, z, 0.0), duals  # no step where there was no solution: the search ends where it is
