"""How programs are compiled: options where JAX's own choice is not safe, and how few programs serve batches of any size."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PyTree, Shaped

NO_NESTED_THREADS = {"xla_cpu_multi_thread_eigen": False}
"""Compiler options for programs with batched factorizations (`eigh`, `qr`, `solve` under `vmap`).

On a CPU such a kernel splits its batch over a pool of threads and waits for it, from a thread of the same pool. Two of them at
once, on a machine with two cores, can wait for each other for good. With this option each runs in the thread that calls it;
the batches of this library are too small to lose by it.
"""

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def compiled(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """`equinox.filter_jit` of the function, with `NO_NESTED_THREADS`."""
    return eqx.filter_jit(function, compiler_options=NO_NESTED_THREADS)  # type: ignore[call-overload]


def pad_rows(rows: Shaped[np.ndarray, "n *width"], least: int = 1) -> Shaped[np.ndarray, "n_padded *width"]:
    """The rows and copies of the last one, up to the next power of two: batches of similar size share a compiled program."""
    size = max(least, 1 << (len(rows) - 1).bit_length())
    return rows.take(np.minimum(np.arange(size), len(rows) - 1), axis=0)


def map_in_batches(function: Callable[[PyTree], PyTree], rows: PyTree, most: int) -> PyTree:
    """`jax.vmap` of the function over the leading axis, at most that many rows side by side. Traceable.

    `jax.lax.map` compiles the function a second time for a last batch that is smaller. Here all batches have the same size,
    and copies of the last row fill up the last one: fewer of them than there are batches.
    """
    n = len(jax.tree.leaves(rows)[0])
    n_batches = -(-n // most)
    if n_batches <= 1:
        return jax.vmap(function)(rows)
    size = -(-n // n_batches)
    filled = np.minimum(np.arange(n_batches * size), n - 1).reshape(n_batches, size)
    results = jax.lax.map(jax.vmap(function), jax.tree.map(lambda leaf: leaf[filled], rows))
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[:n], results)
