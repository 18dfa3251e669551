"""From the bounds and constraints that a user gives to a feasible set."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Array, Float

from ..bezier import Raveling
from .bounds import read_bounds
from .bridge import Bridge
from .constraint import AtLeastOne, AtLeastTwo, Constraint, Linear
from .feasible_set import FeasibleSet
from .functions import Domain, domain_around, read_function
from .host import Objectives

if TYPE_CHECKING:
    from scipy.optimize import LinearConstraint

KINDS = (
    "give a LinearConstraint or NonlinearConstraint of scipy.optimize, a function g meaning g(x) <="
    " 0, or a list of them"
)


def feasible_set(
    bounds: object,
    constraints: object,
    raveling: Raveling | int,
    variables: Sequence[str] | None = None,
    x: Float[np.ndarray, " n_variables"] | None = None,
) -> FeasibleSet:
    """The feasible set of bounds and constraints in the forms that users give.

    Args:
        bounds: None; `(lower, upper)`, each a number, an array, a pytree like x or None;
            `scipy.optimize.Bounds`; or one pair `(low, high)` for each variable, with None for no
            bound. Where x has two variables, two entries are `(lower, upper)`, unless they hold
            None or are a list of tuples, as SciPy takes them; a list of tuples that may be read
            either way is refused. A variable with lower == upper is fixed; bounds that fix all of
            them are refused.
        constraints: None, one of these, or a list of them: `scipy.optimize.LinearConstraint` on the
            flat vector, `scipy.optimize.NonlinearConstraint`, or a function g meaning g(x) <= 0,
            scalar or vector. Rows with equal sides are equalities. Functions are in JAX, or in any
            other form that objectives may have (`forms.read_function`). The `jac` of a
            `NonlinearConstraint` is used where it is a function and `fun` is not in JAX; `hess` and
            `keep_feasible` never.
        raveling: the form of x: how it lies in a flat vector, or L where x is a vector.
        variables: their names in messages; x1, x2, … if not given.
        x: a flat vector at which constraints are looked at; the center of the box if not given.
    """
    raveling = Raveling.of(np.zeros(raveling)) if isinstance(raveling, int) else raveling
    names = tuple(variables or (f"x{i + 1}" for i in range(raveling.n_variables)))
    lower, upper = read_bounds(bounds, raveling, names)
    listed = (
        ()
        if constraints is None
        else constraints
        if isinstance(constraints, list | tuple)
        else (constraints,)
    )
    box = FeasibleSet(lower, upper, (), names, raveling.scale)
    domain = domain_around(box.center() if x is None else np.asarray(box.clip(x)), lower, upper)
    read = tuple(
        _read(constraint, f"constraint {i + 1}", raveling, domain)
        for i, constraint in enumerate(listed)
    )
    return FeasibleSet(lower, upper, read, names, raveling.scale)


def _read(constraint: object, name: str, raveling: Raveling, domain: Domain) -> Constraint:
    from scipy.optimize import LinearConstraint, NonlinearConstraint

    if isinstance(constraint, LinearConstraint):
        return _linear(constraint, name, raveling)
    if isinstance(constraint, NonlinearConstraint):
        flat, n_rows = _function(
            constraint.fun,
            constraint.jac if callable(constraint.jac) else None,
            name,
            raveling,
            domain,
        )
        return Constraint(flat, *_sides(constraint.lb, constraint.ub, n_rows, name), name)
    if callable(constraint):
        flat, n_rows = _function(constraint, None, name, raveling, domain)
        return Constraint(flat, *_sides(-np.inf, 0.0, n_rows, name), name)
    if isinstance(constraint, dict):
        raise TypeError(
            f"constraints: {name} is a dict, whose 'ineq' means fun(x) >= 0, against the sign used"
            f" here; {KINDS}"
        )
    raise TypeError(f"constraints: {name} is {constraint!r}; {KINDS}")


def _linear(constraint: "LinearConstraint", name: str, raveling: Raveling) -> Constraint:
    dense = getattr(constraint.A, "toarray", lambda: constraint.A)
    A = np.atleast_2d(np.asarray(dense(), dtype=np.float64))
    if A.shape[1] != raveling.n_variables:
        raise ValueError(
            f"constraints: the matrix of {name} must have {raveling.n_variables} columns, got shape"
            f" {A.shape}"
        )
    if not np.isfinite(A).all():
        raise ValueError(f"constraints: the matrix of {name} must be finite, got {A.tolist()}")
    return Constraint(
        Linear(A * raveling.units), *_sides(constraint.lb, constraint.ub, len(A), name), name
    )


def _function(
    function: Callable, jac: Callable | None, name: str, raveling: Raveling, domain: Domain
) -> tuple[Callable[[Array], Array], int]:
    """A constraint's function of the flat vector, and how many rows it has, or an error in one line
    that says what is wrong."""
    name = f"constraints: {name}"
    if isinstance(function, Objectives):
        return read_function(function, raveling, domain, name)[1:3]
    form = read_function(AtLeastOne(function), raveling, domain, name)
    if jac is not None and isinstance(form.flat, Bridge):
        form = read_function(
            Objectives(AtLeastOne(function), AtLeastTwo(jac)), raveling, domain, name
        )
    return form.flat, form.n_rows


def _sides(lower: object, upper: object, n_rows: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The sides lb and ub, one number a row, or an error in one line."""
    sides = []
    for argument, side in (("lb", lower), ("ub", upper)):
        values = np.asarray(side, dtype=np.float64)
        if values.size not in (1, n_rows) or values.ndim > 1:
            raise ValueError(
                f"constraints: {argument} of {name} must hold {n_rows} numbers, got shape"
                f" {values.shape}"
            )
        if np.isnan(values).any():
            raise ValueError(
                f"constraints: {argument} of {name} must not be nan, got {values.tolist()}; use an"
                " infinite number"
            )
        sides.append(np.broadcast_to(values.reshape(-1), (n_rows,)).copy())
    wrong = (sides[0] > sides[1]) | (sides[0] == np.inf) | (sides[1] == -np.inf)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"constraints: {name} must have lb <= ub, got lb {sides[0][row]:g} and ub"
            f" {sides[1][row]:g} in row {row + 1}"
        )
    return sides[0], sides[1]
