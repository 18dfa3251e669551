"""Files shared with pytorch-bsf: its models (`.bsf`, schema 1) and its tables keyed by multi-index (`.json`, `.csv`, `.tsv`).

All of them hold surfaces into R^L: one matrix with a row for each multi-index. Both libraries list these in the same order.
"""

import csv
import io
import json
import os
from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike

import numpy as np

from ..simplex import index_positions, multi_indices, n_controls, neighbor_positions
from .archives import read_array, read_zip, write_atomically, zip_bytes
from .net import Net

Path = str | PathLike[str]

BSF_SCHEMA = 1
BSF_TYPES = {"float16": "torch.float16", "float32": "torch.float32", "float64": "torch.float64"}


def save_bsf(net: Net, path: Path) -> None:
    """Writes the model file of pytorch-bsf 0.22: a zip of `model.json` and `coefficients.npy`, with one simplex as its cell."""
    points = _matrix(net)
    if points.dtype.name not in BSF_TYPES:
        raise TypeError(f"control points must be float16, float32 or float64 for a .bsf file, got {points.dtype}")
    # A simplex of dimension 0 is a cell without factors there, and a cell without factors has no degree.
    simplex = net.n_objectives > 1
    cell = {
        "dimensions": [net.n_objectives - 1] if simplex else [],
        "degree": [net.degree] if simplex else [],
        "controls": list(range(len(points))),
    }
    edges = _edges(net.n_objectives, net.degree)
    space = {"cells": [cell], "n_controls": len(points), "main_cells": [0], "edges": edges, "topology": []}
    document = {"schema_version": BSF_SCHEMA, "dtype": BSF_TYPES[points.dtype.name], "space": space}
    coefficients = io.BytesIO()
    np.save(coefficients, points, allow_pickle=False)
    write_atomically(path, zip_bytes({"model.json": json.dumps(document).encode(), "coefficients.npy": coefficients.getvalue()}))


def load_bsf(path: Path) -> Net:
    """The net in a pytorch-bsf model, if that has one main cell and it is a simplex (faces of it may be listed too)."""
    members = read_zip(path)
    try:
        document = json.loads(members["model.json"])
        schema, cells = document["schema_version"], document["space"]["cells"]
        main = [cells[cell] for cell in document["space"]["main_cells"]]
        coefficients = members["coefficients.npy"]
        dimensions, degrees = main[0]["dimensions"], main[0]["degree"]
        controls = np.array(main[0]["controls"], dtype=np.int64)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"{os.fspath(path)} is not a pytorch-bsf model: {error!r}") from error
    if schema != BSF_SCHEMA:
        raise ValueError(f"{os.fspath(path)} has schema {schema} of pytorch-bsf, this library reads schema {BSF_SCHEMA}")
    if len(main) > 1 or len(dimensions) > 1:
        raise ValueError(
            f"{os.fspath(path)} must hold one Bézier simplex, got {len(main)} main cells, the first a product of "
            f"{len(dimensions)} simplices"
        )
    n_objectives, degree = (dimensions[0] + 1, degrees[0]) if dimensions else (1, 0)
    rows = read_array(coefficients, path)
    if rows.ndim != 2 or len(controls) != n_controls(n_objectives, degree) or controls.max() >= len(rows):
        raise ValueError(f"{os.fspath(path)} is damaged: coefficients of shape {rows.shape} for controls {controls.tolist()}")
    return Net(rows[controls], n_objectives, degree)


def save_json(net: Net, path: Path) -> None:
    """Writes `{"(3, 0, 0)": [0.1, 0.2], …}`: each number with as many digits as it takes to read it back exactly."""
    lines = (f"  {json.dumps(key)}: {json.dumps(row)}" for key, row in _rows(net))
    write_atomically(path, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


def load_json(path: Path) -> Net:
    """The net in an object whose keys are multi-indices and whose values are rows of numbers, in any order."""
    with open(path, encoding="utf-8") as file:
        try:
            table = json.load(file, object_pairs_hook=list)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)} is not a JSON file: {error}") from error
    if not isinstance(table, list) or not all(isinstance(pair, tuple) and isinstance(pair[1], list) for pair in table):
        raise ValueError(
            f"{os.fspath(path)} must hold an object with rows of numbers by multi-index, {{'(3, 0, 0)': [0.1, 0.2]}}"
        )
    return _from_rows(table, path)


def save_csv(net: Net, path: Path) -> None:
    """Writes one line a control point, `"(3, 0, 0)",0.1,0.2`, without a header; with tabs if the path ends in `.tsv`."""
    text = io.StringIO()
    csv.writer(text, delimiter=_delimiter(path), lineterminator="\n").writerows([key, *row] for key, row in _rows(net))
    write_atomically(path, text.getvalue().encode())


def load_csv(path: Path) -> Net:
    """The net in a table of one line a control point: its multi-index, then its numbers. Lines in any order."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        lines = [line for line in csv.reader(file, delimiter=_delimiter(path), skipinitialspace=True) if line]
    return _from_rows([(line[0], line[1:]) for line in lines], path)


def _delimiter(path: Path) -> str:
    return "\t" if os.fspath(path).lower().endswith(".tsv") else ","


def _matrix(net: Net) -> np.ndarray:
    points = net.control_points
    if not isinstance(points, np.ndarray) or points.ndim != 2:
        raise ValueError(
            "this format holds surfaces into R^L, whose control points are one matrix; save other surfaces as .bez, "
            "or reshape the control points to a matrix with one row each"
        )
    if not np.isfinite(points).all():
        raise ValueError("this format holds finite control points only; save others as .bez")
    return points


def _rows(net: Net) -> list[tuple[str, list[float]]]:
    keys = map(str, map(tuple, multi_indices(net.n_objectives, net.degree).tolist()))
    return list(zip(keys, _matrix(net).astype(np.float64).tolist(), strict=True))


def _from_rows(table: Iterable[tuple[str, Sequence[str | float]]], path: Path) -> Net:
    """The net of (multi-index, numbers) pairs; the first multi-index says how many objectives and which degree."""
    found: dict[tuple[int, ...], list[float]] = {}
    for key, row in table:
        index = _parse_index(key, path)
        if index in found:
            raise ValueError(f"{os.fspath(path)} has the multi-index {index} twice")
        found[index] = _parse_numbers(row, index, path)
    n_objectives, degree = _check_complete(found, path)
    points = np.empty((len(found), len(next(iter(found.values())))))
    points[index_positions(np.array(list(found)))] = list(found.values())
    return Net(points, n_objectives, degree)


def _check_complete(found: Mapping[tuple[int, ...], list[float]], path: Path) -> tuple[int, int]:
    """The number of objectives and the degree of a whole net, or a ValueError that says what is missing or does not fit."""
    if not found:
        raise ValueError(f"{os.fspath(path)} has no control points")
    first, width = next(iter(found)), len(next(iter(found.values())))
    n_objectives, degree = len(first), sum(first)
    for index, row in found.items():
        if len(index) != n_objectives or sum(index) != degree or len(row) != width:
            raise ValueError(
                f"{os.fspath(path)} mixes {first} with {width} numbers and {index} with {len(row)}; "
                "all multi-indices need the same length and sum, all rows the same length"
            )
    if len(found) != n_controls(n_objectives, degree):
        missing = next(i for i in map(tuple, multi_indices(n_objectives, degree).tolist()) if i not in found)
        raise ValueError(
            f"{os.fspath(path)} has {len(found)} of the {n_controls(n_objectives, degree)} control points for "
            f"{n_objectives} objectives and degree {degree}; {missing} is missing"
        )
    return n_objectives, degree


def _parse_numbers(row: Sequence[str | float], index: tuple[int, ...], path: Path) -> list[float]:
    try:
        numbers = [float(number) for number in row]
    except (TypeError, ValueError):
        numbers = [np.nan]
    if not np.isfinite(numbers).all():
        raise ValueError(f"{os.fspath(path)} must have finite numbers behind the multi-index {index}, got {row}")
    return numbers


def _parse_index(key: str, path: Path) -> tuple[int, ...]:
    """A multi-index as pytorch-bsf has written it over time: `(3, 0, 0)` or `[3, 0, 0]`."""
    try:
        index = literal_eval(key.strip())
    except (ValueError, SyntaxError):
        index = None
    if not isinstance(index, tuple | list) or not index or not all(type(entry) is int and entry >= 0 for entry in index):
        raise ValueError(f"{os.fspath(path)} must have multi-indices such as (3, 0, 0) in its first column, got {key!r}")
    return tuple(index)


def _edges(n_objectives: int, degree: int) -> list[list[int]]:
    """Neighbors in the control net, d and d − e_i + e_j, each pair once, the earlier row first, in ascending order."""
    neighbors = neighbor_positions(n_objectives, degree)
    rows, columns = np.nonzero(neighbors > np.arange(len(neighbors))[:, None])
    return sorted(np.column_stack([rows, neighbors[rows, columns]]).tolist())
