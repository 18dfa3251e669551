"""How programs are compiled: options where JAX's own choice is not safe, and how few programs serve batches of any size."""

import numpy as np
from jaxtyping import Shaped

NO_NESTED_THREADS = {"xla_cpu_multi_thread_eigen": False}
"""Compiler options for programs with batched factorizations (`eigh`, `qr`, `solve` under `vmap`).

On a CPU such a kernel splits its batch over a pool of threads and waits for it, from a thread of the same pool. Two of them at
once, on a machine with two cores, can wait for each other for good. With this option each runs in the thread that calls it;
the batches of this library are too small to lose by it.
"""


def pad_rows(rows: Shaped[np.ndarray, "n *width"], least: int = 1) -> Shaped[np.ndarray, "n_padded *width"]:
    """The rows and copies of the last one, up to the next power of two: batches of similar size share a compiled program."""
    size = max(least, 1 << (len(rows) - 1).bit_length())
    return rows.take(np.minimum(np.arange(size), len(rows) - 1), axis=0)
