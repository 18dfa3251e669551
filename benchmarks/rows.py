"""Rows of results that are appended as they are made, by several processes at once."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path


def append(path: Path, columns: Sequence[str], row: Mapping[str, object]) -> None:
    """Appends a row, with a header to a new file, in one write."""
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)
