"""Values and derivatives on the host: of NumPy functions, of JAX's where it cannot differentiate
twice, of torch's.

Each is a function of an order, 0 to 2, and of n flat vectors; it returns f, ∇f or ∇²f at these.
"""

import copy
import sys
from collections.abc import Callable
from importlib import import_module
from math import prod
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..bezier import Raveling
from ..precision import double_precision
from .functions import Objectives, Rows, is_list_of_functions, values_of

Points = Float[np.ndarray, "n n_variables"]

HostRows = Callable[[int, Points], Float[np.ndarray, "n n_rows ..."]]
"""Derivatives of an order at n points, for all values of a function."""

DOMAIN_ERRORS = ("math domain error", "expected a nonnegative input", "expected a positive input")
"""How Python's `math` says that a function is not defined somewhere."""


def numpy_rows(
    objectives: Objectives, raveling: Raveling, n_rows: int, order: int, x: Points
) -> Float[np.ndarray, "n n_rows ..."]:
    """Derivatives of a NumPy function of x in the user's form, as far as the user has given them.

    A point where the function fails by arithmetic (a division by zero, a root or logarithm outside
    of its domain, an overflow) has no numbers for values; any other error is the user's to see.
    """
    part = (objectives.function, objectives.jac, objectives.hess)[order]
    assert part is not None
    name, shape = ("objectives", "jac", "hess")[order], (n_rows, *x.shape[1:] * order)
    with np.errstate(all="ignore"), double_precision():
        if objectives.vectorized:
            values = numbers_of(part, raveling.unravel(x), -len(shape))
            rows = _in_shape(values, name, (len(x), *shape))
        else:
            rows = np.full((len(x), *shape), np.nan)
            for i, point in enumerate(x):
                try:
                    # a copy: the function may write into its argument
                    values = numbers_of(part, raveling.unravel(point.copy()))
                    rows[i] = _in_shape(values, name, shape)
                except ArithmeticError:
                    continue
                except ValueError as error:
                    if str(error) not in DOMAIN_ERRORS:
                        raise
    for axis in reversed(range(order)):
        # the chain rule: x is the flat vector times its units
        rows = rows * raveling.units.reshape(-1, *[1] * axis)
    return rows


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
    functions may return arrays of one entry."""
    longer = [[n for n in axes if n > 1] for axes in (values.shape, shape)]
    if values.size == prod(shape) and longer[0] == longer[1]:
        return values.reshape(shape)
    raise ValueError(f"{name} must return an array of shape {shape}, got shape {values.shape}")


def jax_rows(function: Callable[[Array], Array], order: int, forwards: bool) -> HostRows:
    """Derivatives up to an order of a JAX function that JAX cannot differentiate twice, or only
    forwards: a callback, a `custom_vjp`, a while loop."""
    jacobian = jax.jacfwd(function) if forwards else jax.jacrev(function)
    parts = (function, jacobian, jax.jacfwd(jacobian))[: order + 1]
    compiled = [eqx.filter_jit(part) for part in parts]

    def rows(order: int, x: Points) -> np.ndarray:
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

    def __init__(self, function: Any, raveling: Raveling):
        self.torch, self.raveling, self.mapped = import_module("torch"), raveling, True
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
