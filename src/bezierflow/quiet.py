"""Silence: what goes wrong in a computation is said in its result, not by warnings of the libraries
that it is made with."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .threads import one_blas_thread

LIBRARIES = r"(numpy|scipy|jax|equinox|optax|optimistix|bezierflow)(\.|$)"
"""Modules whose warnings are not shown. Those of the user's own code are."""


@contextmanager
def quiet() -> Iterator[None]:
    """A block, or as `@quiet()` a function, without NumPy's floating-point warnings and without
    warnings of the libraries.

    NumPy's linear algebra has one thread in it: everything that computes at length is such a block.
    """
    with one_blas_thread(), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=LIBRARIES)
        yield
