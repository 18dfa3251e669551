"""The weighted sum: the paper's scalarization."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..kinds import kind
from .scalarization import AbstractScalarization


@kind("scalarization.weighted_sum/1")
class WeightedSum(AbstractScalarization):
    """E_t(F) = Σ_m t_m f_m (Section 2.1). Reaches the convex parts of a front."""

    def __call__(
        self, values: Float[Array, " n_objectives"], t: Float[Array, " n_objectives"]
    ) -> Float[Array, ""]:
        """Σ_m t_m f_m."""
        return jnp.dot(t, values)
