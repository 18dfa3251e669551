"""Between the user's x, any pytree of arrays, and the flat vector of L numbers that flows compute with."""

from collections.abc import Callable
from itertools import accumulate, pairwise
from math import prod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree


class Raveling(eqx.Module):
    """The shape of x: how its leaves lie in a flat vector. Two x of one shape have equal ravelings, so nothing recompiles."""

    treedef: Any = eqx.field(static=True)
    shapes: tuple[tuple[int, ...], ...] = eqx.field(static=True)

    @classmethod
    def of(cls, x: PyTree) -> "Raveling":
        """The raveling of pytrees shaped like x."""
        leaves, treedef = jax.tree.flatten(x)
        return cls(treedef, tuple(np.shape(leaf) for leaf in leaves))

    @property
    def n_variables(self) -> int:
        """L."""
        return sum(prod(shape) for shape in self.shapes)

    @property
    def is_vector(self) -> bool:
        """Whether x is a flat vector already."""
        return self.treedef == jax.tree.structure(0) and len(self.shapes[0]) == 1

    def ravel(self, x: PyTree, batch_axes: int = 0) -> Float[Array, "*batch n_variables"]:
        """X as a vector; `batch_axes` leading axes of every leaf are kept."""
        leaves = [jnp.asarray(leaf) for leaf in jax.tree.leaves(x)]
        return jnp.concatenate([leaf.reshape(*leaf.shape[:batch_axes], -1) for leaf in leaves], axis=-1)

    def unravel(self, vector: Any) -> PyTree:
        """The pytree of a vector; leading axes are kept. NumPy in, NumPy out."""
        places = pairwise(accumulate((prod(shape) for shape in self.shapes), initial=0))
        leaves = [
            vector[..., start:end].reshape(*vector.shape[:-1], *shape)
            for (start, end), shape in zip(places, self.shapes, strict=True)
        ]
        return jax.tree.unflatten(self.treedef, leaves)


class Raveled(eqx.Module):
    """Objectives of a pytree as objectives of a flat vector, with the problem's smooth parts and prox where it has them."""

    objectives: Callable[[PyTree], Array]
    raveling: Raveling

    def __call__(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_objectives"]:
        """f(unravel(x))."""
        return self.objectives(self.raveling.unravel(x))

    def smooth(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_objectives"]:
        """The smooth parts."""
        return self.objectives.smooth(self.raveling.unravel(x))  # type: ignore[attr-defined]

    def prox(self, x: Float[Array, " n_variables"], weights: Float[Array, " n_objectives"]) -> Float[Array, " n_variables"]:
        """The prox of the weighted nonsmooth parts."""
        return self.raveling.ravel(self.objectives.prox(self.raveling.unravel(x), weights))  # type: ignore[attr-defined]
