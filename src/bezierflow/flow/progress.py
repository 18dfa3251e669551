"""A progress bar for long runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(show: bool, total: int | None, what: str) -> Iterator[Callable[[int, str], None]]:
    """A function `update(done, note)` that redraws a bar on the terminal, or does nothing if `show` is False."""
    if not show:
        yield lambda done, note: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, TextColumn("{task.fields[note]}"), console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=total, note="")
        yield lambda done, note: bar.update(task, completed=done, note=note)
