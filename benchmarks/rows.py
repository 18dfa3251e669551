"""Rows of results that are appended as they are made, by several processes at once, and tables of
them in pages."""

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


def write_table(page: Path, start: str, end: str, table: str) -> None:
    """Writes a table between two marks of a page, and prints it."""
    before, _, rest = page.read_text(encoding="utf-8").partition(start)
    after = rest.partition(end)[2]
    page.write_text(f"{before}{start}\n{table}\n{end}{after}", encoding="utf-8")
    print(table)
