"""Functions drawn from the posterior, whole, as functions that JAX differentiates."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_solve
from jaxtyping import Array, Float

from ..compilation import compiled
from ..precision import double_precision
from .kernels import Numbers
from .posterior import Posterior

N_FEATURES = 256
"""Waves that a path is made of."""

MATERN_FREEDOM = 5.0
"""The spectral density of the Matérn-5/2 kernel is that of Student's t with so many degrees of
freedom."""


class Paths(eqx.Module):
    """P functions for each of M processes: waves, drawn from the prior, and a correction by kernels
    that meets the evaluations.

    By Matheron's rule, path = prior path + k(·, X) K⁻¹ (y − prior path at X − noise) (Wilson et
    al., "Efficiently sampling functions from Gaussian process posteriors", ICML 2020). The
    posterior mean is a path without waves.

    Attributes:
        posterior: which they are drawn from.
        frequency: of the waves.
        phase: of the waves.
        height: of the waves, in units of √(2 variance / N_FEATURES).
        alpha: the coefficients of the kernels.
    """

    posterior: Posterior
    frequency: Float[Array | np.ndarray, "M n_features n_variables"]
    phase: Float[Array | np.ndarray, "M n_features"]
    height: Float[Array | np.ndarray, "P M n_features"]
    alpha: Float[Array | np.ndarray, "P M N"]

    def __call__(
        self,
        u: Float[Array | np.ndarray, " n_variables"],
        height: Numbers,
        alpha: Array | np.ndarray,
    ) -> Float[Array, " M"]:
        """The values of the path with these coefficients, scaled."""
        return waves(self.posterior, self.frequency, self.phase, height, u) + self.posterior.scaled(
            u, alpha
        )


def waves(
    posterior: Posterior,
    frequency: Numbers,
    phase: Numbers,
    height: Numbers,
    u: Numbers,
) -> Float[Array, " M"]:
    """The prior paths at u, without the level."""
    size = jnp.sqrt(2 * jnp.asarray(posterior.variance) / max(frequency.shape[1], 1))
    return size * jnp.sum(height * jnp.cos(frequency @ u + phase), axis=1)


def mean_path(posterior: Posterior) -> Paths:
    """The posterior mean, as the only path."""
    M, L = np.shape(posterior.lengths)
    return Paths(
        posterior,
        np.zeros((M, 0, L)),
        np.zeros((M, 0)),
        np.zeros((1, M, 0)),
        np.asarray(posterior.alpha)[None],
    )


def sample_paths(posterior: Posterior, n: int, rng: np.random.Generator) -> Paths:
    """So many paths of the posterior."""
    M, L = np.shape(posterior.lengths)
    normal = rng.standard_normal((M, N_FEATURES, L))
    tails = np.sqrt(rng.chisquare(MATERN_FREEDOM, (M, N_FEATURES, 1)) / MATERN_FREEDOM)
    frequency = np.where(np.asarray(posterior.kind)[:, None, None] == 0, normal, normal / tails)
    frequency = frequency / np.asarray(posterior.lengths)[:, None, :]
    phase = rng.uniform(0, 2 * np.pi, (M, N_FEATURES))
    height, noise = (
        rng.standard_normal((n, M, N_FEATURES)),
        rng.standard_normal((n, M, len(posterior.points))),
    )
    with double_precision():
        alpha = np.asarray(_corrected(posterior, frequency, phase, height, noise))
    return Paths(posterior, frequency, phase, height, alpha)


@compiled
def _corrected(
    posterior: Posterior,
    frequency: Numbers,
    phase: Numbers,
    height: Numbers,
    noise: Numbers,
) -> Array:
    def one_path(height: Numbers, noise: Numbers) -> Array:
        prior = jax.vmap(lambda u: waves(posterior, frequency, phase, height, u))(
            posterior.points
        ).T
        seen = prior + jnp.sqrt(posterior.nugget)[:, None] * noise
        miss = jnp.where(posterior.is_point, seen, 0.0)
        return jnp.asarray(posterior.alpha) - jax.vmap(
            lambda factor, miss: cho_solve((factor, True), miss)
        )(posterior.factor, miss)

    return jax.vmap(one_path)(height, noise)
