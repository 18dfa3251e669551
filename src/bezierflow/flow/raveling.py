"""Objectives of the user's x, any pytree of arrays, as objectives of the flat vector of L numbers that flows compute with."""

from collections.abc import Callable
from typing import cast

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from ..bezier import Raveling
from ..problems import Composite

__all__ = ["Raveled", "Raveling"]


class Raveled(eqx.Module):
    """Objectives of a pytree as objectives of a flat vector, with the problem's smooth parts and prox where it has them."""

    objectives: Callable[[PyTree], Array]
    raveling: Raveling

    def __call__(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_objectives"]:
        """f(unravel(x))."""
        return self.objectives(self.raveling.unravel(x))

    def smooth(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_objectives"]:
        """The smooth parts."""
        return cast(Composite, self.objectives).smooth(self.raveling.unravel(x))

    def prox(self, x: Float[Array, " n_variables"], weights: Float[Array, " n_objectives"]) -> Float[Array, " n_variables"]:
        """The prox of the weighted nonsmooth parts."""
        return jnp.asarray(self.raveling.ravel(cast(Composite, self.objectives).prox(self.raveling.unravel(x), weights)))
