"""Ctrl-C and time limits during a run: heard at once, acted upon where nothing is half-done.

Inside of `orderly_interrupts()` the first Ctrl-C is a request: a line says that it was heard, and
the next call of `raise_if_interrupted`, which the loops of this library make between two batches of
evaluations, raises `KeyboardInterrupt` once. The second Ctrl-C is Python's own: it raises
`KeyboardInterrupt` wherever the program is.

Inside of `time_limit.applied()` a call of `raise_if_late` ends a search whose time is up as if its
budget were spent, which keeps what was found so far.
"""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

HEARD = (
    "\ninterrupted: ends after the step at hand and keeps what there is; Ctrl-C again to end at"
    " once\n"
)


class BudgetSpentError(Exception):
    """More was asked for than the budget or the time limit allows. Of a budget, nothing of that
    batch was evaluated; of a time limit, what was evaluated is in `rows`."""

    def __init__(self, rows: Any = ()):
        super().__init__()
        self.rows = rows


class _Request:
    """Whether Ctrl-C was pressed in this block, and whether that is still to be acted upon."""

    asked = False
    pending = False


@contextmanager
def orderly_interrupts() -> Iterator[None]:
    """A block in which the first Ctrl-C is a request.

    Inside of another one, in other threads, or with a handler of the user's own, it changes
    nothing.
    """
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    _Request.asked = _Request.pending = False

    def hear(number: int, frame: FrameType | None) -> None:
        if _Request.asked:
            signal.default_int_handler(number, frame)
        _Request.asked = _Request.pending = True
        sys.stderr.write(HEARD)

    signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class TimeLimit:
    """When a run shall end.

    Attributes:
        deadline: on the clock `time.monotonic`; infinite for none.
        reached: whether a search was ended by it.
    """

    def __init__(self, deadline: float = float("inf")):
        self.deadline, self.reached = deadline, False

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return max(self.deadline - time.monotonic(), 0.0)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """A block whose evaluations end when the time is up."""
        token = _LIMIT.set(self)
        try:
            yield
        finally:
            _LIMIT.reset(token)

    def check(self) -> None:
        """Raises `BudgetSpentError` when the time is up."""
        if self.left == 0.0:
            self.reached = True
            raise BudgetSpentError


NO_LIMIT = TimeLimit()

_LIMIT: ContextVar[TimeLimit | None] = ContextVar("time limit", default=None)


def raise_if_late() -> None:
    """Raises `BudgetSpentError` where the time limit that is applied here is over."""
    limit = _LIMIT.get()
    if limit is not None:
        limit.check()


def raise_if_interrupted() -> None:
    """Raises `KeyboardInterrupt` for a request that is still pending."""
    if _Request.pending and threading.current_thread() is threading.main_thread():
        _Request.pending = False
        raise KeyboardInterrupt
