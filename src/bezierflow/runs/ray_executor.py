"""Ray behind the interface of `concurrent.futures`."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from importlib import import_module
from typing import Any


class RayExecutor(Executor):
    """`executor=RayExecutor()` evaluates on a Ray cluster, which `ray.init(...)` has connected to.

    Args:
        n_workers: how many evaluations run at once; by default as many as the cluster has CPUs.
        **options: of each task, as `ray.remote` takes them, such as num_cpus=2.
    """

    def __init__(self, n_workers: int | None = None, **options: object):
        try:
            self._ray = import_module("ray")
        except ImportError as error:
            raise ImportError("RayExecutor needs Ray: pip install ray") from error
        if not self._ray.is_initialized():
            self._ray.init(log_to_driver=False)
        self.n_workers = n_workers or int(self._ray.cluster_resources().get("CPU", 1))
        self._call = self._ray.remote(**options)(_call) if options else self._ray.remote(_call)

    def submit(self, fn: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future:
        """A future of `fn(*arguments, **keywords)`, computed by a task of Ray's."""
        return self._call.remote(fn, arguments, keywords).future()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leaves Ray as it is: whoever has started it stops it."""


def _call(
    function: Callable[..., object], arguments: tuple[object, ...], keywords: dict[str, object]
) -> object:
    return function(*arguments, **keywords)
