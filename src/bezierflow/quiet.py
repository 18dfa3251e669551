"""Suppress third-party warnings inside the library; problems are reported in `Solution.result`."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .threads import one_blas_thread

LIBRARIES = r"(numpy|scipy|jax|equinox|optax|optimistix|bezierflow)(\.|$)"
"""Modules whose warnings are not shown. Those of the user's own code are."""


@contextmanager
def quiet() -> Iterator[None]:
    """A block, or as `@quiet()` a function, without warnings of NumPy and other libraries.

    BLAS has one thread in it: everything that computes at length is such a block.
    """
    with one_blas_thread(), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=LIBRARIES)
        yield
