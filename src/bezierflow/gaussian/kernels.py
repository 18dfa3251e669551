"""Correlations of a Gaussian process as functions of the squared scaled distance s, smooth enough to be differentiated twice."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

Numbers = Array | np.ndarray
"""What compiled functions take."""

KINDS = ("rbf", "matern52")
"""exp(−s/2), of functions with all derivatives, and (1 + r + r²/3) exp(−r) with r = √(5s), of functions with two."""


def correlation(s: Float[Array, "*shape"], kind: Int[Array | np.ndarray, ""]) -> Float[Array, "*shape"]:
    """The correlation at squared scaled distances s, of the kind with this number. Traceable, and so are two derivatives."""
    return jnp.where(kind == 0, jnp.exp(-s / 2), _matern(s))


@jax.custom_jvp
def _matern(s: Array) -> Array:
    r = jnp.sqrt(5 * s)
    return (1 + r + r * r / 3) * jnp.exp(-r)


@jax.custom_jvp
def _matern_slope(s: Array) -> Array:
    r = jnp.sqrt(5 * s)
    return -5 / 6 * (1 + r) * jnp.exp(-r)


# By the chain rule both would be divided by r, which is 0 at the points of the data.
_matern.defjvps(lambda ds, _, s: _matern_slope(s) * ds)
_matern_slope.defjvps(lambda ds, _, s: 25 / 12 * jnp.exp(-jnp.sqrt(5 * s)) * ds)


def correlation_and_slope(s: np.ndarray, kind: int) -> tuple[np.ndarray, np.ndarray]:
    """The same in NumPy, with its derivative by s: the likelihood of a fit needs no compiled program."""
    if kind == 0:
        k = np.exp(-s / 2)
        return k, -k / 2
    r = np.sqrt(5 * s)
    decay = np.exp(-r)
    return (1 + r + r * r / 3) * decay, -5 / 6 * (1 + r) * decay
