"""Double precision for this library's own work, with JAX's global precision switch left as the user
set it.

JAX computes in float32 unless a process-wide switch says otherwise. A Pareto set known to 1e-8
needs float64, but a library must not flip that switch for everybody. So every entry point opens a
block of double precision of its own, and where the global switch is off, its results are NumPy
arrays: those hold float64 whatever the switch says, and JAX takes them as input.

One thing does change for the whole process: on JAX versions with a fault in how they cache NumPy
constants, the first such block replaces JAX's handler of NumPy arrays (see `jax_constants`).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, overload

import jax
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, PyTree

from .compilation import kept_programs
from .jax_constants import repair_constant_cache

T = TypeVar("T")

ROUNDING = 1e-12
"""Double precision leaves about this much relative error after a few thousand operations: smaller
differences, relative to the size of what is compared, are taken for none."""


@contextmanager
def double_precision() -> Iterator[None]:
    """A block in which JAX computes in float64, with `own_settings` and `kept_programs`. Only for
    use outside of any tracing."""
    repair_constant_cache()  # before anything is traced with NumPy constants
    with kept_programs(), own_settings(), jax.enable_x64(True):
        yield


@contextmanager
def own_settings() -> Iterator[None]:
    """A block in which JAX's debugging settings are as this library was written for, in this
    thread; after it as before.

    Numbers that are not finite, mixed types and ranks, and arrays that go to the device and back
    are all part of its work: what is not finite in the end is said in the result. `jax_debug_nans`,
    strict promotion or a transfer guard would stop it.
    """
    with (
        jax.debug_nans(False),
        jax.debug_infs(False),
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
        jax.transfer_guard("allow"),
    ):
        yield


def is_double() -> bool:
    """Whether JAX computes in float64 here: by the global switch, or inside a block of double
    precision."""
    return jax.dtypes.canonicalize_dtype(np.float64) == np.float64


@overload
def on_host(tree: Array) -> np.ndarray: ...
@overload
def on_host(tree: T) -> T: ...
def on_host(tree: PyTree) -> PyTree:
    """The same pytree with NumPy leaves: safe to keep, to save and to compute with in either
    precision."""
    return jax.tree.map(np.asarray, jax.device_get(tree))


def is_traced(*trees: PyTree) -> bool:
    """Whether a leaf belongs to a `jit`, `grad` or `vmap` under way."""
    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(trees))


def in_double_precision(function: Callable[..., T], *arguments: PyTree) -> T:
    """`function(*arguments)` in double precision, if an argument is float64 and none is traced.

    Inside somebody's `jit`, `grad` or `vmap` the ambient setting rules: a program whose precision
    switches halfway does not compile. Float32 arrays of the caller's own choice (no float64 among
    the leaves) stay float32.
    """
    doubles = any(getattr(leaf, "dtype", None) == np.float64 for leaf in jax.tree.leaves(arguments))
    if is_traced(arguments):
        return function(*arguments)
    # nothing to switch: results may stay where they are
    if is_double() or not doubles:
        with own_settings():
            return function(*arguments)
    with double_precision():
        return on_host(function(*arguments))
