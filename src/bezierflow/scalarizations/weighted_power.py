"""The weighted power: a weighted sum of objectives raised to a power."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..arguments import read_number
from ..kinds import kind
from .scalarization import AbstractReferencedScalarization, Reference


@kind("scalarization.weighted_power/1")
class WeightedPower(AbstractReferencedScalarization):
    """Σ_m t_m u_m^p, with u the normalized objectives. Smooth; for fronts bent inward.

    A power p > 1 straightens a concave front: where p is large enough, weights t reach all of it;
    those of a plain sum do not. The larger p, the flatter the ends, and the less exactly they are
    found. For p = 1 it is the weighted sum of normalized objectives.

    Args:
        power: p, at least 1.
        reference: ideal point and ranges; found by the run if None.
    """

    power: float
    reference: Reference | None

    def __init__(self, power: float = 3.0, reference: Reference | None = None):
        self.power = read_number(
            power, "power", "a finite number of at least 1", lambda p: 1 <= p < float("inf")
        )
        self.reference = reference

    def __call__(
        self, values: Float[Array, " n_objectives"], t: Float[Array, " n_objectives"]
    ) -> Float[Array, ""]:
        """Σ_m t_m u_m^p."""
        u = self.normalized(values)
        # Rounding can put u slightly below 0, where a fractional power is not a number: value and
        # slope are 0 there.
        inside = u > 0
        return jnp.dot(t, jnp.where(inside, jnp.where(inside, u, 1.0) ** self.power, 0.0))
