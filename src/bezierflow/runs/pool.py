"""Evaluations under way: handed out in chunks, retried, and given back as they arrive."""

import pickle
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from statistics import median
from typing import NamedTuple

from ..interrupts import raise_if_interrupted
from .executors import AnyExecutor, as_engine
from .outcome import Outcome, evaluate_chunk, evaluate_one

CHUNK_SECONDS = 0.2
"""About how long a task takes: shorter ones drown in what it costs to send them, longer ones leave
workers idle at the end."""

TASKS_AHEAD, MOST_TASKS_AHEAD = 4, 16
"""Tasks that are sent for each worker before it is known how long one takes on its way, and at
most: one at work, and others that wait for it meanwhile."""

PULSE_SECONDS = 0.2
"""How often it is looked whether somebody wants to leave."""

GRACE_SECONDS = 30.0
"""With a timeout, workers of which none has answered for so much longer are given up."""


class Point(NamedTuple):
    """A point to evaluate: its number, and how often it was tried."""

    number: int
    x: object
    tries: int = 0


class Pool:
    """Evaluates a function at points, in this process or by an executor.

    A point whose evaluation raises, returns something that is not finite, or takes longer than
    `timeout` is tried again `retries` times; then it comes back as failed. Where a worker dies and
    breaks its executor, the points under way are evaluated one by one by a fresh one, so that only
    the point that kills its worker is left out.

    Args:
        function: x -> values.
        executor: where; None for this process.
        timeout: seconds that an evaluation may take; None for any.
        retries: how often a failed evaluation is tried again.
    """

    def __init__(
        self,
        function: Callable[..., object],
        executor: AnyExecutor = None,
        timeout: float | None = None,
        retries: int = 1,
    ):
        if timeout is not None and not timeout > 0:
            raise ValueError(
                f"timeout must be a number of seconds above 0, or None, got {timeout!r}"
            )
        if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
            raise ValueError(f"retries must be a whole number of at least 0, got {retries!r}")
        self.function, self.timeout, self.retries = function, timeout, retries
        self.engine = as_engine(executor)
        self.n_workers = 1 if self.engine is None else self.engine.n_workers
        self._queue: deque[Point] = deque()
        self._suspects: deque[Point] = deque()
        self._sent: dict[Future, list[Point]] = {}
        self._sent_at: dict[Future, float] = {}
        self._on_the_way: deque[float] = deque(maxlen=20)
        self._alone: Future | None = None
        self._seconds: deque[float] = deque(maxlen=50)
        self._heard, self._n_tasks = time.monotonic(), 0

    @property
    def n_open(self) -> int:
        """How many points are not back yet."""
        return len(self._queue) + len(self._suspects) + sum(map(len, self._sent.values()))

    def submit(self, points: Iterable[tuple[int, object]]) -> None:
        """Takes points, each with a number of its own."""
        self._queue += (Point(number, x) for number, x in points)

    def arrivals(self) -> list[tuple[int, Outcome]]:
        """Waits until at least one point is back; none only where none is under way."""
        found: list[tuple[int, Outcome]] = []
        while self.n_open and not found:
            raise_if_interrupted()
            found = self._here() if self.engine is None else self._away()
        return found

    def close(self) -> None:
        """Gives up what is under way. An executor that the user gave stays open."""
        for future in self._sent:
            future.cancel()
        self._queue.clear()
        self._suspects.clear()
        self._sent.clear()

    def _here(self) -> list[tuple[int, Outcome]]:
        point = self._queue.popleft()
        return self._received(point, evaluate_one(self.function, point.x, self.timeout))

    def _away(self) -> list[tuple[int, Outcome]]:
        self._send()
        done, _ = wait(self._sent, PULSE_SECONDS, FIRST_COMPLETED)
        if done or not self._sent:
            self._heard = time.monotonic()
        elif self.timeout is not None and time.monotonic() - self._heard > self._patience:
            return self._give_up(f"no worker answered within {self._patience:.0f} s")
        return [arrival for future in done for arrival in self._taken(future)]

    @property
    def _patience(self) -> float:
        assert self.timeout is not None
        return (
            self.timeout * max(map(len, self._sent.values()), default=1) * MOST_TASKS_AHEAD
            + GRACE_SECONDS
        )

    def _send(self) -> None:
        """Hands out chunks while workers have too little to do; suspects alone."""
        assert self.engine is not None
        if self._suspects and not self._sent:
            self._alone = self._send_chunk([self._suspects.popleft()])
        free = not self._suspects and self._alone not in self._sent
        while self._queue and free and len(self._sent) < self._tasks_ahead * self.n_workers:
            self._send_chunk([self._queue.popleft() for _ in range(self._chunk_size())])

    def _send_chunk(self, points: list[Point]) -> Future:
        assert self.engine is not None
        self._n_tasks += 1  # no two tasks are the same, whatever an executor may remember
        arguments = self.function, [point.x for point in points], self.timeout, self._n_tasks
        try:
            future = self.engine.executor.submit(evaluate_chunk, *arguments)
        except (BrokenExecutor, RuntimeError):  # broken by a worker that died, or shut down since
            self.engine.again()
            future = self.engine.executor.submit(evaluate_chunk, *arguments)
        self._sent[future], self._sent_at[future] = points, time.monotonic()
        return future

    @property
    def _tasks_ahead(self) -> int:
        """As many as a worker does while one is on its way."""
        if not self._on_the_way:
            return TASKS_AHEAD
        task = max(CHUNK_SECONDS, median(self._seconds)) if self._seconds else CHUNK_SECONDS
        return min(2 + int(min(self._on_the_way) / task), MOST_TASKS_AHEAD)

    def _chunk_size(self) -> int:
        """Single points until it is known how long one takes; small chunks at the end, so that
        workers end together."""
        if not self._seconds:
            return 1
        long_enough = round(CHUNK_SECONDS / max(median(self._seconds), 1e-6))
        fair = max(long_enough // 4, len(self._queue) // (2 * self.n_workers))
        return max(1, min(long_enough, fair, len(self._queue)))

    def _taken(self, future: Future) -> list[tuple[int, Outcome]]:
        points, turnaround = (
            self._sent.pop(future, None),
            time.monotonic() - self._sent_at.pop(future, 0.0),
        )
        if points is None:  # given up with all others
            return []
        try:
            outcomes = future.result()
        except BrokenExecutor as error:
            return self._broken(points, error)
        except pickle.PicklingError as error:
            raise ValueError(
                f"objectives cannot be sent to the executor's workers ({error}); define them in a"
                " module"
            ) from error
        except CancelledError:
            outcomes = [Outcome(None, "the executor cancelled it")] * len(points)
        # Dask's KilledWorker, for one: it has tried the task elsewhere itself
        except Exception as error:
            outcomes = [Outcome(None, f"{type(error).__name__}: {error}")] * len(points)
        self._on_the_way.append(turnaround - sum(outcome.seconds for outcome in outcomes))
        pairs = zip(points, outcomes, strict=True)
        return [arrival for point, outcome in pairs for arrival in self._received(point, outcome)]

    def _received(self, point: Point, outcome: Outcome) -> list[tuple[int, Outcome]]:
        if outcome.failed and point.tries < self.retries:
            self._queue.appendleft(point._replace(tries=point.tries + 1))
            return []
        if not outcome.failed:
            self._seconds.append(outcome.seconds)
        return [(point.number, outcome)]

    def _broken(self, points: list[Point], error: BaseException) -> list[tuple[int, Outcome]]:
        """A worker died. One point that was alone is to blame; of several, nobody knows, and each
        gets its own turn."""
        assert self.engine is not None
        under_way = points + [point for others in self._sent.values() for point in others]
        self._sent.clear()
        self.engine.again()
        first = under_way[0]
        if len(under_way) == 1 and first.tries >= self.retries:
            return [(first.number, Outcome(None, f"its worker died ({type(error).__name__})"))]
        tries = int(len(under_way) == 1)
        again = (point._replace(tries=point.tries + tries) for point in under_way)
        self._suspects += sorted(again, key=lambda point: point.number)
        return []

    def _give_up(self, why: str) -> list[tuple[int, Outcome]]:
        lost = [point for points in self._sent.values() for point in points]
        for future in self._sent:
            future.cancel()
        self._sent.clear()
        self._heard = time.monotonic()
        return [arrival for point in lost for arrival in self._received(point, Outcome(None, why))]
