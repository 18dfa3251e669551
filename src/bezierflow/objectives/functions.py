"""Objectives in the forms that users write them in, as functions of flat vectors, and with their
derivatives on the host."""

import copy
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from math import prod
from typing import Any, TypeGuard, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree
from numpy.typing import ArrayLike

from ..arguments import of_design, shown
from ..bezier import Raveling
from ..interrupts import BudgetSpentError
from ..precision import double_precision
from ..problem import Composite, Problem
from .bridge import Calls, HostRows, Points

Rows = Callable[..., ArrayLike] | Sequence[Callable[..., ArrayLike]]
"""A function x -> (M, ...), or one function for each of M objectives."""

DOMAIN_ERRORS = ("math domain error", "expected a nonnegative input", "expected a positive input")
"""How Python's `math` says that a function is not defined somewhere."""


@dataclass(frozen=True)
class Objectives:
    """Objectives and their derivatives, as in `bf.minimize(bf.Objectives(f, jac=df), x0)`.

    A function alone needs no wrapping: `bf.Objectives(f)` means f, in whatever form f is. With
    derivatives, or vectorized, it is called on the host with NumPy arrays, outside of JAX. The same
    serves for the function of a constraint, and for that of a `bf.problems.Problem`.

    Attributes:
        function: x -> M numbers, a list of functions x -> a number, a dict of them by name, or a
            problem.
        jac: x -> (M, L), or a list of functions x -> (L,). Without it gradients are finite
            differences.
        hess: x -> (M, L, L), or a list of functions x -> (L, L). Without it Hessians are finite
            differences.
        vectorized: whether each of these takes many points at once, (n, L), and returns n rows: (n,
            M), (n, M, L), (n, M, L, L); in a list each returns (n,), (n, L), (n, L, L).
        executor: where functions that are called as they are, those of constraints included, are
            evaluated, a task per design: any `concurrent.futures.Executor` (of loky, Dask's
            `client.get_executor()`, `bezierflow.runs.RayExecutor`, `mpi4py.futures`), a function
            that makes one, or a number of processes on this machine. By default in this process.
            No result depends on it.
    """

    function: Any
    jac: Rows | None = None
    hess: Rows | None = None
    vectorized: bool = False
    executor: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "function", _as_problem(self.function))
        for name, part in (("function", self.function), ("jac", self.jac), ("hess", self.hess)):
            if part is not None and not (callable(part) or is_list_of_functions(part)):
                raise TypeError(
                    f"{name} must be a function, or a list of functions, one for each objective,"
                    f" got {part!r}"
                )
            if isinstance(part, list):
                object.__setattr__(self, name, tuple(part))  # so that it can be hashed
        if self.hess is not None and self.jac is None:
            raise ValueError("hess goes with jac; give both, or neither")

    def __call__(self, x: PyTree) -> ArrayLike:
        """The function's values at one x."""
        return values_of(self.function, x)


def read_objectives(objectives: Any) -> Any:
    """The objectives, as `Objectives` where derivatives or batches go with them.

    A pymoo problem becomes a `Problem`, and so do functions by name; `Objectives` of a function
    alone become that function.
    """
    if not isinstance(objectives, Objectives):
        return _as_problem(objectives)
    function = objectives.function
    if objectives.jac is None and not objectives.vectorized:
        return function
    if isinstance(function, Problem):
        # inside of the problem, which keeps its names, bounds and directions
        return _with_function(function, replace(objectives, function=function.function))
    return objectives


def split_executor(objectives: Any) -> tuple[Any, Any]:
    """The objectives without their executor, on which no result depends, and that; None where they
    have none."""
    inside = isinstance(objectives, Problem)
    given = objectives.function if inside else objectives
    if not isinstance(given, Objectives) or given.executor is None:
        return objectives, None
    bare = replace(given, executor=None)
    if inside:
        return _with_function(objectives, bare), given.executor
    alone = bare.jac is None and not bare.vectorized
    return bare.function if alone else bare, given.executor


def _with_function(problem: Problem, function: Objectives) -> Problem:
    """The same problem with another function."""
    return eqx.tree_at(lambda problem: problem.function, problem, function)


def _as_problem(objectives: Any) -> Any:
    """Functions by name, or a problem of pymoo's, as a `Problem`; others as they are."""
    if isinstance(objectives, Mapping):
        return _by_name(objectives)
    pymoo = sys.modules.get("pymoo.core.problem")  # not imported for the question
    if pymoo is not None and isinstance(objectives, pymoo.Problem):
        return from_pymoo(objectives)
    return objectives


def _by_name(functions: Mapping[str, Any]) -> Problem:
    """Functions with their names, as a problem."""
    wrong = [f"{shown(one)} for {name!r}" for name, one in functions.items() if not callable(one)]
    if wrong or not functions:
        raise TypeError(
            "objectives given by name must each be a function x -> a number, as in {'cost': f,"
            f" 'mass': g}}, got {wrong[0] if wrong else 'none'}"
        )
    return Problem(Objectives(tuple(functions.values())), objective_names=tuple(functions))


@dataclass(frozen=True)
class TorchFunction:
    """Objectives written with torch, x -> M numbers, where `bf.minimize` cannot tell: one that runs
    on NumPy arrays as well."""

    function: Callable[..., PyTree]

    def __call__(self, x: PyTree) -> PyTree:
        """The function's values."""
        return self.function(x)


def is_list_of_functions(part: object) -> TypeGuard[Sequence[Callable[..., PyTree]]]:
    """Whether this is a list or tuple of at least one function."""
    return isinstance(part, list | tuple) and len(part) > 0 and all(callable(one) for one in part)


def values_of(part: Rows, x: PyTree) -> Any:
    """What a function returns at x; of a list of functions, the list of what each returns."""
    return of_design(part, x) if callable(part) else [of_design(one, x) for one in part]


def from_pymoo(problem: Any) -> Problem:
    """A pymoo problem with its bounds, G(x) <= 0 and H(x) = 0, which `bf.minimize` takes.

    Raises:
        ValueError: For variables that are not real numbers.
    """
    from scipy.optimize import NonlinearConstraint

    kinds = getattr(problem, "vars", None)
    if kinds and any(type(kind).__name__ != "Real" for kind in kinds.values()):
        raise ValueError(
            f"the variables of {type(problem).__name__} must be real numbers, got {kinds}"
        )
    # pymoo computes F, G and H together, but each is asked for alone: the last batch is kept
    last: dict[bytes, dict[str, np.ndarray]] = {}
    of = {kind: Objectives(PymooRows(problem, kind, last), vectorized=True) for kind in "FGH"}
    constraints = []
    if problem.n_ieq_constr:
        constraints.append(NonlinearConstraint(of["G"], -np.inf, 0.0))
    if problem.n_eq_constr:
        constraints.append(NonlinearConstraint(of["H"], 0.0, 0.0))
    unbounded = problem.xl is None or problem.xu is None
    return Problem(
        of["F"],
        int(problem.n_obj),
        int(problem.n_var),
        bounds=None if unbounded else (np.array(problem.xl, float), np.array(problem.xu, float)),
        constraints=constraints or None,
    )


class PymooRows:
    """F, G or H of a pymoo problem at many points."""

    def __init__(self, problem: Any, kind: str, last: dict[bytes, dict[str, np.ndarray]]):
        self.problem, self.kind, self._last = problem, kind, last

    def __call__(self, x: Points) -> Float[np.ndarray, "n n_rows"]:
        """As pymoo evaluates it."""
        key = np.ascontiguousarray(x).tobytes()
        if key not in self._last:
            self._last.clear()
            whole = self.problem.evaluate(np.asarray(x, dtype=float), return_as_dictionary=True)
            self._last[key] = whole
        return np.asarray(self._last[key][self.kind], dtype=float)

    def in_numpy(self, x: Points) -> np.ndarray:
        """The problem's own code at one point, without what pymoo does around it."""
        out: dict[str, Any] = {}
        self.problem._evaluate(x[0] if self.problem.elementwise else x, out)
        return np.reshape(np.array(out[self.kind]), (1, -1))


class Raveled(eqx.Module):
    """Objectives of a pytree as objectives of a flat vector, with the problem's smooth parts and
    prox where it has them."""

    objectives: Callable[[PyTree], PyTree]
    raveling: Raveling

    def __call__(
        self, x: Float[Array | np.ndarray, " n_variables"]
    ) -> Float[Array, " n_objectives"]:
        """f(unravel(x))."""
        return as_vector(self.objectives(self.raveling.unravel(x)))

    def smooth(self, x: Float[Array | np.ndarray, " n_variables"]) -> Float[Array, " n_objectives"]:
        """The smooth parts."""
        return cast(Composite, self.objectives).smooth(self.raveling.unravel(x))

    def prox(
        self, x: Float[Array | np.ndarray, " n_variables"], weights: Float[Array, " n_objectives"]
    ) -> Float[Array, " n_variables"]:
        """The prox of the weighted nonsmooth parts."""
        moved = cast(Composite, self.objectives).prox(self.raveling.unravel(x), weights)
        return jnp.asarray(self.raveling.ravel(moved))


class Unraveled(eqx.Module):
    """Objectives of a flat vector as objectives of the user's x; `original` is what the user
    gave."""

    flat: Callable[[Array], Array]
    raveling: Raveling
    original: object = eqx.field(static=True)

    def __call__(self, x: PyTree) -> Float[Array, " n_objectives"]:
        """f(ravel(x))."""
        return self.flat(jnp.asarray(self.raveling.ravel(x)))


class Joined(eqx.Module):
    """One function whose values are an array: of a list of functions x -> a number, or of a
    function that returns a list."""

    function: Rows

    def __call__(self, x: PyTree) -> Float[Array, " n_rows"]:
        """All values."""
        return as_vector(values_of(self.function, x))


def as_vector(values: PyTree) -> PyTree:
    """A list or tuple of numbers as one array; anything else as it is."""
    if isinstance(values, list | tuple):
        arrays = map(jnp.asarray, values)
        return jnp.stack([jnp.reshape(one, ()) if one.size == 1 else one for one in arrays])
    return values


def numpy_rows(
    objectives: Objectives,
    raveling: Raveling,
    n_rows: int,
    calls: Calls,
    order: int,
    x: Points,
) -> Float[np.ndarray, "n n_rows ..."]:
    """Derivatives of a NumPy function of x in the user's form, as far as the user has given them;
    one task per point where there are workers. Calls are counted before they are made.

    A point where the function fails by arithmetic (a division by zero, a root or logarithm outside
    of its domain, an overflow), or where it ends its worker, has no numbers for values; any other
    error is the user's to see.
    """
    part = (objectives.function, objectives.jac, objectives.hess)[order]
    assert part is not None
    name, shape = ("objectives", "jac", "hess")[order], (n_rows, *x.shape[1:] * order)
    calls.add(order, len(x))
    with np.errstate(all="ignore"), double_precision():
        if objectives.vectorized:
            values = numbers_of(part, raveling.unravel(x), -len(shape))
            rows = _in_shape(values, name, (len(x), *shape))
        else:
            rows, made = np.full((len(x), *shape), np.nan), 0
            try:
                found = _calls_of(part, raveling, calls, x)
                for made, one in enumerate(found, 1):
                    values = _unless_undefined(one)
                    if values is not None:
                        rows[made - 1] = _in_shape(values, name, shape)
            except BudgetSpentError as over:  # the time is up: the rest was not called
                calls.add(order, made - len(x))
                raise BudgetSpentError(rows[:made]) from over
    for axis in reversed(range(order)):
        # the chain rule: x is the flat vector times its units
        rows = rows * raveling.units.reshape(-1, *[1] * axis)
    return rows


def _calls_of(
    part: Rows, raveling: Raveling, calls: Calls, x: Points
) -> Iterator[Callable[[], np.ndarray | None]]:
    """What gives the values at each point, or raises what the function raises there."""
    if calls.workers is not None:
        unravel = None if raveling.is_vector else raveling.unravel
        found = calls.workers.answers(part, unravel, x, calls.check_time)
        if found is not None:
            yield from found
            return
    for point in x:
        calls.check_time()
        # a copy: the function may write into its argument
        yield partial(numbers_of, part, raveling.unravel(point.copy()))


def _unless_undefined(call: Callable[[], np.ndarray | None]) -> np.ndarray | None:
    """What a call returns; None where the function fails by arithmetic."""
    try:
        return call()
    except ArithmeticError:
        return None
    except ValueError as error:
        if str(error) not in DOMAIN_ERRORS:
            raise
        return None


def numbers_of(part: Rows, x: PyTree, axis: int = 0) -> np.ndarray:
    """What a function, or a list of functions side by side along an axis, returns at x."""
    if is_list_of_functions(part):
        return np.stack([numbers_of(one, x) for one in part], axis=axis)
    found = values_of(part, x)
    if isinstance(found, list | tuple):
        found = [np.asarray(value) for value in found]
    return np.asarray(found, dtype=float)


def _in_shape(values: np.ndarray, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """The values in the shape expected, or an error. Axes of length 1 may be missing or too many: M
    functions may return arrays of one entry. Workers send flat vectors."""
    if values.shape == (prod(shape),):
        return values.reshape(shape)
    longer = [[n for n in axes if n > 1] for axes in (values.shape, shape)]
    if values.size == prod(shape) and longer[0] == longer[1]:
        return values.reshape(shape)
    raise ValueError(f"{name} must return an array of shape {shape}, got shape {values.shape}")


def jax_rows(
    function: Callable[[Array], Array], order: int, forwards: bool, calls: Calls
) -> HostRows:
    """Derivatives up to an order of a JAX function that JAX cannot differentiate twice, or only
    forwards: a callback, a `custom_vjp`, a while loop."""
    jacobian = jax.jacfwd(function) if forwards else jax.jacrev(function)
    parts = (function, jacobian, jax.jacfwd(jacobian))[: order + 1]
    compiled = [eqx.filter_jit(part) for part in parts]

    def rows(order: int, x: Points) -> np.ndarray:
        calls.add(order, len(x))
        # point by point: not everything can be mapped
        with double_precision():
            return np.stack([np.asarray(compiled[order](row)) for row in x])

    return rows


def is_torch_module(function: object) -> bool:
    """Whether this is a `torch.nn.Module`; torch is not imported for the question."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(function, torch.nn.Module)


class TorchRows:
    """Derivatives by torch of a torch function of x in the user's form: tensors, in double
    precision.

    Points are mapped by `torch.func.vmap` where the function allows it, else they are evaluated one
    by one. A module is copied with its parameters in double precision.
    """

    def __init__(self, function: Any, raveling: Raveling, calls: Calls):
        self.torch, self.raveling, self.mapped = import_module("torch"), raveling, True
        self.calls = calls
        self.function = copy.deepcopy(function).double() if is_torch_module(function) else function

    def one(self, x: Any) -> Any:
        """F of one flat tensor, as one tensor of M values."""
        torch, shapes = self.torch, self.raveling.shapes
        parts = torch.split(
            x * torch.as_tensor(self.raveling.units), [prod(shape) for shape in shapes]
        )
        leaves = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        values = values_of(self.function, jax.tree.unflatten(self.raveling.treedef, leaves))
        if isinstance(values, list | tuple):
            values = torch.stack([torch.as_tensor(value).reshape(()) for value in values])
        return values.double()

    def __call__(self, order: int, x: Points) -> Float[np.ndarray, "n n_rows ..."]:
        """Derivatives of this order at n points."""
        self.calls.add(order, len(x))
        func = self.torch.func
        if order < 2:
            return self._at(func.jacrev(self.one) if order else self.one, x)
        try:
            H = self._at(func.jacfwd(func.jacrev(self.one)), x)
        except (RuntimeError, NotImplementedError):  # an operation without a forward derivative
            H = self._at(func.jacrev(func.jacrev(self.one)), x)
        return (H + np.swapaxes(H, -1, -2)) / 2

    def _at(self, function: Callable[..., Any], x: Points) -> np.ndarray:
        points = self.torch.as_tensor(np.ascontiguousarray(x))
        if self.mapped:
            try:
                return self.torch.func.vmap(function)(points).detach().numpy()
            # control flow on values, `.item()`, an operation without a rule
            except (RuntimeError, ValueError, TypeError):
                self.mapped = False
        return np.stack([function(point).detach().numpy() for point in points])
