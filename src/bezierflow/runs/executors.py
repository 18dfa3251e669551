"""Evaluations by any `concurrent.futures.Executor`: a task per design, retried where it failed, and
given back as they arrive."""

import pickle
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from jaxtyping import Float

from ..arguments import of_design
from ..interrupts import raise_if_interrupted

Point = tuple[int, np.ndarray]
"""A design to evaluate, after its number."""

AnyExecutor = Executor | Callable[[], Executor] | int | None
"""An executor; a function that makes one; a number of processes on this machine; None for this
process itself."""

PULSE_SECONDS = 0.2
"""Polling interval for interrupts."""

PATIENCE, GRACE_SECONDS = 16, 30.0
"""With a timeout, workers of which none has answered for so many times the timeout and so many
seconds more are given up."""

SKIPPED = "skipped"
"""The `failure` of an evaluation that was asked for and will not be made."""

IDLE_SECONDS = 300
"""Processes that have had nothing to do for so long end."""


@dataclass(frozen=True)
class Evaluation:
    """One evaluation of one design.

    Attributes:
        number: under which the design was asked for, or a name that its user has given it; None
            where nobody asked.
        x: the design.
        y: its values; None where there are none.
        failure: why it failed; empty where it did not.
        seconds: how long it took.
        jac: gradients of the objectives, where they were told.
        raised: what the function raised, where somebody wants to see that.
    """

    number: int | str | None
    x: Float[np.ndarray, " n_variables"]
    y: Float[np.ndarray, " n_objectives"] | None
    failure: str = ""
    seconds: float = 0.0
    jac: Float[np.ndarray, "n_objectives n_variables"] | None = None
    raised: Exception | None = None

    @property
    def failed(self) -> bool:
        """Whether its values are of no use."""
        return bool(self.failure)

    def result(self) -> np.ndarray | None:
        """Its values, or what it raised."""
        if self.raised is not None:
            raise self.raised
        return self.y

    @property
    def skipped(self) -> bool:
        """Whether it was not made, so that nothing is known of the design."""
        return self.failure == SKIPPED


@dataclass(frozen=True)
class FlatFunction:
    """A function of designs in the user's form, or one per objective, as a function of flat
    vectors.

    It travels to workers by the functions that it is made of. Functions of JAX compute in double
    precision there as here.

    Attributes:
        parts: the functions.
        is_list: whether there is one per objective.
        vectorized: whether they take many designs at once.
        unravel: from a flat vector to the user's form; None where that is the same.
        constraints: functions of the design and of its flat vector, whose values come last.
    """

    parts: tuple[Callable[..., object], ...]
    is_list: bool = False
    vectorized: bool = False
    unravel: Callable[[np.ndarray], object] | None = None
    constraints: tuple[Callable[..., np.ndarray], ...] = ()

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The values at one design."""
        flat = np.array(x[None] if self.vectorized else x)
        has_jax = "jax" in sys.modules  # as it is where the functions have imported it
        precision = import_module("jax").enable_x64(True) if has_jax else nullcontext()
        with precision, np.errstate(all="ignore"):
            design = flat if self.unravel is None else self.unravel(flat)
            values = [
                np.asarray(of_design(part, design), dtype=float).ravel() for part in self.parts
            ]
            rows = [one(design, x) for one in self.constraints]
        return np.concatenate([*(values if self.is_list else values[:1]), *rows])


def evaluate(
    function: Callable[..., object],
    number: int,
    x: np.ndarray,
    timeout: float | None = None,
    task: int = 0,
) -> Evaluation:
    """Evaluates a function at a design; runs on the worker.

    With a timeout the function runs in a thread of its own, which is left behind where it does not
    come back: that frees the worker, whatever kind of worker it is. `task` tells one call from
    another, for executors that remember results of equal calls.
    """
    if timeout is not None:
        found: list[Evaluation] = []
        call = threading.Thread(
            target=lambda: found.append(evaluate(function, number, x)), daemon=True
        )
        call.start()
        call.join(timeout)
        late = f"no answer within timeout={timeout:g} s"
        return found[0] if found else Evaluation(number, x, None, late, timeout)
    began = time.perf_counter()
    y, failure = None, ""
    try:
        values = np.asarray(function(x), dtype=float).ravel()
        if np.isfinite(values).all():
            y = values
        else:
            failure = f"returned {values.tolist()}"
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    return Evaluation(number, x, y, failure, time.perf_counter() - began)


def call(
    function: Callable[..., object],
    number: int,
    x: np.ndarray,
    timeout: float | None = None,
    task: int = 0,
) -> Evaluation:
    """Likewise, for a caller that wants what the function itself would give: values as they are,
    finite or not, or the exception."""
    try:
        return Evaluation(number, x, np.asarray(function(x), dtype=float).ravel())
    except Exception as error:
        try:
            # Some exceptions do not survive the way, and would break the executor.
            raised = pickle.loads(pickle.dumps(error))
        except Exception:
            raised = RuntimeError(f"{type(error).__name__}: {error}")
        return Evaluation(number, x, None, raised=raised)


class Workers:
    """An executor, and another one like it where a worker died and broke it.

    Attributes:
        executor: where tasks go; None after `release`.
    """

    def __init__(self, executor: AnyExecutor):
        is_count = isinstance(executor, int) and not isinstance(executor, bool) and executor >= 1
        if not (is_count or isinstance(executor, Executor) or callable(executor)):
            raise TypeError(
                "executor must be a concurrent.futures.Executor (of loky, Dask's"
                " client.get_executor(), mpi4py.futures), a function that makes one, or a number"
                f" of processes, got {executor!r}"
            )
        self._given = executor
        self.executor: Any = _checked(
            executor if isinstance(executor, Executor) else self._another()
        )

    def _another(self) -> Any:
        """The first executor, or another one in place of one that broke."""
        given = self._given
        if callable(given) and not isinstance(given, Executor):
            return given()
        n = given if isinstance(given, int) else getattr(given, "_max_workers", None)
        if isinstance(given, int) or type(given).__module__.startswith("loky"):
            try:
                from loky import get_reusable_executor
            except ImportError as error:
                raise ImportError(
                    "processes on this machine need loky: pip install 'bezierflow[engines]'"
                ) from error
            return get_reusable_executor(n, timeout=IDLE_SECONDS)
        if isinstance(given, ProcessPoolExecutor):
            return ProcessPoolExecutor(n, mp_context=getattr(given, "_mp_context", None))
        raise RuntimeError(
            f"a worker died and broke the {type(given).__name__}; give executor=a function that"
            " makes one, so that another can be made"
        )

    def submit(self, *task: Any) -> Future:
        """A future of a task."""
        try:
            return self.executor.submit(*task)
        except (BrokenExecutor, RuntimeError):  # by a worker that died, or shut down since
            self.replace()
            return self.executor.submit(*task)

    def replace(self) -> None:
        """A fresh executor in place of a broken one."""
        self.executor.shutdown(wait=False)
        self.executor = _checked(self._another())

    def release(self) -> None:
        """No tasks are sent any more: an executor belongs to its user, who may shut it down."""
        self.executor = None

    def answers(
        self,
        part: Callable[..., object] | Sequence[Callable[..., object]],
        unravel: Callable[[np.ndarray], object] | None,
        x: Float[np.ndarray, "n n_variables"],
        pause: Callable[[], None],
    ) -> list[Callable[[], np.ndarray | None]] | None:
        """For each point what returns the values of a function, or of one per objective, as a flat
        vector, or raises what that raised; None for a worker that died. None after `release`.

        Whoever waits calls `pause` from time to time, which may raise.
        """
        if self.executor is None:
            return None
        parts, is_list = ((part,), False) if callable(part) else (tuple(part), True)
        pool = Pool(FlatFunction(parts, is_list, False, unravel), self, way=call)
        pool.submit(enumerate(x))
        found: list[Evaluation] = []
        try:
            while pool.n_open:
                found += pool.arrivals()
                pause()
        finally:
            pool.close()
        return [one.result for one in sorted(found, key=lambda one: int(one.number or 0))]


class Pool:
    """Evaluates a function at points, in this process or by an executor, which gets a task per
    point.

    A point whose evaluation raises, returns something that is not finite, or takes longer than
    `timeout` comes back as failed, after it was tried again `retries` times. Where a worker dies
    and breaks its executor, the points under way are evaluated one by one by a fresh one, so that
    only the point that kills its worker is left out.

    Args:
        function: x -> values.
        executor: where; None for this process.
        timeout: seconds that an evaluation may take; None for any.
        retries: how often a failed evaluation is tried again.
        way: what a worker does with a point, `evaluate` or `call`.
    """

    def __init__(
        self,
        function: Callable[..., object],
        executor: AnyExecutor | Workers = None,
        timeout: float | None = None,
        retries: int = 0,
        way: Callable[..., Evaluation] = evaluate,
    ):
        if timeout is not None and not timeout > 0:
            raise ValueError(
                f"timeout must be a number of seconds above 0, or None, got {timeout!r}"
            )
        if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
            raise ValueError(f"retries must be a whole number of at least 0, got {retries!r}")
        self.function, self.timeout, self.retries, self.way = function, timeout, retries, way
        self._workers = executor if isinstance(executor, Workers | None) else Workers(executor)
        self._queue: deque[Point] = deque()
        # points that were under way when a worker died: each is sent alone, to find the culprit
        self._suspects: deque[Point] = deque()
        self._sent: dict[Future, Point] = {}
        self._alone = False
        self._failures: Counter[int] = Counter()
        self._heard, self._n_tasks = time.monotonic(), 0

    @property
    def n_open(self) -> int:
        """How many points are not back yet."""
        return len(self._queue) + len(self._suspects) + len(self._sent)

    def submit(self, points: Iterable[Point]) -> None:
        """Takes points, each with a number of its own."""
        self._queue += points

    def arrivals(self) -> list[Evaluation]:
        """Waits until at least one point is back; none only where none is under way."""
        found: list[Evaluation] = []
        while self.n_open and not found:
            raise_if_interrupted()
            if self._workers is None:
                point = self._queue.popleft()
                found = self._received(point, self.way(self.function, *point, self.timeout))
                continue
            if not self._sent:  # workers cannot have answered while they had nothing to do
                self._alone, self._heard = bool(self._suspects), time.monotonic()
            queue = self._suspects if self._alone else self._queue
            while queue and not (self._alone and self._sent):
                point = queue.popleft()
                self._n_tasks += 1
                task = self.way, self.function, *point, self.timeout, self._n_tasks
                self._sent[self._workers.submit(*task)] = point
            found = self._back()
        return found

    def close(self) -> None:
        """Gives up what is under way. An executor that the user gave stays open."""
        for future in self._sent:
            future.cancel()
        self._queue.clear()
        self._suspects.clear()
        self._sent.clear()

    def _back(self) -> list[Evaluation]:
        """What has come back within the polling interval; everything under way, as failed, where no
        worker has answered for too long."""
        done, _ = wait(self._sent, PULSE_SECONDS, FIRST_COMPLETED)
        if done or not self._sent:
            self._heard = time.monotonic()
            return [one for future in done for one in self._taken(future)]
        found: list[Evaluation] = []
        patience = PATIENCE * (self.timeout or float("inf")) + GRACE_SECONDS
        if time.monotonic() - self._heard > patience:
            lost, self._sent, self._heard = self._sent, {}, time.monotonic()
            for future, point in lost.items():
                future.cancel()
                why = f"no worker answered within {patience:.0f} s"
                found += self._received(point, Evaluation(*point, None, why))
        return found

    def _taken(self, future: Future) -> list[Evaluation]:
        """What a task has brought back."""
        point = self._sent.pop(future, None)
        if point is None:  # given up with all others
            return []
        try:
            return self._received(point, future.result())
        except BrokenExecutor as error:
            # A point that was alone has killed its worker; of several, each gets its own turn.
            under_way = [point, *self._sent.values()]
            self._sent.clear()
            assert self._workers is not None
            self._workers.replace()
            self._failures[point[0]] += len(under_way) == 1
            if len(under_way) > 1 or self._failures[point[0]] <= self.retries:
                self._suspects += sorted(under_way, key=lambda point: point[0])
                return []
            return [Evaluation(*point, None, f"its worker died ({type(error).__name__})")]
        except pickle.PicklingError as error:
            raise ValueError(
                f"objectives cannot be sent to the executor's workers ({error}); define them in a"
                " module"
            ) from error
        except CancelledError:
            failure = "the executor cancelled it"
        # Dask's KilledWorker, for one: it has tried the task elsewhere itself
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
        return self._received(point, Evaluation(*point, None, failure))

    def _received(self, point: Point, one: Evaluation) -> list[Evaluation]:
        """The evaluation, if it is final; a failed one may be tried again."""
        self._failures[point[0]] += one.failed
        if one.failed and self._failures[point[0]] <= self.retries:
            self._queue.appendleft(point)
            return []
        return [one]


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


class RayExecutor(Executor):
    """`bf.Objectives(f, executor=RayExecutor())` is evaluated on a Ray cluster, which
    `ray.init(...)` has connected to.

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

        def apply(
            function: Callable[..., object], arguments: tuple, keywords: dict[str, object]
        ) -> object:
            return function(*arguments, **keywords)

        remote = self._ray.remote
        self._call = remote(**options)(apply) if options else remote(apply)

    def submit(self, fn: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future:
        """A future of `fn(*arguments, **keywords)`, computed by a task of Ray's."""
        return self._call.remote(fn, arguments, keywords).future()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leaves Ray running: it belongs to the process that started it."""
