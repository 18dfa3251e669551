"""Powers of a squared norm, with derivatives that stay finite where the norm vanishes."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


def skew_exponents(n_objectives: int) -> Float[np.ndarray, " n_objectives"]:
    """p_m = exp(2(m−1)/(M−1) − 1): from 1/e to e, the skew problems' exponents."""
    return np.exp(np.linspace(-1.0, 1.0, n_objectives))


def power(
    square: Float[Array, "*batch"], exponent: Float[Array, "*batch"]
) -> Float[Array, "*batch"]:
    """square^exponent for square ≥ 0 and exponent > 0; value right everywhere, first two
    derivatives never NaN.

    Where square = |x − c|² vanishes, x = c is the minimizer. The gradient in x is 0 there for
    exponents above 1/2; at and below it there is a cusp, and 0, the element of the subdifferential
    that says "minimum", is given. The second derivative there is right for exponents of 1 and
    above; below 1 it is infinite and 0 is given.
    """
    # Squares below the floor count as 0 for derivatives: above it, square^(exponent − 2) still is a
    # finite number.
    floor = jnp.finfo(square.dtype).tiny ** 0.45
    away = square > floor
    smooth = jnp.where(away, square, 1.0) ** exponent
    at_center = jax.lax.stop_gradient(square) ** exponent
    return jnp.where(exponent == 1.0, square, jnp.where(away, smooth, at_center))
