"""Files shared with pytorch-bsf: its models (`.bsf`, schema 1) and its tables keyed by multi-index
(`.json`, `.csv`, `.tsv`).

All of them hold surfaces into R^L: one matrix with a row for each multi-index. Both libraries list
these in the same order.
"""

import csv
import io
import json
import os
import re
from array import array
from collections.abc import Iterable, Iterator
from os import PathLike

import numpy as np
from jaxtyping import Int

from ..arguments import shown
from ..simplex import index_positions, multi_indices, n_controls, neighbor_positions
from .archives import Manifest, write_atomically, zip_bytes
from .net import Net
from .untrusted import memory_allowed, parse_array, parse_json, read_members

Path = str | PathLike[str]

MOST_OBJECTIVES = 1000
"""Multi-indices with more entries are not read."""

FEW_MISSING = 10
"""A missing multi-index is named where there should be less than this many times those there
are."""

LONGEST_LOOK = 40
"""Characters of a text that a message shows."""

INDEX = re.compile(r"\s*[\[(]\s*(\d{1,9}\s*(?:,\s*\d{1,9}\s*)*+),?\s*[\])]\s*", re.ASCII)
LINE = re.compile(r"\s*(\"?)(\s*[\[(][0-9,\s]*[\])] *)\1 *")
PAIR = re.compile(r"\s*\"([^\"\\]*)\"\s*:\s*\[([^\[\]{}\"]*)\]\s*")
NUMBER = r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[^\S\t]*"
NUMBERS = {
    ",": re.compile(f"{NUMBER}\\s*(?:,{NUMBER}\\s*)*+", re.ASCII),
    "\t": re.compile(f"{NUMBER}(?:\t{NUMBER})*+", re.ASCII),
}
"""Rows of decimal numbers, with either delimiter. Repeats that give nothing back (`*+`) take no
memory for each time."""

BSF_SCHEMA = 1
BSF_TYPES = {"float16": "torch.float16", "float32": "torch.float32", "float64": "torch.float64"}


def save_bsf(net: Net, path: Path) -> None:
    """Writes the model file of pytorch-bsf 0.22: a zip of `model.json` and `coefficients.npy`, with
    one simplex as its cell."""
    points = _matrix(net)
    if points.dtype.name not in BSF_TYPES:
        raise TypeError(
            "control points must be float16, float32 or float64 for a .bsf file, got"
            f" {points.dtype}"
        )
    # A simplex of dimension 0 is a cell without factors there, and a cell without factors has no
    # degree.
    simplex = net.n_objectives > 1
    cell = {
        "dimensions": [net.n_objectives - 1] if simplex else [],
        "degree": [net.degree] if simplex else [],
        "controls": list(range(len(points))),
    }
    edges = _edges(net.n_objectives, net.degree)
    space = {
        "cells": [cell],
        "n_controls": len(points),
        "main_cells": [0],
        "edges": edges,
        "topology": [],
    }
    document = {"schema_version": BSF_SCHEMA, "dtype": BSF_TYPES[points.dtype.name], "space": space}
    coefficients = io.BytesIO()
    np.save(coefficients, points, allow_pickle=False)
    write_atomically(
        path,
        zip_bytes(
            {
                "model.json": json.dumps(document).encode(),
                "coefficients.npy": coefficients.getvalue(),
            }
        ),
    )


def load_bsf(path: Path) -> Net:
    """The net in a pytorch-bsf model, if that has one main cell and it is a simplex (faces of it
    may be listed too)."""
    members = read_members(path, compressed=True)
    try:
        schema, main = _main_cells(parse_json(members["model.json"], memory_allowed(path)))
        coefficients = members["coefficients.npy"]
        dimensions, degrees, controls = (
            main[0]["dimensions"],
            main[0]["degree"],
            main[0]["controls"],
        )
        _check_cell(dimensions, degrees, controls)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"{os.fspath(path)} is not a pytorch-bsf model: {error!r}") from error
    if schema != BSF_SCHEMA:
        raise ValueError(
            f"{os.fspath(path)} has schema {schema} of pytorch-bsf, this library reads schema"
            f" {BSF_SCHEMA}"
        )
    if len(main) > 1 or len(dimensions) > 1:
        raise ValueError(
            f"{os.fspath(path)} must hold one Bézier simplex, got {len(main)} main cells, the first"
            f" a product of {len(dimensions)} simplices"
        )
    n_objectives, degree = (dimensions[0] + 1, degrees[0]) if dimensions else (1, 0)
    rows = parse_array(coefficients)
    if len(controls) != n_controls(n_objectives, degree) or not _has_rows(rows, controls):
        raise ValueError(
            f"{os.fspath(path)} is damaged: its coefficients of shape {rows.shape} must be finite,"
            f" with as many distinct rows named as {n_objectives} objectives and degree {degree}"
            f" take, got {shown(controls)}"
        )
    return Net(rows[controls], n_objectives, degree)


def _main_cells(document: Manifest) -> tuple[object, list[Manifest]]:
    cells = document["space"]["cells"]
    return document["schema_version"], [cells[cell] for cell in document["space"]["main_cells"]]


def _check_cell(dimensions: list[object], degrees: list[object], controls: list[object]) -> None:
    if any(type(n) is not int or n < 0 for n in (*dimensions, *degrees, *controls)) or len(
        dimensions
    ) != len(degrees):
        raise ValueError(
            "sizes and controls must be whole numbers of at least 0, one degree for each simplex"
        )


def _has_rows(rows: np.ndarray, controls: list[int]) -> bool:
    """Whether the controls are distinct rows of a finite matrix."""
    if rows.ndim != 2 or rows.dtype.kind != "f" or not np.isfinite(rows).all():
        return False
    return len(set(controls)) == len(controls) and max(controls) < len(rows)


def save_json(net: Net, path: Path) -> None:
    """Writes `{"(3, 0, 0)": [0.1, 0.2], …}`: each number with as many digits as it takes to read it
    back exactly."""
    lines = (f"  {json.dumps(key)}: {json.dumps(row)}" for key, row in _rows(net))
    write_atomically(path, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


def load_json(path: Path) -> Net:
    """The net in an object whose keys are multi-indices and whose values are rows of numbers, in
    any order."""
    text = _text(path).strip()
    if text.startswith("{") and not (text.endswith("}") and len(text) > 1):
        raise ValueError(
            f"{os.fspath(path)} is not a JSON file: it begins an object and does not end it"
        )
    return _from_rows(_json_rows(text), ",", path)


def _json_rows(text: str) -> Iterator[tuple[str, str]]:
    """Keys, and the texts of their rows."""
    place, end = 1, len(text) - 1
    while True:
        pair = PAIR.match(text, place, end) if text.startswith("{") else None
        if pair is None:
            raise ValueError(
                "it must hold an object with rows of numbers by multi-index, {'(3, 0, 0)': [0.1,"
                " 0.2]}, and does not at " + shown(text[place : place + LONGEST_LOOK])
            )
        yield pair[1], pair[2]
        place = pair.end()
        if place == end:
            return
        if text[place] != ",":
            raise ValueError(
                "it is not a JSON file: a comma is missing before"
                f" {shown(text[place : place + LONGEST_LOOK])}"
            )
        place += 1


def save_csv(net: Net, path: Path) -> None:
    """Writes one line a control point, `"(3, 0, 0)",0.1,0.2`, without a header; with tabs if the
    path ends in `.tsv`."""
    text = io.StringIO()
    csv.writer(text, delimiter=_delimiter(path), lineterminator="\n").writerows(
        [key, *row] for key, row in _rows(net)
    )
    write_atomically(path, text.getvalue().encode())


def load_csv(path: Path) -> Net:
    """The net in a table of one line a control point: its multi-index, then its numbers. Lines in
    any order."""
    delimiter = _delimiter(path)
    with open(path, encoding="utf-8-sig") as file:
        return _from_rows(_csv_rows(file, delimiter), delimiter, path)


def _csv_rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[str, str]]:
    """Multi-indices, and the texts of their rows."""
    for line in lines:
        if line.strip():
            parts = LINE.match(line)
            key, rest = (parts[2], line[parts.end() :]) if parts else (line, "")
            if parts and not rest.startswith(delimiter):
                rest = "x"  # no numbers
            yield key, rest[1:]


def _delimiter(path: Path) -> str:
    return "\t" if os.fspath(path).lower().endswith(".tsv") else ","


def _matrix(net: Net) -> np.ndarray:
    points = net.control_points
    if not isinstance(points, np.ndarray) or points.ndim != 2:
        raise ValueError(
            "this format holds surfaces into R^L, whose control points are one matrix; save other"
            " surfaces as .bez, or reshape the control points to a matrix with one row each"
        )
    if not np.isfinite(points).all():
        raise ValueError("this format holds finite control points only; save others as .bez")
    return points


def _rows(net: Net) -> list[tuple[str, list[float]]]:
    keys = map(str, map(tuple, multi_indices(net.n_objectives, net.degree).tolist()))
    return list(zip(keys, _matrix(net).astype(np.float64).tolist(), strict=True))


def _from_rows(table: Iterable[tuple[str, str]], delimiter: str, path: Path) -> Net:
    """The net of (multi-index, numbers) pairs; the first multi-index says how many objectives and
    which degree.

    Numbers are put into arrays row by row: what Python would take for them as objects is many times
    the file.
    """
    entries, numbers = array("q"), array("d")
    first: tuple[int, ...] = ()
    width = 0
    for key, text in table:
        index = _parse_index(key)
        row = _parse_numbers(text, delimiter, index)
        first, width = first or index, width or len(row)
        if len(index) != len(first) or sum(index) != sum(first) or len(row) != width:
            raise ValueError(
                f"{os.fspath(path)} mixes {first} with {width} numbers and {index} with {len(row)};"
                " all multi-indices need the same length and sum, all rows the same length"
            )
        entries.extend(index)
        numbers.frombytes(row.tobytes())
    if not first:
        raise ValueError(f"{os.fspath(path)} has no control points")
    indices = np.frombuffer(entries, np.int64).reshape(-1, len(first))
    _check_complete(indices, path)
    points = np.empty((len(indices), width))
    points[index_positions(indices)] = np.frombuffer(numbers).reshape(-1, width)
    return Net(points, len(first), sum(first))


def _check_complete(indices: Int[np.ndarray, "n n_objectives"], path: Path) -> None:
    """Raises a ValueError that says what is repeated or missing, unless these are all multi-indices
    of a degree."""
    n, n_objectives = indices.shape
    degree = int(indices[0].sum())
    found, counts = np.unique(indices, axis=0, return_counts=True)
    if counts.max() > 1:
        raise ValueError(
            f"{os.fspath(path)} has the multi-index {tuple(found[counts.argmax()].tolist())} twice"
        )
    size = n_controls(n_objectives, degree)
    if n == size:
        return
    missing = ""
    if size < FEW_MISSING * n:
        present = set(map(tuple, indices.tolist()))
        wanted = map(tuple, multi_indices(n_objectives, degree).tolist())
        missing = f"; {next(index for index in wanted if index not in present)} is missing"
    raise ValueError(
        f"{os.fspath(path)} has {n} of the {size} control points for {n_objectives} objectives and"
        f" degree {degree}{missing}"
    )


def _parse_numbers(text: str, delimiter: str, index: tuple[int, ...]) -> np.ndarray:
    """The finite numbers of a row."""
    row = (
        np.fromstring(text, sep=delimiter)
        if NUMBERS[delimiter].fullmatch(text)
        else np.full(1, np.nan)
    )
    if not np.isfinite(row).all():
        raise ValueError(
            f"it must have finite numbers behind the multi-index {index}, got"
            f" {shown(text[:LONGEST_LOOK])}"
        )
    return row


def _parse_index(key: str) -> tuple[int, ...]:
    """A multi-index as pytorch-bsf has written it over time: `(3, 0, 0)` or `[3, 0, 0]`."""
    found = INDEX.fullmatch(key)
    entries = found[1].split(",") if found else []
    if not entries or len(entries) > MOST_OBJECTIVES:
        raise ValueError(
            f"it must have multi-indices such as (3, 0, 0), of at most {MOST_OBJECTIVES}"
            f" objectives, in its first column, got {shown(key[:LONGEST_LOOK])}"
        )
    return tuple(map(int, entries))


def _text(path: Path) -> str:
    with open(path, encoding="utf-8-sig") as file:
        return file.read()


def _edges(n_objectives: int, degree: int) -> list[list[int]]:
    """Neighbors in the control net, d and d − e_i + e_j, each pair once, the earlier row first, in
    ascending order."""
    neighbors = neighbor_positions(n_objectives, degree)
    rows, columns = np.nonzero(neighbors > np.arange(len(neighbors))[:, None])
    return sorted(np.column_stack([rows, neighbors[rows, columns]]).tolist())
