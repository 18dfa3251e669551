"""From the bounds and constraints that a user gives to a feasible set."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..bezier import Raveling
from ..precision import double_precision
from .bounds import read_bounds
from .constraint import Constraint, Linear, OfFlat
from .feasible_set import FeasibleSet

KINDS = "give a LinearConstraint or NonlinearConstraint of scipy.optimize, a function g meaning g(x) <= 0, or a list of them"


def feasible_set(bounds: Any, constraints: Any, raveling: Raveling | int, variables: Sequence[str] | None = None) -> FeasibleSet:
    """The feasible set of bounds and constraints in the forms that users give.

    Args:
        bounds: None; `(lower, upper)`, each a number, an array, a pytree like x or None; `scipy.optimize.Bounds`; or one pair
            `(low, high)` for each variable, with None for no bound. Two entries are always `(lower, upper)`, also where x has two
            variables and they could be two pairs, unless one of the pairs holds None. A variable with lower == upper is fixed;
            bounds that fix all of them are refused.
        constraints: None, one of these, or a list of them: `scipy.optimize.LinearConstraint` on the flat vector,
            `scipy.optimize.NonlinearConstraint` whose `fun` is a JAX function of x (its `jac`, `hess` and `keep_feasible` are not
            used), or a JAX function g meaning g(x) <= 0, scalar or vector. Rows with equal sides are equalities.
        raveling: the form of x: how it lies in a flat vector, or L where x is a vector.
        variables: their names in messages; x1, x2, … if not given.
    """
    raveling = Raveling.of(np.zeros(raveling)) if isinstance(raveling, int) else raveling
    names = tuple(variables or (f"x{i + 1}" for i in range(raveling.n_variables)))
    lower, upper = read_bounds(bounds, raveling, names)
    listed = () if constraints is None else constraints if isinstance(constraints, list | tuple) else (constraints,)
    read = tuple(_read(constraint, f"constraint {i + 1}", raveling) for i, constraint in enumerate(listed))
    return FeasibleSet(lower, upper, read, names)


def _read(constraint: Any, name: str, raveling: Raveling) -> Constraint:
    from scipy.optimize import LinearConstraint, NonlinearConstraint

    if isinstance(constraint, LinearConstraint):
        return _linear(constraint, name, raveling)
    if isinstance(constraint, NonlinearConstraint):
        return _nonlinear(constraint.fun, constraint.lb, constraint.ub, name, raveling)
    if callable(constraint):
        return _nonlinear(constraint, -np.inf, 0.0, name, raveling)
    if isinstance(constraint, dict):
        raise TypeError(f"constraints: {name} is a dict, whose 'ineq' means fun(x) >= 0, against the sign used here; {KINDS}")
    raise TypeError(f"constraints: {name} is {constraint!r}; {KINDS}")


def _linear(constraint: Any, name: str, raveling: Raveling) -> Constraint:
    A = constraint.A.toarray() if hasattr(constraint.A, "toarray") else constraint.A
    A = np.atleast_2d(np.asarray(A, dtype=np.float64))
    if A.shape[1] != raveling.n_variables:
        raise ValueError(f"constraints: the matrix of {name} must have {raveling.n_variables} columns, got shape {A.shape}")
    if not np.isfinite(A).all():
        raise ValueError(f"constraints: the matrix of {name} must be finite, got {A.tolist()}")
    return Constraint(Linear(A), *_sides(constraint.lb, constraint.ub, len(A), name), name)


def _nonlinear(function: Callable[..., Any], lower: Any, upper: Any, name: str, raveling: Raveling) -> Constraint:
    n_rows = _count_rows(function, name, raveling)
    return Constraint(OfFlat(function, raveling), *_sides(lower, upper, n_rows, name), name)


def _count_rows(function: Callable[..., Any], name: str, raveling: Raveling) -> int:
    """How many values the function returns, or an error in one line that says what is wrong with it."""
    with double_precision():
        x = raveling.unravel(np.zeros(raveling.n_variables))
        try:
            values = jax.eval_shape(lambda x: function(x), x)
        except jax.errors.JAXTypeError as error:
            raise TypeError(
                f"constraints: {name} must be written with jax.numpy so that JAX can differentiate it; "
                f"it failed with {type(error).__name__}"
            ) from error
        except Exception as error:
            first_line = str(error).strip().split("\n")[0]
            raise ValueError(f"constraints: {name} failed for x of {raveling}: {type(error).__name__}: {first_line}") from error
    if not hasattr(values, "shape"):
        got = type(values).__name__
        raise TypeError(f"constraints: {name} must return one array, got {got}; stack its values with jnp.array([...])")
    if values.ndim > 1 or values.size == 0:
        raise ValueError(f"constraints: {name} must return a scalar or a vector, got shape {values.shape}")
    if not jnp.issubdtype(values.dtype, jnp.floating):
        raise TypeError(f"constraints: {name} must return floating-point values, got dtype {values.dtype}")
    return values.size


def _sides(lower: Any, upper: Any, n_rows: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The sides lb and ub, one number a row, or an error in one line."""
    sides = []
    for argument, side in (("lb", lower), ("ub", upper)):
        values = np.asarray(side, dtype=np.float64)
        if values.size not in (1, n_rows) or values.ndim > 1:
            raise ValueError(f"constraints: {argument} of {name} must hold {n_rows} numbers, got shape {values.shape}")
        if np.isnan(values).any():
            raise ValueError(f"constraints: {argument} of {name} must not be nan, got {values.tolist()}; use an infinite number")
        sides.append(np.broadcast_to(values.reshape(-1), (n_rows,)).copy())
    wrong = (sides[0] > sides[1]) | (sides[0] == np.inf) | (sides[1] == -np.inf)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"constraints: {name} must have lb <= ub, got lb {sides[0][row]:g} and ub {sides[1][row]:g} in row {row + 1}"
        )
    return sides[0], sides[1]
