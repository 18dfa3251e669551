"""Double precision for this library's own work, without touching the user's global JAX settings.

JAX computes in float32 unless told otherwise, and tells by a global switch. A Pareto set known to 1e-8 needs float64, but a
library must not flip that switch for everybody. So every entry point opens a block of double precision of its own, and where
the global switch is off, its results are NumPy arrays: those hold float64 whatever the switch says, and JAX takes them as input.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from .jax_constants import mend_constants


@contextmanager
def double_precision() -> Iterator[None]:
    """A block in which JAX computes in float64. Only for use outside of any tracing."""
    mend_constants()
    with jax.enable_x64(True):
        yield


def on_host(tree: Any) -> Any:
    """The same pytree with NumPy leaves: safe to keep, to save and to compute with in either precision."""
    return jax.tree.map(np.asarray, jax.device_get(tree))


def is_traced(*trees: Any) -> bool:
    """Whether a leaf belongs to a `jit`, `grad` or `vmap` under way."""
    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(trees))


def in_double_precision(function: Callable, *arguments: Any) -> Any:
    """`function(*arguments)` in double precision, if an argument is float64 and nobody is tracing.

    Inside somebody's `jit`, `grad` or `vmap` the ambient setting rules: a program whose precision switches halfway does not
    compile. Float32 arrays of the caller's own choice (no float64 among the leaves) stay float32.
    """
    doubles = any(getattr(leaf, "dtype", None) == np.float64 for leaf in jax.tree.leaves(arguments))
    if jax.config.jax_enable_x64 or not doubles or is_traced(arguments):  # type: ignore[attr-defined]
        return function(*arguments)
    with double_precision():
        return on_host(function(*arguments))
