"""How programs are compiled, where JAX's own choice is not safe."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import equinox as eqx

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
