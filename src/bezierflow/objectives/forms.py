"""What kind of function this is, found by looking at it once."""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr
from jaxtyping import Array, Float, PyTree

from ..bezier import Raveling
from ..precision import double_precision
from .bridge import Bridge
from .differences import Differences
from .functions import (
    HostRows,
    Joined,
    Objectives,
    Raveled,
    Rows,
    TorchFunction,
    TorchRows,
    Unraveled,
    as_vector,
    is_list_of_functions,
    is_torch_module,
    jax_rows,
    numbers_of,
    numpy_rows,
    values_of,
)

UNDIFFERENTIABLE = ("custom_vjp_call", "pure_callback", "io_callback", "ffi_call", "while")
"""JAX's primitives, by how their names begin, that may have no derivative, a first one only, or one
forwards only."""

Vector = Float[np.ndarray, " n_variables"]


class Form(NamedTuple):
    """A function of flat vectors that JAX can call, with what was found out about it."""

    of_x: Callable[[PyTree], Array]
    """The same as a function of x in the user's form."""
    flat: Callable[[Array], Array]
    n_rows: int
    found: str
    """The kind of function and where its derivatives come from, in words."""
    is_exact: bool
    """Whether all derivatives are exact up to rounding."""


class Place(NamedTuple):
    """Where a function is looked at, and what it is called in messages."""

    raveling: Raveling
    x: Vector
    lower: Vector
    upper: Vector
    name: str


def read_function(
    function: Any,
    raveling: Raveling,
    x: Vector,
    name: str,
    bounds: tuple[Vector, Vector] | None = None,
    twice: bool = True,
) -> Form:
    """The function in a form that JAX can call, or an error in one line.

    A JAX function stays as it is. `Objectives` with derivatives or vectorized, and any function
    that JAX cannot trace but that runs on NumPy arrays, goes over a bridge with derivatives of its
    own or by finite differences; so does a torch function, with torch's.

    Args:
        function: of x in the user's form, or a list of functions.
        raveling: that form.
        x: the flat vector at which it is looked at, within the bounds.
        name: of the argument, for messages.
        bounds: of the flat vector: finite differences keep to them.
        twice: whether a JAX function that JAX can only differentiate once gets its Hessians from
            differences.
    """
    anywhere = np.full(len(x), np.inf)
    place = Place(raveling, x, *(bounds or (-anywhere, anywhere)), name)
    # a problem may have them inside
    given = function if isinstance(function, Objectives) else getattr(function, "function", None)
    if isinstance(given, Objectives):
        if given.jac is not None or given.vectorized:
            return _numpy_form(given, place)
        return read_function(given.function, raveling, x, name, bounds, twice)
    if isinstance(function, TorchFunction):
        return _torch_form(function.function, place)
    if is_torch_module(function):
        return _torch_form(function, place)
    if not (callable(function) or is_list_of_functions(function)):
        raise TypeError(
            f"{name} must be a function x -> (M,), a list of functions, or a problem, got"
            f" {type(function).__name__}"
        )
    rows = cast(Rows, function if callable(function) else tuple(function))
    try:
        traced = _trace(rows, place)
    except Exception as error:
        return _untraceable_form(rows, place, error)
    return _jax_form(rows, *traced, place, twice)


def _trace(function: Rows, place: Place) -> tuple[ClosedJaxpr, PyTree, bool]:
    """JAX's program for the function of a flat vector, the shape of its values, and whether it
    returns an array by itself."""
    kinds: list[type] = []

    def flat(x: Array) -> PyTree:
        values = values_of(function, place.raveling.unravel(x))
        kinds.append(type(values))
        return as_vector(values)

    with double_precision():
        program, values = jax.make_jaxpr(flat, return_shape=True)(place.x)
    return program, values, kinds[-1] not in (list, tuple)


def _jax_form(
    function: Rows, program: ClosedJaxpr, values: PyTree, is_array: bool, place: Place, twice: bool
) -> Form:
    """A function that JAX has traced, if JAX and NumPy read it alike."""
    x = place.raveling.unravel(place.x.copy())
    try:
        # NumPy refuses an index beyond the end of x, which JAX takes for the last one. With a NumPy
        # array for x nothing is computed here but what NumPy computes by itself.
        with double_precision(), np.errstate(all="ignore"):
            jax.eval_shape(lambda: as_vector(values_of(function, x)))
    except IndexError as error:
        raise ValueError(
            f"{place.name} index x beyond its end: {error}; JAX would read the last entry instead"
        ) from error
    except Exception:  # a function of JAX's arrays alone, which has been traced already
        pass
    of_x: Callable[[PyTree], PyTree] = (
        function if is_array and callable(function) else Joined(function)
    )
    flat = of_x if place.raveling.is_vector else Raveled(of_x, place.raveling)
    form = Form(of_x, flat, check_shape(values, place.name), "a JAX function", True)
    doubtful = any(name.startswith(UNDIFFERENTIABLE) for name in _primitives(program.jaxpr))
    return _partly_differentiable(form, place, twice) if doubtful else form


def check_shape(values: PyTree, name: str) -> int:
    """M, if these are what a function may return: one vector of M floating-point values."""
    if not hasattr(values, "shape"):
        n = f" with {len(values)} entries" if hasattr(values, "__len__") else ""
        raise TypeError(
            f"{name} must return M numbers, as one array or a list, got {type(values).__name__}{n}"
        )
    if values.ndim == 0:
        raise ValueError(
            f"{name} must return a vector of M values, got a scalar; a single objective needs no"
            " Pareto set: use scipy.optimize.minimize, or return all objectives [f1, f2, ...]"
        )
    if values.ndim != 1 or values.shape[0] == 0:
        raise ValueError(
            f"{name} must return a vector of shape (M,) with M of at least 1, got shape"
            f" {values.shape}"
        )
    if not jnp.issubdtype(values.dtype, jnp.floating):
        raise TypeError(f"{name} must return floating-point values, got dtype {values.dtype}")
    return values.shape[0]


def _primitives(program: Jaxpr) -> Iterator[str]:
    """The names of all primitives of a program, inner programs included."""
    for equation in program.eqns:
        yield equation.primitive.name
        for parameter in jax.tree.leaves(
            list(equation.params.values()), is_leaf=lambda leaf: hasattr(leaf, "eqns")
        ):
            inner = getattr(parameter, "jaxpr", parameter)
            if hasattr(inner, "eqns"):
                yield from _primitives(inner)


def _partly_differentiable(form: Form, place: Place, twice: bool) -> Form:
    """A JAX function with parts that may have no derivatives: as many as JAX can compute,
    differences for the others."""
    flat = form.flat
    ways = (
        (2, False, lambda x: jax.jacfwd(jax.jacrev(flat))(x)),
        (2, True, lambda x: jax.jacfwd(jax.jacfwd(flat))(x)),
        (1, False, lambda x: jax.jacrev(flat)(x)),
        (1, True, lambda x: jax.jacfwd(flat)(x)),
        (0, False, lambda x: flat(x)),
    )
    for order, forwards, derivative in ways:
        try:
            with double_precision():
                jax.eval_shape(derivative, place.x)
        except Exception:  # JAX has no one error for "this cannot be differentiated"
            continue
        if order >= (2 if twice else 1) and not forwards:
            break
        given = ("", " and its gradients", ", differentiated forwards")[order]
        rows = jax_rows(flat, order, forwards)
        kind = f"a JAX function{given}"
        return _bridged_form(rows, form.n_rows, order, kind, form.of_x, place)
    return form


def _untraceable_form(function: Rows, place: Place, error: Exception) -> Form:
    """A function that JAX cannot trace: on the host if it runs there, with torch if it wants
    tensors, else JAX's error."""
    readings = [partial(_numpy_form, Objectives(function)), partial(_torch_form, function)]
    failures: list[Exception] = []
    for read in readings if "torch" in sys.modules else readings[:1]:
        try:
            form = read(place)
        except Exception as failure:
            failures.append(failure)
            continue
        if isinstance(error, jax.errors.TracerBoolConversionError):
            advice = "; it branches on x: with jnp.where JAX could differentiate it"
            return form._replace(found=form.found + advice)
        return form
    # JAX's own complaint about a tracer says nothing to somebody who writes NumPy
    is_jax = isinstance(error, jax.errors.JAXTypeError)
    telling = failures[0] if is_jax else failures[-1]
    if is_jax or str(telling).startswith(place.name):
        raise _in_one_line(telling) from telling
    shapes = list(place.raveling.shapes)
    shown = shapes if len(shapes) > 1 else shapes[0]
    raise _in_one_line(error, f"{place.name} failed for x of shape {shown}: ") from error


def _in_one_line(error: Exception, before: str = "") -> Exception:
    """The same kind of error with the first line of its message; one of the user's own kind is left
    as it is."""
    if type(error).__module__ != "builtins" or isinstance(error, UnicodeError | OSError):
        return error
    return type(error)(before + str(error).strip().split("\n")[0])


def _numpy_form(given: Objectives, place: Place) -> Form:
    raveling = place.raveling
    if given.jac is not None and not raveling.plain.is_vector:
        raise ValueError(f"jac goes with an x0 that is one vector, got x0 with {raveling}")
    x = raveling.unravel(place.x[None].copy() if given.vectorized else place.x.copy())
    with np.errstate(all="ignore"), double_precision():
        values = numbers_of(given.function, x, -1)
    if given.vectorized:
        if values.ndim != 2 or len(values) != 1:
            raise ValueError(
                f"{place.name} with vectorized=True must return shape (n, M) for x of shape (n, L),"
                f" got {values.shape} for n=1"
            )
        values = values[0]
    n_rows = check_shape(values, place.name)
    order = 0 if given.jac is None else 1 if given.hess is None else 2
    rows = partial(numpy_rows, given, raveling, n_rows)
    for k in range(1, order + 1):
        rows(k, place.x[None])  # a wrong shape is an error now, not inside of a run
    kind = "a NumPy function" + ("", " with jac", " with jac and hess")[order]
    return _bridged_form(rows, n_rows, order, kind, given.function, place)


def _torch_form(function: PyTree, place: Place) -> Form:
    rows = TorchRows(function, place.raveling)
    values = rows.one(rows.torch.as_tensor(place.x)).detach().numpy()
    n_rows, kind = check_shape(values, place.name), "a torch function, differentiated by torch"
    return _bridged_form(rows, n_rows, 2, kind, function, place)


def _bridged_form(
    rows: HostRows, n_rows: int, order: int, kind: str, original: object, place: Place
) -> Form:
    """A function on the host, with differences for the derivatives that it lacks."""
    differences = Differences.around(place.x, place.lower, place.upper)
    if order < 2:
        differences = differences.measured(partial(rows, 0), place.x)
        what = "Hessians" if order == 1 else "derivatives"
        kind += (
            f"; {what} by finite differences (relative noise of the values {differences.noise:.0e})"
        )
    bridge = Bridge(rows, n_rows, order, differences, original)
    is_vector = place.raveling.is_vector
    of_x = bridge if is_vector else Unraveled(bridge, place.raveling, original)
    return Form(of_x, bridge, n_rows, kind, order == 2)
