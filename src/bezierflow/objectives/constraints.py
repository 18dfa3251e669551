"""From the bounds and constraints that a user gives to a feasible set."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

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
class Limit:
    """lower <= c(x) <= upper, as its user gave it.

    Attributes:
        function: c, of x in the user's form; None for a linear one.
        matrix: A of a linear one, A x of the flat vector x.
        lower: a number, or one per row; −inf for no such side.
        upper: likewise; +inf for none.
        jac: of the function, where its user has one.
        names: of the rows, or one for all; empty where they have none.
        unit: of c(x).
    """

    function: Any
    matrix: Float[np.ndarray, "n_rows n_variables"] | None = None
    lower: Any = -np.inf
    upper: Any = 0.0
    jac: Callable[..., Any] | None = None
    names: tuple[str, ...] = ()
    unit: str = ""


def read_constraints(constraints: object) -> list[Limit]:
    """Constraints in any form that users give, or an error in one line; see `feasible_set`."""
    listed = constraints if isinstance(constraints, list | tuple) else (constraints,)
    rows = () if constraints is None else listed
    return [_limit(one, f"constraint {i + 1}") for i, one in enumerate(rows)]


def _limit(given: object, name: str) -> Limit:
    from scipy.optimize import LinearConstraint, NonlinearConstraint

    if isinstance(given, Limit):
        return given
    if isinstance(given, LinearConstraint):
        # SciPy takes sparse matrices, too
        dense = getattr(given.A, "toarray", lambda: given.A)
        return Limit(None, np.atleast_2d(np.asarray(dense(), dtype=float)), given.lb, given.ub)
    if isinstance(given, dict):
        raise TypeError(
            f"constraints: {name} is a dict, whose 'ineq' means fun(x) >= 0, against the sign used"
            f" here; {KINDS}"
        )
    found = Limit(given)
    if isinstance(given, NonlinearConstraint):
        jac = given.jac if callable(given.jac) else None
        found = Limit(given.fun, None, given.lb, given.ub, jac)
    if not callable(found.function):
        raise TypeError(f"constraints: {name} is {given!r}; {KINDS}")
    return found


def constraint(
    g: object,
    *,
    name: str | Sequence[str],
    unit: str = "",
    lower: object = None,
    upper: object = None,
) -> Limit:
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
    found = replace(_limit(g, names[0]), names=tuple(names), unit=unit)
    if lower is None and upper is None:
        return found
    low, high = -np.inf if lower is None else lower, np.inf if upper is None else upper
    return replace(found, lower=low, upper=high)


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
    place = box.center() if x is None else np.asarray(box.clip(x))

    def read(function: Callable, name: str) -> Form:
        calls = Calls(workers=workers)
        return read_function(function, raveling, place, f"constraints: {name}", sides, calls=calls)

    listed = enumerate(read_constraints(constraints), 1)
    rows = [_constraint(one, f"constraint {i}", raveling, read) for i, one in listed]
    return FeasibleSet(*sides, tuple(rows), names, raveling.scale)


def _constraint(
    given: Limit, name: str, raveling: Raveling, read: Callable[[Any, str], Form]
) -> Constraint:
    """A constraint on the flat vector, or an error in one line."""
    names = given.names or (name,)
    name, A = names[0], given.matrix
    if A is not None:
        if A.shape[1] != raveling.n_variables:
            raise ValueError(
                f"constraints: the matrix of {name} must have {raveling.n_variables} columns, got"
                f" shape {A.shape}"
            )
        if not np.isfinite(A).all():
            raise ValueError(f"constraints: the matrix of {name} must be finite, got {A.tolist()}")
        flat, n_rows = Linear(A * raveling.units), len(A)
    else:
        is_wrapped = isinstance(given.function, Objectives)
        form = read(given.function if is_wrapped else AtLeastOne(given.function), name)
        # JAX needs no Jacobian of the user's
        if given.jac is not None and not is_wrapped and isinstance(form.flat, Bridge):
            form = read(Objectives(AtLeastOne(given.function), given.jac), name)
        flat, n_rows = form.flat, form.n_rows
    if len(names) not in (1, n_rows):
        raise ValueError(
            f"constraints: name must be one text, or one for each of {n_rows} rows, got"
            f" {shown(names)}"
        )
    sides = _sides(given.lower, given.upper, n_rows, name)
    return Constraint(flat, *sides, names, given.unit)


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
