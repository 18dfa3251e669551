"""Correlations of a Gaussian process as functions of the squared scaled distance s, smooth enough
to be differentiated twice."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

Numbers = Array | np.ndarray
"""What compiled functions take."""

KINDS = ("rbf", "matern52")
"""exp(−s/2), of functions with all derivatives, and (1 + r + r²/3) exp(−r) with r = √(5s), of
functions with two."""


def correlation(
    s: Float[Array, "*shape"], kind: Int[Array | np.ndarray, ""]
) -> Float[Array, "*shape"]:
    """The correlation at squared scaled distances s, of the kind with this number. Traceable, and
    so are two derivatives."""
    return _correlation(s, jnp.asarray(kind))


@jax.custom_jvp
def _correlation(s: Array, kind: Array) -> Array:
    r = jnp.sqrt(5 * s)
    return jnp.where(kind == 0, 1.0, 1 + r + r * r / 3) * _decay(s, r, kind)


@jax.custom_jvp
def _slope(s: Array, kind: Array) -> Array:
    r = jnp.sqrt(5 * s)
    return jnp.where(kind == 0, -1 / 2, -5 / 6 * (1 + r)) * _decay(s, r, kind)


def _decay(s: Array, r: Array, kind: Array) -> Array:
    """One exponential for either kind: exponentials take most of the time of a posterior's mean."""
    return jnp.exp(jnp.where(kind == 0, -s / 2, -r))


# By the chain rule Matérn's would be divided by r, which is 0 at the points of the data.
_correlation.defjvps(lambda ds, _, s, kind: _slope(s, kind) * ds, None)
_slope.defjvps(
    lambda ds, _, s, kind: (
        jnp.where(kind == 0, 1 / 4, 25 / 12) * _decay(s, jnp.sqrt(5 * s), kind) * ds
    ),
    None,
)


def correlation_and_slope(s: np.ndarray, kind: int) -> tuple[np.ndarray, np.ndarray]:
    """The same in NumPy, with its derivative by s: the likelihood of a fit needs no compiled
    program."""
    if kind == 0:
        k = np.exp(-s / 2)
        return k, -k / 2
    r = np.sqrt(5 * s)
    decay = np.exp(-r)
    return (1 + r + r * r / 3) * decay, -5 / 6 * (1 + r) * decay
