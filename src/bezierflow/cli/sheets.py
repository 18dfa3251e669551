"""Sheets that people fill in: CSV with empty cells for results, read as spreadsheets of any country
write it."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import bezierflow as bf

if TYPE_CHECKING:
    import numpy as np

    from bezierflow.runs import Evaluation

NUMBER = "number"
"""The column that says which design a row is about."""

PLAIN = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?")
"""A number with a decimal point or a decimal comma."""

GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
"""A number that may have a separator of thousands in place of a decimal sign."""


class Row(NamedTuple):
    """A row that is filled in.

    Attributes:
        line: its number in the file, as spreadsheets count.
        number: of the design, or a name of the person's own; None for neither.
        x: the settings that were used.
        y: the values, or a text that says why there are none.
    """

    line: int
    number: int | str | None
    x: tuple[float, ...]
    y: tuple[float, ...] | str


class Sheet(NamedTuple):
    """What a sheet holds.

    Attributes:
        rows: those that are filled in.
        n_empty: how many are not.
        unused: headings of columns that mean nothing here, such as remarks.
    """

    rows: list[Row]
    n_empty: int
    unused: list[str]


def write_sheet(names: "bf.Names", rows: Iterable[Sequence[Any]], semicolons: bool = False) -> str:
    """A sheet with a row per design: number, settings and, where it has them, values or a text.
    With semicolons it is for spreadsheets whose decimal sign is the comma."""
    columns = (NUMBER, *names.variables, *names.objectives)
    text, (delimiter, decimal) = io.StringIO(), ";," if semicolons else ",."
    table = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    table.writerow(columns)
    for row in rows:
        cells = [
            repr(float(one)).removesuffix(".0").replace(".", decimal)
            if isinstance(one, float)
            else str(one)
            for one in row
        ]
        table.writerow([*cells, *[""] * (len(columns) - len(cells))])
    return text.getvalue()


def read_sheet(
    path: str, names: "bf.Names", bounds: "tuple[np.ndarray, np.ndarray]", known: Mapping[Any, Any]
) -> Sheet:
    """The rows of a sheet, or an error that names file, row and column.

    Args:
        path: of the file.
        names: of the study.
        bounds: of its designs.
        known: the settings of each number that was asked for or told.
    """
    delimiter, (first, *lines) = _cells(path, (NUMBER, *names.variables, *names.objectives))
    columns = _columns(path, first[1], names)
    commas = any("," in one and PLAIN.fullmatch(one) for _, cells in lines for one in cells)
    # beside commas that are decimal, a point may be one of thousands; beside cells that commas
    # separate, a comma too
    suspects = (".," if delimiter == "," else ".") if commas else ""
    reader = _Reader(path, columns, names, bounds, known, suspects)
    rows: list[Row] = []
    seen: dict[int | str | None, int] = {None: 0}
    for line, cells in lines:
        row = reader.row(line, cells, len(first[1]))
        if row is not None:
            if seen.setdefault(row.number, line) not in (0, line):
                reader.fail(line, NUMBER, f"{row.number} is in row {seen[row.number]} already")
            rows.append(row)
    unused = [name for name in first[1] if name and name not in columns]
    return Sheet(rows, len(lines) - len(rows), unused)


def new_rows(rows: Iterable[Row], evaluations: Iterable["Evaluation"]) -> list[Row]:
    """Rows without those of the person's own, without a number, that were told before."""
    told = Counter(
        (tuple(one.x), () if one.failed or one.y is None else tuple(one.y)) for one in evaluations
    )
    kept = []
    for row in rows:
        key = row.x, () if isinstance(row.y, str) else row.y
        if row.number is None and told[key] > 0:
            told[key] -= 1
        else:
            kept.append(row)
    return kept


def remarks(sheet: Sheet, pending: "Mapping[int, np.ndarray]", names: "bf.Names") -> Iterator[str]:
    """A line for each setting that is not as it was proposed, and one for columns that mean
    nothing."""
    if sheet.unused:
        yield f"not read: {', '.join(sheet.unused)}"
    for row in sheet.rows:
        asked = pending.get(row.number, row.x) if isinstance(row.number, int) else row.x
        for name, value, proposed in zip(names.variables, row.x, asked, strict=True):
            if abs(value - proposed) > 1e-9 * (1 + abs(value)):
                yield f"number {row.number}: {name} {value:g} in place of {proposed:g}"


def _cells(path: str, names: Sequence[str]) -> tuple[str, list[tuple[int, list[str]]]]:
    """The delimiter, the one that makes most of the names in the heading, and the cells of each
    line that has any, with its number."""
    content = Path(path).read_bytes()
    if content[:2] == b"PK":
        raise ValueError(f"{path} is a workbook: save the sheet as CSV, and tell that")
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = content.decode("utf-16")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:  # older spreadsheets write the code page of Western Windows
            text = content.decode("cp1252", "replace")
    tables = []
    for delimiter in ",;\t":
        # "sep=;" is a line that some spreadsheets write before the heading
        reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter)
        lines = [(reader.line_num, [cell.strip() for cell in line]) for line in reader]
        lines = [one for one in lines if any(one[1]) and not one[1][0].startswith("sep=")]
        heading = lines[0][1] if lines else []
        tables.append((len({*heading} & {*names}), delimiter, lines or [(1, [])]))
    return max(tables, key=lambda table: table[0])[1:]


def _columns(path: str, heading: list[str], names: "bf.Names") -> dict[str, int]:
    """Where the columns are; an error for those that are missing or there twice."""
    columns = {name: heading.index(name) for name in heading}
    needed, settings = list(names.objectives), set(names.variables)
    # settings may be left out as a whole where numbers say what they were
    if NUMBER not in columns or settings & columns.keys():
        needed = [*names.variables, *needed]
    missing = [name for name in needed if name not in columns]
    if missing:
        has = f"it has {', '.join(filter(None, heading)) or 'none'}"
        raise ValueError(f"{path}, row 1: there is no column {', '.join(missing)}; {has}")
    found = {name: columns[name] for name in (NUMBER, *needed) if name in columns}
    for name in found:
        if heading.count(name) > 1:
            raise ValueError(f"{path}, row 1: there are two columns {name}")
    return found


class _Reader:
    """Reads rows; `suspects` are signs that may separate thousands."""

    def __init__(
        self,
        path: str,
        columns: Mapping[str, int],
        names: "bf.Names",
        bounds: "tuple[np.ndarray, np.ndarray]",
        known: Mapping[Any, Any],
        suspects: str,
    ):
        self.path, self.columns, self.names, self.known = path, columns, names, known
        self.bounds = dict(zip(names.variables, zip(*bounds, strict=True), strict=True))
        self.suspects = suspects

    def fail(self, line: int, column: str, words: str) -> NoReturn:
        """One error for all that can be wrong with a cell."""
        raise ValueError(f"{self.path}, row {line}, column {column}: {words}; nothing was taken")

    def row(self, line: int, cells: Sequence[str], width: int) -> Row | None:
        """What a row says, in a sheet of so many columns; None where its results are not filled
        in."""
        texts = {name: "".join(cells[k : k + 1]) for name, k in self.columns.items()}
        if len(cells) > width:
            words = "more cells than in the heading; where commas are decimal, separate cells by"
            self.fail(line, list(texts)[-1], f"there are {words} semicolons")
        number, y = self._number(line, texts.get(NUMBER, "")), self._values(line, texts)
        if y is None:
            return None
        if number in self.known and not any(texts.get(name) for name in self.names.variables):
            return Row(line, number, tuple(map(float, self.known[number])), y)
        x = []
        for name, (low, high) in self.bounds.items():
            if not texts.get(name):
                self.fail(line, name, "it is empty: type what the setting was")
            x.append(self._value(line, name, texts[name]))
            if not low <= x[-1] <= high:
                words = f"{x[-1]:g} is beyond the bounds of the study, {low:g} to {high:g}"
                self.fail(line, name, words)
        return Row(line, number, tuple(x), y)

    def _number(self, line: int, text: str) -> int | str | None:
        if not text:
            return None
        if not PLAIN.fullmatch(text):
            return text  # a name of the person's own
        value = float(text.replace(",", "."))
        if value not in self.known:
            self.fail(
                line,
                NUMBER,
                f"{text} is not asked for; leave the cell of a design of your own empty, or type a"
                " name that is no number",
            )
        return int(value)

    def _values(self, line: int, texts: Mapping[str, str]) -> tuple[float, ...] | str | None:
        """The values; a text where they are said to be missing; None where nothing is said."""
        cells = {name: texts[name] for name in self.names.objectives}
        if not any(cells.values()):
            return None
        for text in cells.values():
            said = re.fullmatch(r"(fail|skip|nan|inf)\w*\b[\s:,-]*(.*)", text, re.I | re.S)
            if said:
                skipped = said[1].lower() == "skip"
                return "skipped" if skipped else said[2] or "told as failed"
        for name, text in cells.items():
            if not text:
                self.fail(line, name, 'it is empty and others are not: type the value, or "failed"')
        return tuple(self._value(line, name, text) for name, text in cells.items())

    def _value(self, line: int, name: str, text: str) -> float:
        """A number with a decimal point or comma; an error where that may be one of thousands."""
        plain = text.replace("\u2212", "-")
        if not PLAIN.fullmatch(plain):
            self.fail(line, name, f'{text!r} is no number such as 0.5 or 0,5, nor "failed"')
        value = float(plain.replace(",", "."))
        if GROUPED.fullmatch(plain) and any(sign in plain for sign in self.suspects):
            low, high = self.bounds.get(name, (-float("inf"), float("inf")))
            readings = [value, float(re.sub("[.,]", "", plain))]
            if all(low <= one <= high for one in readings):
                may_be = " or ".join(f"{one:g}" for one in readings)
                self.fail(line, name, f"{text} may be {may_be}: write all numbers in one way")
        return value
