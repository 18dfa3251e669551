"""Small convex quadratic programs: min ½ zᵀ diag(h) z + gᵀz subject to C z ≤ e."""

import numpy as np
from jaxtyping import Float


def solve_quadratic(
    h: Float[np.ndarray, " n"], g: Float[np.ndarray, " n"], C: Float[np.ndarray, "m n"], e: Float[np.ndarray, " m"]
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " m"]]:
    """The minimizer and the duals of the constraints, for h > 0 and a program with a feasible point.

    In y = √h z + g/√h it is the search for the shortest vector with G y ≥ b, which nonnegative least squares solves
    (Lawson and Hanson, "Solving Least Squares Problems", 1974, Chapter 23).
    """
    from scipy.optimize import nnls  # a third of a second that only questions need

    root = np.sqrt(h)
    G = -C / root
    b = -e - C @ (g / h)
    size = max(float(np.abs(b).max()), 1.0)
    E = np.concatenate([G.T, (b / size)[None]])
    target = np.zeros(len(E))
    target[-1] = 1.0
    try:
        u = nnls(E, target, maxiter=20 * len(e))[0]
    except RuntimeError:  # it cycled, which only rounding makes it do: no step, and the search ends where it is
        return np.zeros_like(g), np.zeros_like(e)
    left = 1.0 - b @ u / size
    if not left > 1e-15:
        return np.zeros_like(g), np.zeros_like(e)
    dual = u * (size / left)
    return (G.T @ dual) / root - g / h, dual
