"""A progress bar for long runs: on a terminal, and in a notebook."""

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .schedule import SCHEDULE


@contextmanager
def progress_bar(show: bool, total: int | None, what: str) -> Iterator[Callable[[int, str], None]]:
    """A function `update(done, note)` that redraws a bar on the terminal or in the notebook; it
    does nothing without `show`."""
    if not show:
        yield lambda done, note: None
        return
    # A kernel whose output a browser shows, as against a terminal or a script.
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None and hasattr(shell, "kernel"):
        with _notebook_bar(total, what) as update:
            yield update
        return
    # On demand, since most runs show no bar.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, TextColumn("{task.fields[note]}"), console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=total, note="")
        yield lambda done, note: bar.update(task, completed=done, note=note)


@contextmanager
def _notebook_bar(total: int | None, what: str) -> Iterator[Callable[[int, str], None]]:
    """One output that is replaced as the run goes on. Widgets would draw it too, but are not
    installed everywhere."""
    from IPython.display import HTML, display  # type: ignore[import-not-found]  # only where a notebook runs

    handle = display(HTML(_bar_html(0, total, what, "")), display_id=True)
    shown, last = time.monotonic(), (0, "")

    def update(done: int, note: str) -> None:
        nonlocal shown, last
        last = (done, note)
        if time.monotonic() - shown >= SCHEDULE.pulse_seconds:
            shown = time.monotonic()
            handle.update(HTML(_bar_html(done, total, what, note)))

    try:
        yield update
    finally:
        done, note = last
        handle.update(HTML(_bar_html(done, max(done, 1) if total is None else total, what, note)))


def _bar_html(done: int, total: int | None, what: str, note: str) -> str:
    """The browser's own progress bar, without an end where there is none to tell."""
    most = "" if total is None else f' max="{total}"'
    value = f' value="{done}"' if total is not None else ""
    count = f"{done:,}" if total is None else f"{done:,}/{total:,}"
    return (
        f"<div>{html.escape(what)} <progress{most}{value}></progress> {count}"
        f" {html.escape(note)}</div>"
    )
