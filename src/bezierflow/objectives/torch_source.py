"""A torch function or module as a function of flat vectors, differentiated by torch."""

import copy
import sys
from collections.abc import Callable
from importlib import import_module
from math import prod
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from ..bezier import Raveling
from .source import AbstractSource


def is_torch_module(function: object) -> bool:
    """Whether this is a `torch.nn.Module`; torch is not imported for the question."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(function, torch.nn.Module)


def torch_is_here() -> bool:
    """Whether the user's program has imported torch."""
    return "torch" in sys.modules


class TorchSource(AbstractSource):
    """A torch function of x in the user's form: tensors, in double precision.

    Points are mapped by `torch.func.vmap` where the function allows it, else they are evaluated one
    by one. A module is copied with its parameters in double precision.
    """

    order = 2

    def __init__(self, function: Any, raveling: Raveling, n_rows: int = 0):
        self.torch, self.n_rows, self.mapped = import_module("torch"), n_rows, True
        self.function = copy.deepcopy(function).double() if is_torch_module(function) else function
        self.raveling = raveling

    def one(self, x: Any) -> Any:
        """F of one flat tensor, as one tensor of M values."""
        shapes = self.raveling.shapes
        parts = self.torch.split(
            x * self.torch.as_tensor(self.raveling.units), [prod(shape) for shape in shapes]
        )
        x = jax.tree.unflatten(
            self.raveling.treedef,
            [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)],
        )
        values = self.function(x) if callable(self.function) else [one(x) for one in self.function]
        if isinstance(values, list | tuple):
            values = self.torch.stack([self.torch.as_tensor(value).reshape(()) for value in values])
        return values.double()

    def values(self, x: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n n_rows"]:
        """F."""
        return self._rows(self.one, x)

    def jacobians(
        self, x: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_rows n_variables"]:
        """∇f by `torch.func.jacrev`."""
        return self._rows(self.torch.func.jacrev(self.one), x)

    def hessians(
        self, x: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_rows n_variables n_variables"]:
        """∇²f by `torch.func`, forwards over backwards; backwards twice where an operation has no
        forward derivative."""
        func = self.torch.func
        try:
            H = self._rows(func.jacfwd(func.jacrev(self.one)), x)
        except (RuntimeError, NotImplementedError):
            H = self._rows(func.jacrev(func.jacrev(self.one)), x)
        return (H + np.swapaxes(H, -1, -2)) / 2

    def _rows(self, function: Callable[..., Any], x: np.ndarray) -> np.ndarray:
        points = self.torch.as_tensor(np.ascontiguousarray(x))
        if self.mapped:
            try:
                return self.torch.func.vmap(function)(points).detach().numpy()
            # control flow on values, `.item()`, an operation without a rule
            except (RuntimeError, ValueError, TypeError):
                self.mapped = False
        return np.stack([function(point).detach().numpy() for point in points])
