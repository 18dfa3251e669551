"""Checks of single arguments, before anything is compiled."""

import jax
import numpy as np
from jaxtyping import PyTree

from ..arguments import (
    read_reals,
)
from ..bezier import BezierSimplex

HALF_PRECISION = ("bfloat16", "float16")
"""Precisions with two or three digits."""


def check_x0(x0: PyTree) -> PyTree:
    """x0 with float64 leaves, or an error in one line: x0 must be an array, a pytree of arrays, or
    a surface, all finite.

    A plain list of numbers is taken for a vector.
    """
    if isinstance(x0, BezierSimplex):
        check_x0(x0.control_points)
        return x0
    plain = isinstance(x0, list | tuple) and len(x0) > 0
    if plain and all(isinstance(entry, int | float | np.number) for entry in x0):
        x0 = np.asarray(x0)  # [0, 0, 0] means a vector to everybody but JAX
    if not jax.tree.leaves(x0):
        raise ValueError("x0 must hold at least one number, got an empty pytree")

    def as_float(leaf: PyTree) -> np.ndarray:
        if str(getattr(leaf, "dtype", "")) in HALF_PRECISION:
            raise TypeError(
                f"x0 must be float32 or float64, got a leaf of {leaf.dtype}, which cannot tell"
                " points of a surface apart; cast x0 to float32, and to half precision inside the"
                " objectives if they are to be computed so"
            )
        return read_reals(leaf, "x0", "an array or a pytree of arrays of numbers")

    x0 = jax.tree.map(as_float, x0)
    if not sum(leaf.size for leaf in jax.tree.leaves(x0)):
        raise ValueError("x0 must hold at least one number, got arrays without any")
    return x0


def is_single(x0: object) -> bool:
    """Whether all numbers of x0 are arrays of float32."""
    leaves = jax.tree.leaves(x0.control_points if isinstance(x0, BezierSimplex) else x0)
    return bool(leaves) and all(str(getattr(leaf, "dtype", "")) == "float32" for leaf in leaves)
