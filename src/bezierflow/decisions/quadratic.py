"""Shortest vectors within linear constraints: what small convex quadratic programs come down to, several of one size at once."""

import numpy as np
from jaxtyping import Float

SCALES = (1.0, 3.0, 0.3, 10.0)
"""What b is multiplied by, one after the other, until there is a solution. Where constraints say the same thing several times,
as those of the simplex do along its edges, nonnegative least squares may stop at something else; rarely twice."""

WRONG = 1e-9
"""A constraint that is broken by more, in units of b, was overlooked, and one that counts holds with equality as closely."""


def shortest(constraints: Float[np.ndarray, "n size_and_1 n_constraints"]) -> Float[np.ndarray, "n n_constraints"]:
    """For each of several G and b the u ≥ 0 with which y = G u is the shortest vector with Gᵀ y ≥ b; u = 0 if there is none.

    Nonnegative least squares finds it (Lawson and Hanson, "Solving Least Squares Problems", 1974, Chapter 23).

    Args:
        constraints: G, and b as its last row, none of it much larger than 1.
    """
    u, solved = _tried(constraints)
    for scale in SCALES[1:]:
        if solved.all():
            break
        again = np.flatnonzero(~solved)
        scaled = constraints[again]
        scaled[:, -1] *= scale
        longer, solved[again] = _tried(scaled)
        u[again] = longer / scale
    return u


def _tried(constraints: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What nonnegative least squares finds, and whether that is it: first-order conditions tell."""
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
    apart = target - (constraints @ u[..., None])[..., 0]
    broken, left = (apart[:, None] @ constraints)[:, 0], apart[:, -1:]
    solved = (left[:, 0] > 1e-15) & (np.where(u > 0, np.abs(broken), broken).max(axis=1) <= WRONG)
    if solved.all():
        return u / left, solved
    return np.where(solved[:, None], u / np.where(solved[:, None], left, 1.0), 0.0), solved
