"""What commands print and write: tables, JSON, and the library's errors as clean lines."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import ParamSpec, TypeVar

import click

P = ParamSpec("P")
T = TypeVar("T")

json_option = click.option("--json", "json_path", type=click.Path(dir_okay=False), help="Also write the figures to this file.")


def or_fail(function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
    """What the function returns, or its own message as a clean line instead of a traceback."""
    try:
        return function(*arguments, **keywords)
    except (ValueError, TypeError, ImportError, OSError) as error:
        raise click.ClickException(str(error)) from error


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table without lines; texts of the user's are text, never markup."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=any(headings), pad_edge=False)
    for number, heading in enumerate(headings):
        table.add_column(Text(heading), justify="left" if number == 0 or not any(headings) else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    # Output that is not a terminal is a file or another program's input: lines are not folded to a guessed width.
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def write_json(path: str | None, figures: Mapping[str, object]) -> None:
    """The figures of a report, where --json asks for them."""
    if path:
        Path(path).write_text(json.dumps(figures, indent=2, allow_nan=True) + "\n", encoding="utf-8")
