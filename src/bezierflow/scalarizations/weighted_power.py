"""The weighted power: a weighted sum of objectives raised to a power."""

from functools import partial

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..arguments import read_number
from .scalarization import AbstractReferencedScalarization, Reference


class WeightedPower(AbstractReferencedScalarization):
    """Σ_m t_m u_m^p, with u the normalized objectives. Smooth; for fronts bent inward.

    A power p > 1 straightens a concave front: where p is large enough, weights t reach all of it;
    those of a plain sum do not. The larger p, the flatter the ends, and the less exactly they are
    found. For p = 1 it is the weighted sum of normalized objectives.

    Args:
        power: p, at least 1.
        reference: ideal point and ranges; found by the run if None.
    """

    power: float = eqx.field(
        default=3.0,
        converter=partial(
            read_number,
            name="power",
            wanted="a finite number of at least 1",
            holds=lambda p: 1 <= p < float("inf"),
        ),
    )
    reference: Reference | None = None

    def __call__(
        self, values: Float[Array, " n_objectives"], t: Float[Array, " n_objectives"]
    ) -> Float[Array, ""]:
        """Σ_m t_m u_m^p."""
        u = self.normalized(values)
        # Rounding can put u slightly below 0, where a fractional power is not a number: value and
        # slope are 0 there.
        inside = u > 0
        return jnp.dot(t, jnp.where(inside, jnp.where(inside, u, 1.0) ** self.power, 0.0))
