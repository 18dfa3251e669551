"""What kind of function this is, found by looking at it once."""

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
from .host import Objectives, Rows, TorchFunction, is_list_of_functions
from .raveled import Joined, Raveled, Unraveled, as_vector
from .source import AbstractSource
from .sources import HostSource, JaxSource, stacked
from .torch_source import TorchSource, is_torch_module, torch_is_here

UNDIFFERENTIABLE = ("custom_vjp_call", "pure_callback", "io_callback", "ffi_call", "while")
"""JAX's primitives, by how their names begin, that may have no derivative, a first one only, or one
forwards only."""


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


class Domain(NamedTuple):
    """Where a function is looked at: at x, with lengths over which the variables vary, within
    bounds."""

    x: Float[np.ndarray, " n_variables"]
    scale: Float[np.ndarray, " n_variables"]
    lower: Float[np.ndarray, " n_variables"]
    upper: Float[np.ndarray, " n_variables"]


def domain_around(x: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Domain:
    """Where a function is looked at, with guesses for the scales: the distance of the bounds, else
    |x|, else 1."""
    width = upper - lower
    scale = np.where(np.isfinite(width) & (width > 0), width, np.where(x != 0, np.abs(x), 1.0))
    return Domain(x, scale, np.where(width > 0, lower, -np.inf), np.where(width > 0, upper, np.inf))


def read_function(
    function: Any, raveling: Raveling, domain: Domain, name: str, twice: bool = True
) -> Form:
    """The function in a form that JAX can call, or an error in one line.

    A JAX function stays as it is. `Objectives` with derivatives or vectorized, and any function
    that JAX cannot trace but that runs on NumPy arrays, goes over a
    bridge with derivatives of its own or by finite differences; so does a torch function, with
    torch's.

    Args:
        function: of x in the user's form, or a list of functions.
        raveling: that form.
        domain: where it is looked at.
        name: of the argument, for messages.
        twice: whether a JAX function that JAX can only differentiate once gets its Hessians from
            differences.
    """
    declared = _declared_form(function, raveling, domain, name, twice)
    if declared is not None:
        return declared
    if not (callable(function) or is_list_of_functions(function)):
        raise TypeError(
            f"{name} must be a function x -> (M,), a list of functions, or a problem, got"
            f" {type(function).__name__}"
        )
    rows = cast(Rows, function)
    joined = Joined(tuple(rows) if is_list_of_functions(rows) else rows)
    try:
        program, values, is_array = _traced(joined, raveling, domain.x)
    except Exception as error:
        return _untraceable(rows, raveling, domain, name, error)
    _check_indices(joined, raveling, domain.x, name)
    of_x: Callable[[PyTree], PyTree] = rows if is_array and callable(rows) else joined
    form = Form(
        of_x,
        of_x if raveling.is_vector else Raveled(of_x, raveling),
        check_shape(values, name),
        "a JAX function",
        True,
    )
    return (
        _partly_differentiable(form, raveling, domain, twice)
        if _is_doubtful(program.jaxpr)
        else form
    )


def _declared_form(
    function: object, raveling: Raveling, domain: Domain, name: str, twice: bool
) -> Form | None:
    """A function that says itself where it runs, also inside of a `Problem`; None for any other."""
    host = function if isinstance(function, Objectives) else getattr(function, "function", None)
    if isinstance(host, Objectives):
        return (
            read_function(host.function, raveling, domain, name, twice)
            if host.is_plain
            else _host_form(host, raveling, domain, name)
        )
    if isinstance(function, TorchFunction):
        return _torch_form(function.function, raveling, domain, name)
    return _torch_form(function, raveling, domain, name) if is_torch_module(function) else None


def _is_doubtful(program: Jaxpr) -> bool:
    """Whether a program has parts that JAX may not be able to differentiate twice."""
    return any(primitive.startswith(UNDIFFERENTIABLE) for primitive in _primitives(program))


def _traced(
    function: Joined, raveling: Raveling, x: np.ndarray
) -> tuple[ClosedJaxpr, PyTree, bool]:
    """JAX's program for the function of a flat vector, the shape of its values, and whether it
    returns an array by itself."""
    kinds: list[type] = []

    def flat(x: Array) -> PyTree:
        values = function.values(raveling.unravel(x))
        kinds.append(type(values))
        return as_vector(values)

    with double_precision():
        program, values = jax.make_jaxpr(flat, return_shape=True)(x)
    return program, values, kinds[-1] not in (list, tuple)


def _check_indices(function: Joined, raveling: Raveling, x: np.ndarray, name: str) -> None:
    """Raises for an index beyond the end of x, which NumPy refuses and JAX takes for the last one.

    The function is traced with a NumPy array for x: nothing is computed but what NumPy computes by
    itself.
    """
    try:
        with double_precision(), np.errstate(all="ignore"):
            jax.eval_shape(lambda: as_vector(function.values(raveling.unravel(x.copy()))))
    except IndexError as error:
        raise ValueError(
            f"{name} index x beyond its end: {error}; JAX would read the last entry instead"
        ) from error
    except Exception:  # a function of JAX's arrays alone, which has been traced already
        return


def check_shape(values: PyTree, name: str) -> int:
    """M, if these are what a function may return: one vector of M floating-point values."""
    if not hasattr(values, "shape"):
        got = type(values).__name__ + (
            f" with {len(values)} entries" if hasattr(values, "__len__") else ""
        )
        raise TypeError(f"{name} must return M numbers, as one array or a list, got {got}")
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


def _partly_differentiable(form: Form, raveling: Raveling, domain: Domain, twice: bool) -> Form:
    """A JAX function with parts that may have no derivatives: as many as JAX can compute,
    differences for the others."""
    ways = (
        (2, False, lambda x: jax.jacfwd(jax.jacrev(form.flat))(x)),
        (2, True, lambda x: jax.jacfwd(jax.jacfwd(form.flat))(x)),
        (1, False, lambda x: jax.jacrev(form.flat)(x)),
        (1, True, lambda x: jax.jacfwd(form.flat)(x)),
    )
    order, forwards = next(
        ((order, forwards) for order, forwards, way in ways if _traces(way, domain.x)), (0, False)
    )
    if order >= (2 if twice else 1) and not forwards:
        return form
    given = ("", " and its gradients", ", differentiated forwards")[order]
    source = JaxSource(form.flat, form.n_rows, order, forwards)
    return _bridged(source, raveling, domain, "a JAX function" + given, form.of_x)


def _traces(function: Callable[[Array], Array], x: np.ndarray) -> bool:
    try:
        with double_precision():
            jax.eval_shape(function, x)
    except Exception:  # JAX has no one error for "this cannot be differentiated"
        return False
    return True


def _untraceable(
    function: Rows, raveling: Raveling, domain: Domain, name: str, error: Exception
) -> Form:
    """A function that JAX cannot trace: on the host if it runs there, with torch if it wants
    tensors, else JAX's error."""
    shapes = list(raveling.shapes) if len(raveling.shapes) > 1 else next(iter(raveling.shapes))
    failures: list[Exception] = []
    readings = [partial(_host_form, Objectives(function)), partial(_torch_form, function)]
    for read in readings[: 1 + torch_is_here()]:
        try:
            form = read(raveling, domain, name)
            branches = isinstance(error, jax.errors.TracerBoolConversionError)
            advice = (
                "; it branches on x: with jnp.where JAX could differentiate it" if branches else ""
            )
            return form._replace(found=form.found + advice)
        except Exception as failure:
            failures.append(failure)
    telling = failures[0] if isinstance(error, jax.errors.JAXTypeError) else failures[-1]
    if isinstance(error, jax.errors.JAXTypeError) or str(telling).startswith(name):
        raise _in_one_line(telling) from telling
    raise _in_one_line(error, f"{name} failed for x of shape {shapes}: ") from error


def _in_one_line(error: Exception, before: str = "") -> Exception:
    """The same kind of error with the first line of its message; one of the user's own kind is left
    as it is."""
    if type(error).__module__ != "builtins" or isinstance(error, UnicodeError | OSError):
        return error
    return type(error)(before + str(error).strip().split("\n")[0])


def _host_form(host: Objectives, raveling: Raveling, domain: Domain, name: str) -> Form:
    if host.jac is not None and not raveling.plain.is_vector:
        raise ValueError(f"jac goes with an x0 that is one vector, got x0 with {raveling}")
    x = raveling.unravel(domain.x.copy())
    with np.errstate(all="ignore"), double_precision():
        values = stacked(
            host.function, jax.tree.map(lambda leaf: leaf[None], x) if host.vectorized else x, -1
        )
    if host.vectorized:
        if values.ndim != 2 or len(values) != 1:
            raise ValueError(
                f"{name} with vectorized=True must return shape (n, M) for x of shape (n, L), got"
                f" {values.shape} for n=1"
            )
        values = values[0]
    source = HostSource(host, raveling, check_shape(values, name))
    for part in (source.jacobians, source.hessians)[: source.order]:
        part(domain.x[None])  # a wrong shape is said now
    kind = "a NumPy function" + ("", " with jac", " with jac and hess")[source.order]
    return _bridged(source, raveling, domain, kind, host.function)


def _torch_form(function: PyTree, raveling: Raveling, domain: Domain, name: str) -> Form:
    source = TorchSource(function, raveling)
    values = source.one(source.torch.as_tensor(domain.x)).detach().numpy()
    source.n_rows = check_shape(values, name)
    return _bridged(source, raveling, domain, "a torch function, differentiated by torch", function)


def _bridged(
    source: AbstractSource, raveling: Raveling, domain: Domain, kind: str, original: object
) -> Form:
    exact = source.order == 2
    if exact:
        differences = Differences(domain.scale, np.finfo(float).eps, domain.lower, domain.upper)
    else:
        differences = Differences.measured(
            source.values, domain.x, domain.scale, domain.lower, domain.upper
        )
        what = "Hessians" if source.order == 1 else "derivatives"
        kind = (
            f"{kind}; {what} by finite differences (relative noise of the values"
            f" {differences.noise:.0e})"
        )
    bridge = Bridge(source, differences, original)
    of_x = bridge if raveling.is_vector else Unraveled(bridge, raveling, original)
    return Form(of_x, bridge, source.n_rows, kind, exact)
