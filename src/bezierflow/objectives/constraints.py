"""From the bounds and constraints that a user gives to a feasible set."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..arguments import shown
from ..bezier import Raveling
from ..kinds import kind
from ..names import read_texts
from .bounds import read_bounds
from .bridge import Bridge
from .calls import Calls, Workers
from .feasible import Constraint, FeasibleSet
from .forms import Form, read_function
from .functions import Objectives

KINDS = (
    "give a LinearConstraint or NonlinearConstraint of scipy.optimize, a function g meaning g(x) <="
    " 0, bf.constraint(g, ...), or a list of them"
)


@dataclass(frozen=True)
class NamedConstraint:
    """What `constraint` makes of a constraint in any other form: `given`, with its sides where it
    is a function, with the names of its rows and their unit."""

    given: object
    lower: object
    upper: object
    names: tuple[str, ...]
    unit: str


def constraint(
    g: object,
    *,
    name: str | Sequence[str],
    unit: str = "",
    lower: object = None,
    upper: object = None,
) -> NamedConstraint:
    """A constraint with a name and a unit, by which pages, plots, messages and multipliers call it:
    `bf.constraint(stress, name="stress", unit="MPa", upper=250)`.

    Args:
        g: a function, or a `LinearConstraint` or `NonlinearConstraint` of SciPy.
        name: its name; for several rows a name for each, or one for all.
        unit: of its values, for people.
        lower: lower <= g(x), a number or one per row, where g is a function; None for no such side.
        upper: g(x) <= upper, likewise. Without either, g(x) <= 0.
    """
    names = (name,) if isinstance(name, str) else name
    if not isinstance(names, Sequence) or not names or not all(names):
        raise ValueError(f"name must be a text, or one for each row, got {shown(name)}")
    read_texts((*names, unit), "name and unit")
    if not callable(g) and (lower is not None or upper is not None):
        raise ValueError(
            f"lower and upper go with a function; {type(g).__name__} has sides of its own"
        )
    return NamedConstraint(g, lower, upper, tuple(names), unit)


@kind("objectives.linear/1")
class Linear(eqx.Module):
    """x -> A x."""

    A: Float[np.ndarray, "n_rows n_variables"]

    def __call__(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_rows"]:
        """A x."""
        return jnp.asarray(self.A) @ x


class AtLeastOne(eqx.Module):
    """A user's function whose value may be a scalar, as one with rows."""

    function: Callable[[PyTree], PyTree]

    def __call__(self, x: PyTree) -> PyTree:
        """Its value, a scalar as one row."""
        value = self.function(x)
        return [value] if not isinstance(value, list | tuple) and np.ndim(value) == 0 else value


def feasible_set(
    bounds: object,
    constraints: object,
    raveling: Raveling | int,
    variables: Sequence[str] | None = None,
    x: Float[np.ndarray, " n_variables"] | None = None,
    workers: Workers | None = None,
) -> FeasibleSet:
    """The feasible set of bounds and constraints in the forms that users give.

    Args:
        bounds: in any form that `read_bounds` reads, or what it has read.
        constraints: None, one of these, or a list of them: `scipy.optimize.LinearConstraint` on the
            flat vector, `scipy.optimize.NonlinearConstraint`, or a function g meaning g(x) <= 0,
            scalar or vector; or one of these with a name, made by `constraint`. Rows with equal
            sides are equalities. Functions are in JAX, or in any
            other form that objectives may have (see `read_function`). The `jac` of a
            `NonlinearConstraint` is used where it is a function and `fun` is not in JAX; `hess` and
            `keep_feasible` never.
        raveling: the form of x: how it lies in a flat vector, or L where x is a vector.
        variables: their names in messages; x1, x2, … if not given.
        x: a flat vector at which constraints are looked at; the center of the box if not given.
        workers: who calls functions that run on the host.
    """
    raveling = Raveling.of(np.zeros(raveling)) if isinstance(raveling, int) else raveling
    names = tuple(variables or (f"x{i + 1}" for i in range(raveling.n_variables)))
    found = read_bounds(bounds, raveling, names)
    sides = found.lower / raveling.units, found.upper / raveling.units
    box = FeasibleSet(*sides, (), names, raveling.scale)
    if constraints is None:
        return box
    listed = constraints if isinstance(constraints, list | tuple) else (constraints,)
    place = box.center() if x is None else np.asarray(box.clip(x))

    def read(function: Callable, name: str) -> Form:
        calls = Calls(workers=workers)
        return read_function(function, raveling, place, f"constraints: {name}", sides, calls=calls)

    rows = [_read(one, f"constraint {i + 1}", raveling, read) for i, one in enumerate(listed)]
    return FeasibleSet(*sides, tuple(rows), names, raveling.scale)


def _read(
    given: object, name: str, raveling: Raveling, read: Callable[[Callable, str], Form]
) -> Constraint:
    """A constraint on the flat vector, with the names, the unit and the sides that the user gave
    it, if any; or an error in one line."""
    if not isinstance(given, NamedConstraint):
        return _read_plain(given, name, raveling, read)
    names = given.names
    found = _read_plain(given.given, names[0], raveling, read)
    n = len(found.lower)
    if len(names) not in (1, n):
        raise ValueError(
            f"constraints: name must be one text, or one for each of {n} rows, got {shown(names)}"
        )
    sides = found.lower, found.upper
    if given.lower is not None or given.upper is not None:
        low = -np.inf if given.lower is None else given.lower
        high = np.inf if given.upper is None else given.upper
        sides = _sides(low, high, n, names[0])
    return Constraint(found.function, *sides, names, given.unit)


def _read_plain(
    constraint: object, name: str, raveling: Raveling, read: Callable[[Callable, str], Form]
) -> Constraint:
    """A constraint on the flat vector, or an error in one line."""
    from scipy.optimize import LinearConstraint, NonlinearConstraint

    if isinstance(constraint, LinearConstraint):
        # SciPy takes sparse matrices, too
        dense = getattr(constraint.A, "toarray", lambda: constraint.A)
        A = np.atleast_2d(np.asarray(dense(), dtype=np.float64))
        if A.shape[1] != raveling.n_variables:
            raise ValueError(
                f"constraints: the matrix of {name} must have {raveling.n_variables} columns, got"
                f" shape {A.shape}"
            )
        if not np.isfinite(A).all():
            raise ValueError(f"constraints: the matrix of {name} must be finite, got {A.tolist()}")
        sides = _sides(constraint.lb, constraint.ub, len(A), name)
        return Constraint(Linear(A * raveling.units), *sides, (name,))
    if isinstance(constraint, dict):
        raise TypeError(
            f"constraints: {name} is a dict, whose 'ineq' means fun(x) >= 0, against the sign used"
            f" here; {KINDS}"
        )
    nonlinear = isinstance(constraint, NonlinearConstraint)
    function = constraint.fun if nonlinear else constraint
    if not callable(function):
        raise TypeError(f"constraints: {name} is {constraint!r}; {KINDS}")
    if isinstance(function, Objectives):
        form = read(function, name)
    else:
        form = read(AtLeastOne(function), name)
        # JAX needs no Jacobian of the user's
        if nonlinear and callable(constraint.jac) and isinstance(form.flat, Bridge):
            form = read(Objectives(AtLeastOne(function), constraint.jac), name)
    lower, upper = (constraint.lb, constraint.ub) if nonlinear else (-np.inf, 0.0)
    return Constraint(form.flat, *_sides(lower, upper, form.n_rows, name), (name,))


def _sides(lower: object, upper: object, n_rows: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The sides lb and ub, one number per row, or an error in one line."""
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
        # a copy, since what broadcasts cannot be written to
        sides.append(np.broadcast_to(values.reshape(-1), (n_rows,)).copy())
    low, high = sides
    wrong = (low > high) | (low == np.inf) | (high == -np.inf)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"constraints: {name} must have lb <= ub, got lb {low[row]:g} and ub {high[row]:g} in"
            f" row {row + 1}"
        )
    return low, high
