"""Silence: what goes wrong in a computation is said in its result, not by warnings of the libraries that it is made with."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

LIBRARIES = r"(numpy|scipy|jax|equinox|optax|optimistix|bezierflow)(\.|$)"
"""Modules whose warnings are not shown. Those of the user's own code are."""


@contextmanager
def quiet() -> Iterator[None]:
    """A block, or as `@quiet()` a function, without NumPy's floating-point warnings and without warnings of the libraries."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=LIBRARIES)
        yield
