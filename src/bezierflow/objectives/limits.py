"""Bounds and constraints in each form that users give them in, as two flat vectors and a feasible
set."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..arguments import shown
from ..bezier import Raveling
from ..kinds import kind
from ..names import numbered, read_texts
from .bridge import Bridge, Calls
from .feasible import Constraint, FeasibleSet
from .forms import Form, read_function
from .functions import Objectives, split_executor

Side = Float[np.ndarray, " n_variables"]

FORMS = (
    "give (lower, upper), each a number, an array or a pytree like x, or scipy.optimize.Bounds, or"
    " pairs (low, high)"
)


@dataclass(frozen=True)
class Bounds:
    """Bounds of x as they were read: flat float64 vectors in the user's units.

    Attributes:
        raveling: the form of x, without units.
        lower: −inf where there is no bound.
        upper: +inf where there is no bound.
    """

    raveling: Raveling
    lower: Side
    upper: Side


def read_bounds(
    bounds: object, raveling: Raveling | None = None, variables: Sequence[str] | None = None
) -> Bounds:
    """The bounds of x, or an error in one line. What was read before is returned as it is.

    Args:
        bounds: None; `(lower, upper)`, each a number, an array, a pytree like x or None;
            `scipy.optimize.Bounds`; or one pair `(low, high)` for each variable, with None for no
            bound. Where x has two variables, two entries of two numbers each are read the way that
            leaves more variables to vary, whatever holds them. Where both leave as many, a tuple
            of two lists is `(lower, upper)`, entries that hold None are pairs, and others are
            refused. Two arrays are always `(lower, upper)`. A variable with lower == upper is
            fixed; bounds that fix all of them are refused.
        raveling: the form of x; None where the bounds have to tell it.
        variables: their names in messages; x1, x2, … if not given.
    """
    if isinstance(bounds, Bounds):
        return bounds
    form = raveling_of_bounds(bounds) if raveling is None else raveling.plain
    if form is None:
        raise ValueError(
            f"bounds={bounds!r} do not tell how many variables there are: give (lower, upper) as"
            " arrays"
        )
    n, (lower, upper) = form.n_variables, _sides(bounds, form)
    if bounds is None:
        return Bounds(form, lower, upper)
    # those given may be too few, which is for the reader of names to say
    names = [*(variables or ()), *numbered("x", n)]
    for side, values in (("lower", lower), ("upper", upper)):
        if np.isnan(values).any():
            name = names[int(np.argmax(np.isnan(values)))]
            raise ValueError(
                f"bounds must be numbers, got {side} nan for {name}; give None or an infinite"
                " number for no bound"
            )
    wrong = (lower > upper) | (lower == np.inf) | (upper == -np.inf)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            f"bounds must have lower <= upper, got lower {lower[i]:g} and upper {upper[i]:g} for"
            f" {names[i]}; exchange them"
        )
    if (lower == upper).all():
        raise ValueError(
            f"bounds fix every variable (lower == upper = {lower.tolist()}); leave one of them free"
        )
    return Bounds(form, lower, upper)


def raveling_of_bounds(bounds: object, n_variables: int | None = None) -> Raveling | None:
    """The form of x that bounds alone tell: that of a pytree `lower`, else a vector; None where
    they do not tell its length."""
    sides, sizes = _parts(bounds), [] if n_variables is None else [n_variables]
    if len(sides) != 2:
        sizes.append(len(sides))
    else:
        for side in sides:
            if _is_tree(side):
                return Raveling.of(jax.tree.map(np.asarray, _without_none(side, -np.inf)))
            sizes += [np.size(side)] if np.ndim(side) else []
    return Raveling.of(np.zeros(sizes[0])) if sizes else None


def _parts(bounds: object) -> Sequence[PyTree]:
    """Lower and upper bounds, or a pair for each variable."""
    if bounds is None:
        return (None, None)
    from scipy.optimize import Bounds as SciPyBounds  # a third of a second that bounds alone need

    if isinstance(bounds, SciPyBounds):
        return (bounds.lb, bounds.ub)
    if not _is_sequence(bounds):
        raise TypeError(f"bounds must hold lower and upper bounds, got {bounds!r}; {FORMS}")
    return bounds if isinstance(bounds, list) else tuple(bounds)


def _sides(bounds: object, form: Raveling) -> tuple[Side, Side]:
    """Lower and upper bounds as flat vectors, from two sides or from pairs."""
    parts, n = _parts(bounds), form.n_variables
    is_matrix = isinstance(bounds, np.ndarray | jax.Array)
    if len(parts) != 2 or (n == 2 and _are_pairs(parts, is_matrix)):
        return _from_pairs(parts, n)
    lower, upper = parts
    return _side(lower, form, -np.inf, "lower bounds"), _side(upper, form, np.inf, "upper bounds")


def _are_pairs(bounds: Sequence[PyTree], is_matrix: bool) -> bool:
    """Whether two entries for two variables are pairs (low, high), and not lower and upper; an
    error where nobody knows which is meant."""
    if not all(_is_sequence(entry) and len(entry) == 2 for entry in bounds):
        return False
    entries = [*bounds[0], *bounds[1]]
    arrays = not is_matrix and all(isinstance(entry, np.ndarray | jax.Array) for entry in bounds)
    if arrays or max(map(np.ndim, entries)):  # or leaves of a pytree
        return False
    # two sides are two pairs of one low and one high each, the other way round
    as_sides, as_pairs = _from_pairs([*zip(*bounds, strict=True)], 2), _from_pairs(bounds, 2)
    sides, pairs = _n_varying(*as_sides), _n_varying(*as_pairs)
    if sides != pairs or sides == 0 or np.array_equal(as_sides, as_pairs):
        return pairs > sides
    return None in entries or _refuse_either(bounds)


def _refuse_either(bounds: Sequence[PyTree]) -> bool:
    """False for a tuple of two lists, which is (lower, upper) as it is written; an error for what
    may be two pairs as well."""
    if not (isinstance(bounds, tuple) and all(isinstance(entry, list) for entry in bounds)):
        raise ValueError(
            f"bounds {bounds!r} of two variables may be read as two pairs (low, high) or as lower"
            " and upper: give a tuple (lower, upper) of lists or arrays, or"
            " scipy.optimize.Bounds(lower, upper)"
        )
    return False


def _n_varying(lower: Side, upper: Side) -> int:
    """How many variables may vary; 0 where bounds are exchanged."""
    return int((lower < upper).sum()) if (lower <= upper).all() else 0


def _from_pairs(pairs: Sequence[PyTree], n: int) -> tuple[Side, Side]:
    if len(pairs) != n:
        raise ValueError(
            f"bounds must hold a pair (low, high) for each of the {n} variables, got {len(pairs)}"
            f" entries; {FORMS}"
        )
    for i, pair in enumerate(pairs):
        if not _is_sequence(pair) or len(pair) != 2:
            raise ValueError(
                f"bounds must hold pairs (low, high), got {pair!r} for variable {i + 1}; {FORMS}"
            )
    low = [-np.inf if pair[0] is None else pair[0] for pair in pairs]
    high = [np.inf if pair[1] is None else pair[1] for pair in pairs]
    return _numbers(low, "lower bounds"), _numbers(high, "upper bounds")


def _side(side: PyTree, form: Raveling, none: float, argument: str) -> Side:
    """One side as a flat vector: from None, a number, a pytree like x (whose leaves may be
    numbers), or L numbers."""
    n, side = form.n_variables, _without_none(side, none)
    leaves, treedef = jax.tree.flatten(side)
    if not form.is_vector and treedef == form.treedef:
        arrays = [_numbers(leaf, argument) for leaf in leaves]
        try:
            parts = map(np.broadcast_to, arrays, form.shapes)
            return np.concatenate([part.ravel() for part in parts])
        except ValueError:
            raise ValueError(
                f"{argument} must have leaves like x, {list(form.shapes)}, got shapes"
                f" {[leaf.shape for leaf in arrays]}"
            ) from None
    if _is_tree(side):
        raise ValueError(f"{argument} must be a pytree like x ({form}), got {treedef}; {FORMS}")
    numbers = _numbers(side, argument)
    if numbers.ndim == 0 or numbers.shape == (1,):
        return np.full(n, float(numbers.reshape(())))
    if numbers.shape != (n,):
        raise ValueError(
            f"{argument} must hold {n} numbers, one for each variable, got shape {numbers.shape};"
            f" {FORMS}"
        )
    return numbers


def _numbers(values: object, argument: str) -> np.ndarray:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{argument} must be numbers, got {values!r}; {FORMS}") from None


def _without_none(side: PyTree, none: float) -> PyTree:
    return jax.tree.map(
        lambda leaf: none if leaf is None else leaf, side, is_leaf=lambda leaf: leaf is None
    )


def _is_tree(side: PyTree) -> bool:
    """Whether this is a pytree of arrays and not an array, a number, None, or a plain sequence of
    numbers."""
    plain = isinstance(side, list | tuple)
    entries = side if plain else [side]
    return not all(
        entry is None or (jax.tree_util.all_leaves([entry]) and not (plain and np.ndim(entry)))
        for entry in entries
    )


def _is_sequence(value: object) -> TypeGuard[Sequence[PyTree]]:
    return isinstance(value, list | tuple) or (
        isinstance(value, np.ndarray | jax.Array) and value.ndim > 0
    )


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
    if split_executor(found.function)[1] is not None:
        raise ValueError(
            f"constraints: {name} has an executor; leave it out, since that of the objectives"
            " serves constraints too"
        )
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
    workers: Any = None,
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
    names = tuple(variables or numbered("x", raveling.n_variables))
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
    sides = _row_sides(given.lower, given.upper, n_rows, name)
    return Constraint(flat, *sides, names, given.unit)


def _row_sides(
    lower: object, upper: object, n_rows: int, name: str
) -> tuple[np.ndarray, np.ndarray]:
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
