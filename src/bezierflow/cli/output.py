"""What commands print and write: tables, JSON, files."""

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bezierflow.arguments import printable


def check_writable(path: str | None, *endings: str) -> str | None:
    """The path of a file to be written, or an error: a wrong ending, no folder, no right to write
    there."""
    if path is None:
        return None
    target = Path(path).absolute()
    if endings and target.suffix.lower() not in endings:
        raise ValueError(f"{path} must end in {' or '.join(endings)}")
    if not target.parent.is_dir():
        raise ValueError(
            f"{path} cannot be written: there is no folder {target.parent}; create it first"
        )
    if target.is_dir() or not os.access(target if target.exists() else target.parent, os.W_OK):
        raise ValueError(
            f"{path} cannot be written: it is a folder, or you have no right to write there"
        )
    return path


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table without lines; texts of the user's are text, never markup."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=any(headings), pad_edge=False)
    for number, heading in enumerate(headings):
        left = number == 0 or not any(headings)
        table.add_column(Text(heading), justify="left" if left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    # Output that is not a terminal is a file or another program's input: lines are not folded to a
    # guessed width.
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def write_json(path: str | None, figures: Mapping[str, object]) -> None:
    """The figures of a report, where --json asks for them."""
    if path:
        # errors that are not known are NaN, which Python reads back
        text = json.dumps(figures, indent=2, allow_nan=True)
        Path(path).write_text(text + "\n", encoding="utf-8")
