"""The linearizations of `displacement` by one Cholesky factorization a point, on the host: for some
hundred variables.

With the projection P = I − UᵀU and B = P H P + κ UᵀU, factored once,

    d = −B⁻¹Pρ,    T = orth(Uᵀ − B⁻¹ P H Uᵀ),    y = (I − TTᵀ) d:

d is across U and P(Hd + ρ) = 0, and every column v of T has P H v = 0. That B has a factor is the
second-order condition.
"""

import numpy as np
from jaxtyping import Bool, Float
from scipy.linalg import cho_factor, cho_solve

from .displacement import CRITICAL, DEPENDENT, Linearization
from .free_multipliers import find_multipliers

TINY = 1e-12
"""Curvature below this, in units of its norm, counts as none."""


def linearize_on_host(
    gradients: Float[np.ndarray, "n n_objectives n_variables"],
    hessians: Float[np.ndarray, "n n_objectives n_variables n_variables"],
    faces: Bool[np.ndarray, "n n_objectives"],
    support: bool = False,
) -> Linearization:
    """As `displacement.linearize`, at every point."""
    rows = [_linearize(*one, support) for one in zip(gradients, hessians, faces, strict=True)]
    return Linearization(*[np.stack(part) for part in zip(*rows, strict=True)])


def _linearize(g: np.ndarray, h: np.ndarray, face: np.ndarray, support: bool) -> Linearization:
    n_objectives, n_variables = g.shape
    n_tangents = min(n_objectives - 1, n_variables)
    size = np.linalg.norm(g, axis=1)
    if not (np.isfinite(g).all() and np.isfinite(h).all()):
        nothing = np.zeros((n_variables, n_tangents))
        no = np.asarray(False)
        return Linearization(
            face / face.sum(), np.asarray(0.0), np.zeros(n_variables), nothing, no, no
        )
    size = np.where(size > 0, size, 1.0)
    directions = g / size[:, None]
    w = find_multipliers(directions @ directions.T, face)
    rho = w @ directions
    residual = np.asarray(np.linalg.norm(rho))
    members = face & (w > 0) if support and residual > CRITICAL else face
    _, singular, spanned = np.linalg.svd(
        np.where(members[:, None], directions - rho, 0.0), full_matrices=False
    )
    U = np.where(singular > DEPENDENT, 1.0, 0.0)[:n_tangents, None] * spanned[:n_tangents]
    d, tangents, minimal = _solve(np.tensordot(w / size, h, 1), rho, U)
    valid = bool(np.isfinite(d).all() and np.isfinite(tangents).all())
    return Linearization(
        w,
        residual,
        d if valid else 0 * rho,
        np.nan_to_num(tangents),
        np.asarray(minimal and valid),
        np.asarray(valid),
    )


def _solve(h: np.ndarray, rho: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """y, T and whether the curvature is positive across U; where it is not, it is bent along ρ as
    in `displacement`."""
    strength = np.linalg.norm(h)
    h = h / (strength if strength > 0 else 1.0)
    length = np.linalg.norm(rho)
    bend = rho / (length if length > 0 else 1.0)
    factor = _factor(_projected(h, U))
    minimal = factor is not None
    if factor is None:
        h = h + np.outer(bend, bend)
        factor = _factor(_projected(h, U))
        minimal = factor is not None
    across = lambda v: v - U.T @ (U @ v)  # noqa: E731
    right = np.column_stack([-rho / (strength if strength > 0 else 1.0), -h @ U.T])
    solved = across(_solved(factor, _projected(h, U), across(right)))
    tangents = np.linalg.qr(U.T + solved[:, 1:])[0] * np.any(U != 0, axis=1)
    d = solved[:, 0] - tangents @ (tangents.T @ solved[:, 0])
    # Twice is enough: the second pass removes what rounding left of the tangents in the first.
    return d - tangents @ (tangents.T @ d), tangents, minimal


def _projected(h: np.ndarray, U: np.ndarray) -> np.ndarray:
    """P h P + UᵀU in O(L²) for few rows U."""
    hU = h @ U.T
    inner = U @ hU
    return h - hU @ U - U.T @ hU.T + U.T @ inner @ U + U.T @ U


def _factor(matrix: np.ndarray) -> tuple[np.ndarray, bool] | None:
    """Its Cholesky factor; None where it is not positive definite beyond rounding."""
    try:
        return cho_factor(
            matrix - TINY * np.eye(len(matrix)), lower=True, overwrite_a=True, check_finite=False
        )
    except np.linalg.LinAlgError:
        return None


def _solved(
    factor: tuple[np.ndarray, bool] | None, matrix: np.ndarray, right: np.ndarray
) -> np.ndarray:
    if factor is not None:
        return cho_solve(factor, right, check_finite=False)
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        return np.full_like(right, np.nan)
