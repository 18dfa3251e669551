"""What commands print and write: tables, JSON, and the library's errors as clean lines."""

import json
import sys
from pathlib import Path
from typing import Any

import click

json_option = click.option("--json", "json_path", type=click.Path(dir_okay=False), help="Also write the figures to this file.")


def or_fail(function: Any, *arguments: Any, **keywords: Any) -> Any:
    """The library's own message as a clean line instead of a traceback."""
    try:
        return function(*arguments, **keywords)
    except (ValueError, TypeError, ImportError, OSError) as error:
        raise click.ClickException(str(error)) from error


def print_table(headings: list[str], rows: list[list[str]]) -> None:
    """A table without lines; texts of the user's are text, never markup."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=any(headings), pad_edge=False)
    for number, heading in enumerate(headings):
        table.add_column(Text(heading), justify="left" if number == 0 or not any(headings) else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    # Where nobody watches, a table is for a file or another program: never folded to a guessed width.
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def write_json(path: str | None, figures: dict[str, Any]) -> None:
    """The figures of a report, where --json asks for them."""
    if path:
        Path(path).write_text(json.dumps(figures, indent=2, allow_nan=True) + "\n", encoding="utf-8")
