"""What commands print and write: tables, JSON, and the library's errors as clean lines."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import ParamSpec, TypeVar

import click

from bezierflow.arguments import printable

P = ParamSpec("P")
T = TypeVar("T")

json_option = click.option(
    "--json",
    "json_path",
    type=click.Path(dir_okay=False),
    help="Also write the figures to this file.",
)


class Refused(click.ClickException):
    """What the user gave cannot be: one line, and the exit code of misuse."""

    exit_code = 2

    def __init__(self, message: str):
        super().__init__(" ".join(printable(message).split()))


def or_fail(function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
    """What the function returns, or its own message as a clean line instead of a traceback."""
    try:
        return function(*arguments, **keywords)
    except (ValueError, TypeError, ImportError, OSError) as error:
        raise Refused(str(error)) from error


def check_writable(path: str | None, *endings: str) -> None:
    """Refuses a file to be written before anything is computed for it: a wrong ending, no folder,
    no right to write there."""
    if path is None:
        return
    target = Path(path).absolute()
    if endings and target.suffix.lower() not in endings:
        raise Refused(f"{path} must end in {' or '.join(endings)}")
    if not target.parent.is_dir():
        raise Refused(
            f"{path} cannot be written: there is no folder {target.parent}; create it first"
        )
    if target.is_dir() or not os.access(target if target.exists() else target.parent, os.W_OK):
        raise Refused(
            f"{path} cannot be written: it is a folder, or you have no right to write there"
        )


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table without lines; texts of the user's are text, never markup."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=any(headings), pad_edge=False)
    for number, heading in enumerate(headings):
        table.add_column(
            Text(heading),
            justify="left" if number == 0 or not any(headings) else "right",
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    # Output that is not a terminal is a file or another program's input: lines are not folded to a
    # guessed width.
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def write_json(path: str | None, figures: Mapping[str, object]) -> None:
    """The figures of a report, where --json asks for them."""
    if path:
        Path(path).write_text(
            json.dumps(figures, indent=2, allow_nan=True) + "\n", encoding="utf-8"
        )
