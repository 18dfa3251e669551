"""Blocks that compute at length: one BLAS thread, and no third-party warnings; problems are
reported in `Solution.result`.

One thread gives results the same bits whatever the number of cores: OpenBLAS and its kin split
products and factorizations over threads, and sum in another order for another number of them. The
matrices of this library are too small to gain by it. JAX's own programs do not depend on the number
of threads.
"""

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

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


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A block, or as `@one_blas_thread()` a function, in which BLAS has one thread.

    In the main thread alone: OpenBLAS takes the number from no other. To get the same bits on
    another machine from other threads, set OPENBLAS_NUM_THREADS=1 before Python starts.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with _controller(len(sys.modules)).limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> "ThreadpoolController":
    """The thread pools of the libraries loaded so far. Finding them takes milliseconds; new ones
    come with new modules."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
