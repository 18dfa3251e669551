"""What `minimize` checks at its door, before anything is compiled."""

from typing import Any

import jax
import numpy as np
from jaxtyping import PyTree

from ..bezier import BezierSimplex
from ..feasible import feasible_set, raveling_of_bounds

HALF_PRECISION = ("bfloat16", "float16")
"""Precisions with two or three digits."""


def check_n_iterations(n_iterations: int | None) -> int | None:
    """n_iterations, or an error in one line: it must be None or a whole number of at least 1."""
    if n_iterations is not None and not (n_iterations >= 1 and n_iterations % 1 == 0):
        raise ValueError(f"n_iterations must be a whole number of at least 1, got {n_iterations!r}")
    return None if n_iterations is None else int(n_iterations)


def check_tol(tol: float | None) -> None:
    """Raises unless tol is None or at least 0."""
    if tol is not None and not tol >= 0:
        raise ValueError(f"tol must be at least 0, got {tol!r}")


def check_x0(x0: PyTree) -> PyTree:
    """x0 with float64 leaves, or an error in one line: x0 must be an array, a pytree of arrays, or a surface, all finite.

    A plain list of numbers is taken for a vector.
    """
    if isinstance(x0, BezierSimplex):
        check_x0(x0.control_points)
        return x0
    if isinstance(x0, list | tuple) and x0 and all(isinstance(entry, int | float | np.number) for entry in x0):
        x0 = np.asarray(x0)  # [0, 0, 0] means a vector to everybody but JAX
    leaves = jax.tree.leaves(x0)
    if not leaves:
        raise ValueError("x0 must hold at least one number, got an empty pytree")

    def as_float(leaf: Any) -> np.ndarray:
        if str(getattr(leaf, "dtype", "")) in HALF_PRECISION:
            raise TypeError(
                f"x0 must be float32 or float64, got a leaf of {leaf.dtype}, which cannot tell points of a surface apart; "
                "cast x0 to float32, and to half precision inside the objectives if they are to be computed so"
            )
        try:
            array = np.asarray(leaf, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"x0 must be an array or a pytree of arrays of numbers, got a leaf {leaf!r}") from None
        if not np.isfinite(array).all():
            raise ValueError(f"x0 must be finite, got {array.tolist()}")
        return array

    return jax.tree.map(as_float, x0)


def center_of_bounds(bounds: Any, n_variables: int | None) -> PyTree:
    """Where a run starts without x0: the center of the box, shaped like the bounds, or an error in one line."""
    raveling = None if bounds is None else raveling_of_bounds(bounds, n_variables)
    if bounds is None:
        raise ValueError("x0 must be given where there are no bounds: an array, a pytree of arrays, or a surface")
    if raveling is None:
        raise ValueError(f"x0 must be given, since bounds={bounds!r} do not tell how many variables there are")
    box = feasible_set(bounds, None, raveling)
    if not box.has_finite_box:
        name = next(v for v, low, high in zip(box.variables, box.lower, box.upper, strict=True) if not np.isfinite(high - low))
        raise ValueError(f"x0 must be given where a bound is infinite, here one of {name}")
    return raveling.unravel(box.center())


def check_declared(objectives: Any, what: str, found: int, argument: str) -> None:
    """Raises if a problem declares another number of variables or objectives than there are."""
    declared = getattr(objectives, what, None)
    if isinstance(declared, int) and declared != found:
        name, kind = type(objectives).__name__, what.removeprefix("n_")
        raise ValueError(f"{argument} must have {declared} {kind} for {name}, got {found}")


def is_single(x0: Any) -> bool:
    """Whether all numbers of x0 are arrays of float32."""
    leaves = jax.tree.leaves(x0.control_points if isinstance(x0, BezierSimplex) else x0)
    return bool(leaves) and all(str(getattr(leaf, "dtype", "")) == "float32" for leaf in leaves)
