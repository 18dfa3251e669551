"""Ctrl-C during a run: heard at once, and acted upon where nothing is half-done.

Inside of `orderly_interrupts()` the first Ctrl-C is a request: a line says that it was heard, and
the next call of `raise_if_interrupted`, which the loops of this library make between two batches of
evaluations, raises `KeyboardInterrupt` once. The second Ctrl-C is Python's own: it raises
`KeyboardInterrupt` wherever the program is.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

HEARD = (
    "\ninterrupted: ends after the step at hand and keeps what there is; Ctrl-C again to end at"
    " once\n"
)


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
    signal.signal(signal.SIGINT, _hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _hear(number: int, frame: FrameType | None) -> None:
    if _Request.asked:
        signal.default_int_handler(number, frame)
    _Request.asked = _Request.pending = True
    sys.stderr.write(HEARD)


def raise_if_interrupted() -> None:
    """Raises `KeyboardInterrupt` for a request that nobody has acted upon yet."""
    if _Request.pending and threading.current_thread() is threading.main_thread():
        _Request.pending = False
        raise KeyboardInterrupt
