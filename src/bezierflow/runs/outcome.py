"""What comes back from a worker: values, or why there are none."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """One evaluation.

    Attributes:
        y: the values; None where it failed.
        failure: why it failed.
        seconds: how long it took.
    """

    y: tuple[float, ...] | None
    failure: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether there are no values."""
        return self.y is None


def evaluate_chunk(
    function: Callable[..., object],
    points: Sequence[object],
    timeout: float | None,
    number: int = 0,
) -> list[Outcome]:
    """The outcome at each point, one after the other. Runs on the worker. The number tells one task
    from another."""
    return [evaluate_one(function, point, timeout) for point in points]


def evaluate_one(function: Callable[..., object], point: object, timeout: float | None) -> Outcome:
    """The outcome at a point.

    With a timeout the function runs in a thread of its own, which is left behind where it does not
    come back: that frees the worker, whatever kind of worker it is.
    """
    if timeout is None:
        return _evaluated(function, point)
    found: list[Outcome] = []
    thread = threading.Thread(target=lambda: found.append(_evaluated(function, point)), daemon=True)
    thread.start()
    thread.join(timeout)
    return found[0] if found else Outcome(None, f"no answer within timeout={timeout:g} s", timeout)


def _evaluated(function: Callable[..., object], point: object) -> Outcome:
    began = time.perf_counter()
    try:
        y = np.asarray(function(point), dtype=float).ravel()
    except Exception as error:
        return Outcome(None, f"{type(error).__name__}: {error}", time.perf_counter() - began)
    seconds = time.perf_counter() - began
    if not np.isfinite(y).all():
        return Outcome(None, f"returned {y.tolist()}", seconds)
    return Outcome(tuple(y.tolist()), "", seconds)
