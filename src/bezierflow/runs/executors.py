"""`executor=`: anything with the interface of `concurrent.futures.Executor`, checked, counted, and
made again when it breaks."""

import os
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from typing import Any

AnyExecutor = Executor | Callable[[], Executor] | int | None
"""An executor; a function that makes one; a number of processes on this machine; None for this
process itself."""

INSTALL = "pip install 'bezierflow[engines]'"


class Engine:
    """An executor that is made again when a worker's death has broken it.

    Attributes:
        executor: as it is now.
        n_workers: how many evaluations it makes at once, as far as it says.
    """

    def __init__(self, make: Callable[[], Executor]):
        self._make = make
        self.executor = _checked(make())
        self.n_workers = _count_workers(self.executor)

    def again(self) -> None:
        """A fresh executor in place of a broken one."""
        self.executor.shutdown(wait=False)
        self.executor = _checked(self._make())


def as_engine(executor: AnyExecutor) -> Engine | None:
    """The engine of what a user gave as `executor`; None for this process."""
    if executor is None:
        return None
    if isinstance(executor, int) and not isinstance(executor, bool) and executor >= 1:
        return Engine(lambda: _loky(executor))
    if isinstance(executor, Executor):
        return Engine(_Remake(executor))
    if callable(executor):
        return Engine(executor)
    raise TypeError(
        "executor must be a concurrent.futures.Executor (of loky, Dask's client.get_executor(),"
        f" mpi4py.futures), a function that makes one, or a number of processes, got {executor!r}"
    )


class _Remake:
    """The executor given, at first; where it breaks, another one of its kind."""

    def __init__(self, executor: Executor):
        self.executor, self.used = executor, False

    def __call__(self) -> Executor:
        if not self.used:
            self.used = True
            return self.executor
        n = getattr(self.executor, "_max_workers", None)
        if type(self.executor).__module__.startswith("loky"):
            return _loky(n)
        if isinstance(self.executor, ProcessPoolExecutor):
            return ProcessPoolExecutor(n, mp_context=getattr(self.executor, "_mp_context", None))
        raise RuntimeError(
            f"a worker died and broke the {type(self.executor).__name__}; give executor=a function"
            " that makes one, so that another can be made"
        )


def _loky(n_workers: int | None) -> Executor:
    try:
        from loky import get_reusable_executor
    except ImportError as error:
        raise ImportError(f"processes on this machine need loky: {INSTALL}") from error
    return get_reusable_executor(n_workers, timeout=300)


def _checked(executor: Any) -> Executor:
    """The executor, unless its workers are forks of this process."""
    if not hasattr(executor, "submit"):
        raise TypeError(
            "executor must have a method submit, as those of concurrent.futures do, got"
            f" {executor!r}"
        )
    context = getattr(executor, "_mp_context", None)
    if (
        isinstance(executor, ProcessPoolExecutor)
        and context is not None
        and context.get_start_method() == "fork"
    ):
        raise ValueError(
            "executor is a ProcessPoolExecutor that forks, and a fork of a process in which JAX"
            " runs hangs; give executor=4 (loky), or ProcessPoolExecutor(4,"
            ' mp_context=multiprocessing.get_context("spawn"))'
        )
    return executor


def _count_workers(executor: object) -> int:
    client = getattr(executor, "_client", None)  # of Dask
    if client is not None and hasattr(client, "nthreads"):
        return max(1, sum(client.nthreads().values()))
    # of concurrent.futures and loky, of mpi4py, of ours
    names = ("_max_workers", "num_workers", "n_workers")
    found = next((getattr(executor, name) for name in names if getattr(executor, name, None)), None)
    return int(found) if found else os.cpu_count() or 1
