"""What kind of function this is, found by looking at it once."""

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr
from jaxtyping import Array, Float, PyTree

from ..arguments import UnknownName
from ..bezier import Raveling
from ..interrupts import BudgetSpentError
from ..jaxprs import operations
from ..precision import double_precision
from .bridge import Bridge, Calls, HostRows, Points
from .differences import Differences
from .functions import (
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
from .numpy_tracing import NumPyProgram
from .schedule import SCHEDULE
from .traced_array import NotTraceableError, SideEffectError

UNDIFFERENTIABLE = ("custom_vjp_call", "pure_callback", "io_callback", "ffi_call", "while")
"""JAX's primitives, by how their names begin, that may have no derivative, a first one only, or one
forwards only."""

BREAKS = (
    *("floor", "ceil", "round", "sign", "select", "sort", "arg", "rem", "convert_element_type"),
    *("div", "log", "rsqrt", "pow", "tan", "pure_callback", "io_callback", "ffi_call", "while"),
)
"""Likewise those with jumps or poles."""

EDGES = ("sqrt", "asin", "acos", "acosh", "atanh")
"""Likewise others with places without values."""

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
    own_rules: bool = False
    """Whether JAX differentiates it by custom rules."""


class Place(NamedTuple):
    """Where a function is looked at, and what it is called in messages."""

    raveling: Raveling
    x: Vector
    lower: Vector
    upper: Vector
    name: str
    twice: bool
    calls: Calls
    known: Differences | None


def read_function(  # noqa: PLR0913
    function: Any,
    raveling: Raveling,
    x: Vector,
    name: str,
    bounds: tuple[Vector, Vector] | None = None,
    twice: bool = True,
    calls: Calls | None = None,
    known: Differences | None = None,
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
        calls: counts the calls of a function on the host, and limits them.
        known: how differences were made of the same function in other units, with scales in these
            units: it was looked at already.
    """
    anywhere = np.full(len(x), np.inf)
    sides = bounds or (-anywhere, anywhere)
    place = Place(raveling, x, *sides, name, twice, calls or Calls(), known)
    # a problem may have them inside
    given = function if isinstance(function, Objectives) else getattr(function, "function", None)
    if isinstance(given, Objectives):
        if given.jac is not None or given.vectorized:
            return _numpy_code_form(given, place)
        return read_function(given.function, raveling, x, name, bounds, twice, calls, known)
    if isinstance(function, TorchFunction):
        return _torch_form(function.function, place)
    if is_torch_module(function):
        return _torch_form(function, place)
    if not (callable(function) or is_list_of_functions(function)):
        raise TypeError(
            f"{name} must be a function x -> (M,), a list or dict of functions, or a problem,"
            f" got {type(function).__name__}"
        )
    return _python_form(cast(Rows, function if callable(function) else tuple(function)), place)


def _python_form(rows: Rows, place: Place) -> Form:
    """A JAX function if JAX traces it, else one of NumPy's or torch's."""
    programs = _numpy_programs(Objectives(rows))
    if not any(program.uses_jax for program in programs):
        # first, since JAX would call the function itself with its tracers: one that counts its
        # calls, as NumPy code may, must be called each time
        try:
            _trace(programs, place)
        except SideEffectError as effect:
            return _numpy_form(Objectives(rows), place, str(effect))
        except (Exception, NotTraceableError):  # whatever else is wrong shows below
            pass
    try:
        traced = _trace(rows, place)
    except Exception as error:
        return _untraceable_form(rows, place, error)
    return _jax_form(rows, *traced, place)


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
    return program, values, not issubclass(kinds[-1], list | tuple)


def _jax_form(
    function: Rows, program: ClosedJaxpr, values: PyTree, is_array: bool, place: Place
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
    names = [*operations(program)]
    rules = any(name.startswith("custom_") for name in names)
    form = Form(
        of_x, flat, check_shape(values, place.name), "a function that JAX traces", True, rules
    )
    doubtful = any(name.startswith(UNDIFFERENTIABLE) for name in names)
    return _partly_differentiable(form, place) if doubtful else form


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


def can_break(flat: Callable[[Array], Array], n_variables: int, at_edges: bool = False) -> bool:
    """Whether a function may jump or have poles, or no values: it runs on the host, or has
    operations that do."""
    with double_precision():
        program = jax.make_jaxpr(lambda x: flat(x))(np.zeros(n_variables))
    names = (*BREAKS, *(EDGES if at_edges else ()))
    return any(name.startswith(names) for name in operations(program))


def _partly_differentiable(form: Form, place: Place) -> Form:
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
        if order >= (2 if place.twice else 1) and not forwards:
            break
        given = ("", " and its gradients", ", differentiated forwards")[order]
        rows = jax_rows(flat, order, forwards, place.calls)
        kind = f"a function that JAX traces{given}"
        return _bridged_form(rows, form.n_rows, order, kind, form.of_x, place)
    return form


def _numpy_programs(given: Objectives) -> tuple[NumPyProgram, ...]:
    function = given.function
    listed = (function,) if callable(function) else function
    return tuple(NumPyProgram(one, given.vectorized) for one in listed)


def _numpy_code_form(given: Objectives, place: Place) -> Form:
    """A NumPy function: traced by JAX if it can be and the two agree, else as it is."""
    if given.jac is not None:  # what its user wants to be called
        return _numpy_form(given, place)
    # an error of the function itself is the user's to see, before anything is said of tracing
    n_rows = _count_rows(given, place)
    try:
        programs = _numpy_programs(given)
        rows = programs[0] if callable(given.function) else programs
        program, values, is_array = _trace(rows, place)
        n_operations = sum(1 for _ in operations(program))
        if n_operations > SCHEDULE.most_operations:
            raise NotTraceableError(
                f"its loops are {n_operations} operations in a row, too many to compile"
            )
        form = _jax_form(rows, program, values, is_array, place)
        if place.known is None:
            original = partial(numpy_rows, given, place.raveling, form.n_rows, place.calls, 0)
            _compare(form, original, place)
    except NotTraceableError as reason:
        return _numpy_form(given, place, str(reason), n_rows)
    except BudgetSpentError:
        raise
    except Exception as error:
        why = f"it cannot be compiled ({_first_line(error)})"
        return _numpy_form(given, place, why, n_rows)
    exact = "differentiated exactly by JAX" if form.is_exact else form.found
    return form._replace(found=f"a NumPy function, {exact}")


def _compare(form: Form, original: Callable[[Points], np.ndarray], place: Place) -> None:
    """Raises where a traced function and its original differ: in values at points all over the box,
    and in slopes at a few of them."""
    rng, n, slopes = np.random.default_rng(0), SCHEDULE.compared, SCHEDULE.compared_slopes
    share = SCHEDULE.probes_share
    while n > 2 and not place.calls.affords(n + 1 + 2 * slopes, share):
        n, slopes = n // 2, min(slopes, n // 2) // 2
    width = place.upper - place.lower
    scale = np.where(np.isfinite(width), width, np.maximum(1.0, np.abs(place.x)))
    low = np.where(np.isfinite(width), place.lower, place.x - scale / 2)
    # a little inside, so that a difference has room
    inside = 0.01 + 0.98 * rng.random((n, len(place.x)))
    points = np.clip(low + scale * inside, place.lower, place.upper)
    points[0] = place.x
    expected = original(points)
    if not np.array_equal(expected[:1], original(points[:1]), equal_nan=True):
        raise NotTraceableError("two calls at the same x differ")
    u = rng.normal(size=points.shape)
    with double_precision():
        tangents = jax.jit(jax.vmap(lambda x, v: jax.jvp(form.flat, (x,), (v,))))
        values, rates = (np.asarray(part) for part in tangents(points, scale * u))
    finite = np.isfinite(expected)
    size = np.abs(expected).max(axis=0, initial=0.0, where=finite)
    near = np.abs(np.where(finite, values - expected, 0.0)) <= SCHEDULE.compared_values * size
    if not (near & (np.isfinite(values) == finite)).all():
        raise NotTraceableError("its values differ from those that JAX computes")
    # at the first points after x, which may lie on a bound
    some, h = slice(1, slopes + 1), SCHEDULE.compared_step
    ahead, behind = (original(points[some] + side * h * scale * u[some]) for side in (1, -1))
    slope, rounding = (ahead - behind) / (2 * h), SCHEDULE.compared_values * size / h
    error = np.abs(rates[some] - slope) - rounding
    known = np.isfinite(slope)
    right = ~known | (error <= SCHEDULE.compared_rates * (np.abs(slope) + size))
    # one of them may lie on a kink
    if right.all(axis=1).sum() < slopes - 1:
        raise NotTraceableError("its slopes differ from those that JAX computes")


def _untraceable_form(function: Rows, place: Place, error: Exception) -> Form:
    """A function that JAX cannot trace: as NumPy code if it runs on NumPy's arrays, with torch if
    it wants tensors, else JAX's error."""
    readings = [partial(_numpy_code_form, Objectives(function)), partial(_torch_form, function)]
    failures: list[Exception] = []
    for read in readings if "torch" in sys.modules else readings[:1]:
        try:
            return read(place)
        except Exception as failure:
            failures.append(failure)
    # JAX's own complaint about a tracer says little about code written for NumPy
    is_jax = isinstance(error, jax.errors.JAXTypeError)
    telling = failures[0] if is_jax else failures[-1]
    if isinstance(error, UnknownName):
        raise UnknownName(f"{place.name}: {error}") from error
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
    return type(error)(before + _first_line(error))


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]


def _count_rows(given: Objectives, place: Place) -> int:
    """M, of a call at one point; an error if it does not return M numbers."""
    x = place.raveling.unravel(place.x[None].copy() if given.vectorized else place.x.copy())
    limit, least = place.calls.limit, SCHEDULE.least_budget
    if limit is not None and limit < least:
        raise ValueError(
            f"budget must be at least {least} for a function that JAX does not trace by itself,"
            f" which is looked at first, got {limit}"
        )
    place.calls.add(0, 1)
    began = time.monotonic()
    with np.errstate(all="ignore"), double_precision():
        values = numbers_of(given.function, x, -1)
    place.calls.seconds = time.monotonic() - began
    if given.vectorized:
        if values.ndim != 2 or len(values) != 1:
            raise ValueError(
                f"{place.name} with vectorized=True must return shape (n, M) for x of shape (n, L),"
                f" got {values.shape} for n=1"
            )
        values = values[0]
    n_rows = check_shape(values, place.name)
    place.calls.first = place.x, values
    return n_rows


def _numpy_form(given: Objectives, place: Place, why: str = "", n_rows: int | None = None) -> Form:
    """A NumPy function as it is; `why` JAX does not trace it."""
    raveling = place.raveling
    if given.jac is not None and not raveling.plain.is_vector:
        raise ValueError(f"jac goes with an x0 that is one vector, got x0 with {raveling}")
    n_rows = _count_rows(given, place) if n_rows is None else n_rows
    order = 0 if given.jac is None else 1 if given.hess is None else 2
    if given.vectorized and place.calls.workers is not None:
        raise ValueError(
            f"executor does not go with {place.name} that take all points at once"
            " (vectorized=True, and problems of pymoo): leave it out, and spread the points inside"
        )
    rows = partial(numpy_rows, given, raveling, n_rows, place.calls)
    for k in range(1, order + 1):
        rows(k, place.x[None])  # a wrong shape is an error now, not inside of a run
    kind = "a NumPy function" + ("", " with jac", " with jac and hess")[order]
    kind += f", as it is: {why}" if why else ""
    return _bridged_form(rows, n_rows, order, kind, given.function, place)


def _torch_form(function: PyTree, place: Place) -> Form:
    rows = TorchRows(function, place.raveling, place.calls)
    values = rows.one(rows.torch.as_tensor(place.x)).detach().numpy()
    n_rows, kind = check_shape(values, place.name), "a torch function, differentiated by torch"
    return _bridged_form(rows, n_rows, 2, kind, function, place)


def _bridged_form(
    rows: HostRows, n_rows: int, order: int, kind: str, original: object, place: Place
) -> Form:
    """A function on the host, with differences for the derivatives that it lacks."""
    differences = Differences.around(place.x, place.lower, place.upper)
    if order < 2:
        line, share = SCHEDULE.noise_points * len(SCHEDULE.noise_steps), SCHEDULE.probes_share
        if place.known is not None:
            differences = replace(differences, scale=place.known.scale, noise=place.known.noise)
        elif place.calls.affords(2 * line + 4 * len(place.x) + 2, share):
            differences = differences.measured(partial(rows, 0), place.x)
        elif place.calls.affords(SCHEDULE.noise_points, share):  # mostly the first step is enough
            differences = differences.with_noise(partial(rows, 0), place.x)
        what = "Hessians" if order == 1 else "derivatives"
        kind += (
            f"; {what} by finite differences (relative noise of the values {differences.noise:.0e})"
        )
    bridge = Bridge(rows, n_rows, order, differences, original, place.calls)
    is_vector = place.raveling.is_vector
    of_x = bridge if is_vector else Unraveled(bridge, place.raveling, original)
    return Form(of_x, bridge, n_rows, kind, order == 2)
