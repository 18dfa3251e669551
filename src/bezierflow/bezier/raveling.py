"""Between values, any pytrees of arrays, and flat vectors of L numbers."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import prod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree, Shaped

from ..arguments import read_doubles
from ..kinds import kind
from ..precision import is_traced


@kind("bezier.raveling/1")
class Raveling(eqx.Module):
    """The shape of x: how its leaves lie in a flat vector.

    Two x of one shape have equal ravelings, so nothing recompiles.

    Attributes:
        treedef: JAX's own description of the tree, which has no type to annotate with.
        shapes: The shapes of the leaves.
        scale: The unit of each number of the flat vector, x = unit · number; None where all are 1.
    """

    treedef: object = eqx.field(static=True)
    shapes: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    scale: tuple[float, ...] | None = eqx.field(static=True, default=None)

    @classmethod
    def of(cls, x: PyTree, batch_axes: int = 0) -> "Raveling":
        """The raveling of pytrees shaped like x without so many leading axes of every leaf."""
        leaves, treedef = jax.tree.flatten(x)
        return cls(treedef, tuple(np.shape(leaf)[batch_axes:] for leaf in leaves))

    def scaled(self, scale: Float[np.ndarray, " n_variables"] | None) -> "Raveling":
        """The same with these units of the flat vector."""
        units = None if scale is None else tuple(map(float, scale))
        return Raveling(self.treedef, self.shapes, units)

    @property
    def plain(self) -> "Raveling":
        """The same without units."""
        return self.scaled(None)

    @property
    def units(self) -> Float[np.ndarray, " n_variables"]:
        """The unit of each number of the flat vector."""
        return np.ones(self.n_variables) if self.scale is None else np.array(self.scale)

    @property
    def n_variables(self) -> int:
        """L."""
        return sum(prod(shape) for shape in self.shapes)

    @property
    def is_vector(self) -> bool:
        """Whether x is the flat vector already."""
        one_leaf = self.treedef == jax.tree.structure(0)
        return self.scale is None and one_leaf and len(self.shapes[0]) == 1

    def ravel(
        self, x: PyTree, batch_axes: int = 0
    ) -> Shaped[Array | np.ndarray, "*batch n_variables"]:
        """The value x as a vector, leading `batch_axes` kept. NumPy in, NumPy out."""
        leaves = jax.tree.leaves(x)
        xp = np if all(isinstance(leaf, np.ndarray) for leaf in leaves) else jnp
        parts = [
            xp.reshape(leaf, (*np.shape(leaf)[:batch_axes], prod(np.shape(leaf)[batch_axes:])))
            for leaf in leaves
        ]
        vector = parts[0] if len(parts) == 1 else xp.concatenate(parts, axis=-1)
        return vector if self.scale is None else vector / self.units

    def unravel(self, vector: Shaped[Array | np.ndarray, "*batch n_variables"]) -> PyTree:
        """The pytree of a vector; leading axes are kept. NumPy in, NumPy out."""
        vector = vector if self.scale is None else vector * self.units
        places = pairwise(accumulate((prod(shape) for shape in self.shapes), initial=0))
        leaves = [
            vector[..., start:end].reshape((*vector.shape[:-1], *shape))
            for (start, end), shape in zip(places, self.shapes, strict=True)
        ]
        return jax.tree.unflatten(self.treedef, leaves)

    def __str__(self) -> str:
        return f"{self.treedef} with shapes {list(self.shapes)}"


def pack(x: PyTree, name: str = "x") -> tuple[Float[np.ndarray, "n width"], Raveling]:
    """All values side by side in a float64 matrix, one per row, and the raveling of one of them.

    Raises:
        TypeError: For complex numbers, and inside a `jit`, `grad` or `vmap`.
        ValueError: For leaves without, or with unequal, numbers of rows, and for numbers that are
            not finite.
    """
    if is_traced(x):
        raise TypeError(
            f"{name} is being traced by jax (jit, grad or vmap), but fitting runs on the host; "
            "call it outside, or use bezierflow.bezier.least_squares inside"
        )

    wanted = "an array of numbers with one value per row, or a pytree of such arrays"
    values = jax.tree.map(lambda leaf: read_doubles(leaf, name, wanted), as_tree(x))
    arrays = jax.tree.leaves(values)
    sizes = {array.shape[:1] for array in arrays}
    if len(sizes) != 1 or () in sizes:
        raise ValueError(
            f"{name} must be an array with one value per row, or a pytree of such arrays with"
            f" equally many rows, got leaves of shape {[array.shape for array in arrays]}"
        )
    raveling = Raveling.of(values, batch_axes=1)
    rows = np.asarray(raveling.ravel(values, batch_axes=1))
    if not np.isfinite(rows).all():
        row = int(np.argmax(~np.isfinite(rows).all(axis=1)))
        raise ValueError(
            f"{name} must be finite; row {row} is {rows[row].tolist()}. Leave such samples out"
        )
    return rows, raveling


def as_tree(value: PyTree) -> PyTree:
    """Plain lists of numbers are arrays, as in NumPy; lists of arrays are pytrees, as in JAX."""
    # `[1.0, 2.0]` is one value of two numbers for people, a pytree of two leaves for JAX
    if isinstance(value, Sequence) and all(
        isinstance(leaf, int | float) for leaf in jax.tree.leaves(value)
    ):
        return np.asarray(value, dtype=float)
    return value
