"""Points of a Pareto set as tables: data frames, CSV and JSON, with the names of variables and
objectives."""

import csv
import io
import json

import numpy as np

from ..names import Names
from .pareto_set import Points

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A text that starts with one of these, spaces apart, is a formula to a spreadsheet; an apostrophe
before it makes it a text."""


def columns(points: Points, designs: list[np.ndarray], names: Names) -> dict[str, np.ndarray]:
    """The columns of a table by name: variables, objectives, and t1, t2, … for where a point lies
    on the simplex or chart.

    `designs` are the variables one by one. A name that is taken already gets a remark: "mass
    (objective)" beside a variable "mass".
    """
    # Variables first: these are what a person builds; the rest says why.
    table = dict(zip(names.variables, designs, strict=True))
    places = tuple(f"t{m + 1}" for m in range(points.t.shape[1]))
    for kind, texts, values in (
        ("objective", names.objectives, points.F),
        ("simplex", places, points.t),
    ):
        for text, column in zip(texts, np.asarray(values, dtype=float).T, strict=True):
            table[f"{text} ({kind})" if text in table else text] = column
    return table


def to_csv_text(table: dict[str, np.ndarray]) -> str:
    """The table as CSV: a heading, then one point a line, each number with the digits that it takes
    to read it back exactly."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_harmless(name) for name in table])
    for row in zip(*(column.tolist() for column in table.values()), strict=True):
        writer.writerow([_harmless(one) if isinstance(one, str) else one for one in row])
    return text.getvalue()


def _harmless(text: str) -> str:
    """The text, which no spreadsheet takes for a formula."""
    return f"'{text}" if text.lstrip().startswith(FORMULA_STARTS) else text


def to_json_text(points: Points, designs: list[np.ndarray], names: Names) -> str:
    """The points as a JSON object: "names" and, one point a row, "X" (flat designs), "F" and
    "t"."""
    x = [list(row) for row in zip(*(column.tolist() for column in designs), strict=True)]
    rows = {"X": x, "F": np.asarray(points.F).tolist(), "t": points.t.tolist()}
    return (
        json.dumps({"names": names.to_dict(), **rows}, ensure_ascii=False, allow_nan=False) + "\n"
    )
