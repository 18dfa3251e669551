"""How programs are compiled: options where JAX's own choice is not safe, and how few programs serve
batches of any size."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PyTree, Shaped

NO_NESTED_THREADS = {"xla_cpu_multi_thread_eigen": False}
"""Compiler options for programs with batched factorizations (`eigh`, `qr`, `solve` under `vmap`).

On a CPU such a kernel splits its batch over a pool of threads and waits for it, from a thread of
the same pool. Two of them at once, on a machine with two cores, can wait for each other for good.
With this option each runs in the thread that calls it; the batches of this library are too small to
lose by it.
"""

MOST_KEPT = 48
"""So many compiled forms of each program are kept. JAX keeps all, some 5 MB for each new function
that is minimized."""

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

_PROGRAMS: list[Any] = []
"""JAX's compiled functions behind all `program`s and `compiled` ones."""


def program(
    function: Callable[_Parameters, _Result], **options: Any
) -> Callable[_Parameters, _Result]:
    """`equinox.filter_jit` of the function; `forget_programs` knows of it. For module-level
    functions only."""
    wrapper = eqx.filter_jit(function, **options)
    # JAX's own function, which equinox has under a private name
    _PROGRAMS.append(getattr(wrapper, "_cached", None))
    return wrapper


def compiled(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """A `program` with `NO_NESTED_THREADS`."""
    return program(function, compiler_options=NO_NESTED_THREADS)


def forget_programs() -> int:
    """Forgets all compiled forms of programs that have more than `MOST_KEPT`; how many programs
    that were.

    Called before a run: a process that minimizes thousands of functions, each made afresh, keeps
    the memory of some dozens.
    """
    full = [
        inner
        for inner in _PROGRAMS
        if hasattr(inner, "_cache_size") and inner._cache_size() > MOST_KEPT
    ]
    for inner in full:
        inner.clear_cache()
    return len(full)


def pad_rows(
    rows: Shaped[np.ndarray, "n *width"], least: int = 1
) -> Shaped[np.ndarray, "n_padded *width"]:
    """The rows and copies of the last one, up to the next power of two: batches of similar size
    share a compiled program."""
    size = max(least, 1 << (len(rows) - 1).bit_length())
    return rows.take(np.minimum(np.arange(size), len(rows) - 1), axis=0)


def map_in_batches(function: Callable[[PyTree], PyTree], rows: PyTree, most: int) -> PyTree:
    """`jax.vmap` of the function over the leading axis, at most that many rows side by side.
    Traceable.

    `jax.lax.map` compiles the function a second time for a last batch that is smaller. Here all
    batches have the same size, and copies of the last row fill up the last one: fewer of them than
    there are batches.
    """
    n = len(jax.tree.leaves(rows)[0])
    n_batches = -(-n // most)
    if n_batches <= 1:
        return jax.vmap(function)(rows)
    size = -(-n // n_batches)
    filled = np.minimum(np.arange(n_batches * size), n - 1).reshape(n_batches, size)
    results = jax.lax.map(jax.vmap(function), jax.tree.map(lambda leaf: leaf[filled], rows))
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[:n], results)
