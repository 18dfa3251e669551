"""Functions of the user's x, any pytree of arrays, as functions of the flat vector of L numbers
that flows compute with."""

from collections.abc import Callable
from typing import cast

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..bezier import Raveling
from ..problems import Composite
from .host import Rows


class Raveled(eqx.Module):
    """Objectives of a pytree as objectives of a flat vector, with the problem's smooth parts and
    prox where it has them."""

    objectives: Callable[[PyTree], PyTree]
    raveling: Raveling

    def __call__(
        self, x: Float[Array | np.ndarray, " n_variables"]
    ) -> Float[Array, " n_objectives"]:
        """f(unravel(x))."""
        return as_vector(self.objectives(self.raveling.unravel(x)))

    def smooth(self, x: Float[Array | np.ndarray, " n_variables"]) -> Float[Array, " n_objectives"]:
        """The smooth parts."""
        return cast(Composite, self.objectives).smooth(self.raveling.unravel(x))

    def prox(
        self, x: Float[Array | np.ndarray, " n_variables"], weights: Float[Array, " n_objectives"]
    ) -> Float[Array, " n_variables"]:
        """The prox of the weighted nonsmooth parts."""
        return jnp.asarray(
            self.raveling.ravel(
                cast(Composite, self.objectives).prox(self.raveling.unravel(x), weights)
            )
        )


class Unraveled(eqx.Module):
    """Objectives of a flat vector as objectives of the user's x; `original` is what the user
    gave."""

    flat: Callable[[Array], Array]
    raveling: Raveling
    original: object = eqx.field(static=True)

    def __call__(self, x: PyTree) -> Float[Array, " n_objectives"]:
        """f(ravel(x))."""
        return self.flat(jnp.asarray(self.raveling.ravel(x)))


class Joined(eqx.Module):
    """One function whose values are an array: of a list of functions x -> a number, or of a
    function that returns a list."""

    function: Rows

    def __call__(self, x: PyTree) -> Float[Array, " n_rows"]:
        """All values."""
        return as_vector(self.values(x))

    def values(self, x: PyTree) -> PyTree:
        """All values, an array or a list."""
        return self.function(x) if callable(self.function) else [one(x) for one in self.function]


def as_vector(values: PyTree) -> PyTree:
    """A list or tuple of numbers as one array; anything else as it is."""
    if isinstance(values, list | tuple):
        return jnp.stack(
            [
                jnp.reshape(value, ()) if jnp.size(value) == 1 else value
                for value in map(jnp.asarray, values)
            ]
        )
    return values
