"""Objectives as a worker calls them: one flat design in, a vector out."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib import import_module

import numpy as np


@dataclass(frozen=True)
class FlatFunction:
    """A function of designs in the user's form, or one for each objective, as a function of flat
    vectors.

    It travels to workers by the functions that it is made of. Functions of JAX compute in double
    precision there as here.

    Attributes:
        parts: the functions.
        is_list: whether there is one for each objective.
        vectorized: whether they take many designs at once.
        unravel: from a flat vector to the user's form; None where that is the same.
    """

    parts: tuple[Callable[..., object], ...]
    is_list: bool = False
    vectorized: bool = False
    unravel: Callable[[np.ndarray], object] | None = None

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The values at one design."""
        flat = np.array(x[None] if self.vectorized else x)
        with _double_precision(), np.errstate(all="ignore"):
            design = flat if self.unravel is None else self.unravel(flat)
            values = [np.asarray(part(design), dtype=float).ravel() for part in self.parts]
        return np.concatenate(values) if self.is_list else values[0]


def _double_precision() -> AbstractContextManager[object]:
    """JAX in double precision, if the functions have brought JAX along."""
    return import_module("jax").enable_x64(True) if "jax" in sys.modules else nullcontext()
