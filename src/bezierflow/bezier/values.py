"""Values of a surface as rows of a matrix: how any pytree of arrays with a leading axis is packed for linear algebra."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import jax
import numpy as np
from jaxtyping import Float, PyTree

from ..precision import is_traced


@dataclass(frozen=True)
class RowLayout:
    """Where the numbers of one value stand in a row: the pytree's structure and the shape of each leaf."""

    structure: Any
    shapes: tuple[tuple[int, ...], ...]

    @property
    def width(self) -> int:
        """How many numbers one value holds (L)."""
        return sum(map(prod, self.shapes))

    def unpack(self, rows: Float[np.ndarray, "n width"]) -> PyTree:
        """The pytree whose leaves hold these rows, one value a leading index."""
        ends = np.cumsum([prod(shape) for shape in self.shapes])[:-1]
        parts = np.split(rows, ends, axis=1)
        leaves = [np.ascontiguousarray(part).reshape(len(rows), *shape) for part, shape in zip(parts, self.shapes, strict=True)]
        return jax.tree.unflatten(self.structure, leaves)

    def pack_one(self, value: PyTree, name: str) -> Float[np.ndarray, " width"]:
        """One value as a row, or a ValueError if it is not built like the others."""
        rows, layout = pack(jax.tree.map(lambda leaf: np.asarray(leaf)[None], _as_tree(value)), name)
        if layout != self:
            raise ValueError(
                f"{name} must be built like one row of x ({self.structure} with shapes {list(self.shapes)}), "
                f"got {layout.structure} with shapes {list(layout.shapes)}"
            )
        return rows[0]


def pack(x: PyTree, name: str = "x") -> tuple[Float[np.ndarray, "n width"], RowLayout]:
    """All values side by side in a float64 matrix, and the layout that turns such a matrix back into a pytree."""
    if is_traced(x):
        raise TypeError(
            f"{name} is being traced by jax (jit, grad or vmap), but fitting runs on the host; "
            "call it outside, or use bezierflow.bezier.least_squares inside"
        )
    leaves, structure = jax.tree.flatten(_as_tree(x))
    arrays = [_as_doubles(leaf, name) for leaf in leaves]
    if not arrays or any(array.ndim < 1 for array in arrays) or len({len(array) for array in arrays}) > 1:
        raise ValueError(
            f"{name} must be an array with one value a row, or a pytree of such arrays with equally many rows, "
            f"got leaves of shape {[array.shape for array in arrays]}"
        )
    layout = RowLayout(structure, tuple(array.shape[1:] for array in arrays))
    flat = [array.reshape(len(array), prod(array.shape[1:])) for array in arrays]
    rows = flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1)
    if not np.isfinite(rows).all():
        row = int(np.argmax(~np.isfinite(rows).all(axis=1)))
        raise ValueError(f"{name} must be finite; row {row} is {rows[row].tolist()}. Leave such samples out")
    return rows, layout


def _as_tree(value: PyTree) -> PyTree:
    """Plain lists of numbers are arrays, as everywhere in NumPy; lists of arrays are pytrees, as everywhere in JAX."""
    if isinstance(value, Sequence) and all(isinstance(leaf, int | float) for leaf in jax.tree.leaves(value)):
        return np.asarray(value, dtype=float)
    return value


def _as_doubles(leaf: Any, name: str) -> np.ndarray:
    if np.iscomplexobj(leaf):
        raise TypeError(f"{name} must be real, got {np.asarray(leaf).dtype}; give real and imaginary parts as two leaves")
    return np.asarray(leaf, dtype=np.float64)
