"""A progress bar for long runs: on a terminal, and in a notebook."""

import html
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

from .schedule import SCHEDULE

Draw = Callable[[float | None, str], None]
"""Draws the share that is done, None where that is not known, and a text beside the bar."""


@contextmanager
def progress_bar(
    show: bool | None, total: int | None, what: str, began: float | None = None
) -> Iterator[Callable[..., None]]:
    """A function `update(done, note, share=None)` for a bar on the terminal or in the notebook.

    Args:
        show: whether there is a bar; None for one that appears where a person watches, once the run
            has lasted for a few seconds, and that is gone after it.
        total: what `done` counts up to, where that is known: the share is done / total then.
        what: is being done, in words.
        began: when the run began, on the clock `time.monotonic`; now, if not given.
    """
    # A kernel whose output a browser shows, as against a terminal or a script.
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    in_notebook = shell is not None and hasattr(shell, "kernel")
    if show is False or (show is None and not (in_notebook or sys.stderr.isatty())):
        yield lambda done, note, share=None: None
        return
    began = time.monotonic() if began is None else began
    make = _notebook_bar(what) if in_notebook else _terminal_bar(what, transient=show is None)
    bar = _Bar(make, total, began, 0.0 if show else SCHEDULE.patience, timed=not in_notebook)
    try:
        yield bar.update
    finally:
        bar.close()


class _Bar:
    """A bar that is opened once a run has lasted long enough: by a timer where output may come from
    any thread, since a single iteration may take minutes; else at the next update."""

    def __init__(
        self,
        make: AbstractContextManager[Draw],
        total: int | None,
        began: float,
        patience: float,
        timed: bool,
    ):
        self.make, self.total, self.began, self.patience = make, total, began, patience
        self.lock, self.stack, self.draw = threading.RLock(), ExitStack(), None
        self.latest: tuple[float | None, str] = (None, "")
        self.start, self.closed = time.monotonic(), False
        self.timer = threading.Timer(self._wait, self._open)
        self.timer.daemon = True
        if self._wait == 0:
            self._open()
        elif timed:
            self.timer.start()

    @property
    def _wait(self) -> float:
        return max(self.patience + self.began - time.monotonic(), 0.0)

    def _open(self) -> None:
        with self.lock:
            if self.draw is None and not self.closed:
                self.draw = self.stack.enter_context(self.make)
                self.draw(*self.latest)

    def update(self, done: int, note: str, share: float | None = None) -> None:
        """What was done so far, and which share of all there is to do, where that is known."""
        share = done / self.total if share is None and self.total else share
        count = f"{done:,}/{self.total:,}" if self.total else f"{done:,}"
        seconds = time.monotonic() - self.start
        rest = "" if share is None else _rest(seconds, share)
        with self.lock:
            self.latest = share, ", ".join(part for part in (count, note, rest) if part)
            if self._wait == 0:
                self._open()
            if self.draw is not None:
                self.draw(*self.latest)

    def close(self) -> None:
        """Ends it."""
        self.timer.cancel()
        with self.lock:
            self.closed = True
            self.stack.close()


def _rest(seconds: float, share: float) -> str:
    """How long it will still take at the speed so far; nothing where it is too early to tell."""
    if not SCHEDULE.least_share <= share < 1:
        return ""
    left = seconds * (1 - share) / share
    for unit, size in (("h", 3600), ("min", 60)):
        if left >= 2 * size:
            return f"about {left / size:.0f} {unit} left"
    return f"about {max(left, 1):.0f} s left"


@contextmanager
def _terminal_bar(what: str, transient: bool) -> Iterator[Draw]:
    # On demand, since most runs show no bar.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}")
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=transient) as bar:
        task = bar.add_task(what, total=None, note="")

        def draw(share: float | None, note: str) -> None:
            total = None if share is None else 1.0
            bar.update(task, completed=share or 0.0, total=total, note=note)

        yield draw


@contextmanager
def _notebook_bar(what: str) -> Iterator[Draw]:
    """One output that is replaced as the run goes on. Widgets would draw it too, but are not
    installed everywhere."""
    from IPython.display import HTML, display  # type: ignore[import-not-found]  # only where a notebook runs

    handle = display(HTML(_bar_html(None, what, "")), display_id=True)
    shown, last = -SCHEDULE.pulse_seconds, (None, "")

    def draw(share: float | None, note: str) -> None:
        nonlocal shown, last
        last = share, note
        if time.monotonic() - shown >= SCHEDULE.pulse_seconds:
            shown = time.monotonic()
            handle.update(HTML(_bar_html(share, what, note)))

    try:
        yield draw
    finally:
        handle.update(HTML(_bar_html(last[0] or 1.0, what, last[1])))


def _bar_html(share: float | None, what: str, note: str) -> str:
    """The browser's own progress bar, without an end where there is none to tell."""
    value = "" if share is None else f' value="{share:.4f}"'
    return f"<div>{html.escape(what)} <progress{value}></progress> {html.escape(note)}</div>"
