"""What `minimize` checks at its door, before anything is compiled."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ..bezier import BezierSimplex
from ..feasible import feasible_set, raveling_of_bounds


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


def check_objectives(objectives: Callable, x: PyTree) -> int:
    """The number of objectives M that `objectives(x)` returns, or an error in one line that says what it returned instead."""
    if not callable(objectives):
        raise TypeError(f"objectives must be a function x -> (M,) or a problem, got {type(objectives).__name__}")
    shapes = jax.tree.map(np.shape, x)
    expected, found = getattr(objectives, "n_variables", None), sum(np.size(leaf) for leaf in jax.tree.leaves(x))
    if expected is not None and expected != found:
        raise ValueError(f"x0 must have {expected} variables for {type(objectives).__name__}, got {found}")
    try:
        # A plain function: JAX asks what it traces for its name, which takes a problem milliseconds to spell out.
        values = jax.eval_shape(lambda x: objectives(x), x)
    except jax.errors.JAXTypeError as error:
        by_if = isinstance(error, jax.errors.TracerBoolConversionError)
        advice = "; use jnp.where(condition, a, b) in place of Python's if, jnp.maximum(a, b) of max" if by_if else ""
        raise TypeError(
            "objectives must be written with jax.numpy so that JAX can differentiate it; "
            f"it failed with {type(error).__name__} at x0 of shape {shapes}{advice}"
        ) from error
    except Exception as error:
        first_line = str(error).strip().split("\n")[0]
        raise type(error)(f"objectives(x0) failed for x0 of shape {shapes}: {first_line}") from error
    n_objectives = _check_values(values)
    declared = getattr(objectives, "n_objectives", None)
    if declared is not None and declared != n_objectives:
        raise ValueError(f"objectives declares n_objectives={declared} but returned {n_objectives} values")
    return n_objectives


def _check_values(values: Any) -> int:
    """M, if these are what objectives may return: one vector of M floating-point values."""
    if not hasattr(values, "shape"):
        got = type(values).__name__ + (f" with {len(values)} entries" if hasattr(values, "__len__") else "")
        raise TypeError(f"objectives must return one array of M values, got {got}; stack them with jnp.array([...])")
    if values.ndim == 0:
        raise ValueError(
            "objectives must return a vector of M values, got a scalar; "
            "a single objective needs no Pareto set (or return jnp.array([f1, f2, ...]))"
        )
    if values.ndim != 1 or values.shape[0] == 0:
        raise ValueError(f"objectives must return a vector of shape (M,) with M of at least 1, got shape {values.shape}")
    if not jnp.issubdtype(values.dtype, jnp.floating):
        raise TypeError(f"objectives must return floating-point values, got dtype {values.dtype}")
    return values.shape[0]
