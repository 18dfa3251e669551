"""Nets of control points as files: `.bez`, and the formats of pytorch-bsf.

`.bez` is this library's own archive and holds any pytree. The others are shared with pytorch-bsf:
its models (`.bsf`, schema 1) and its tables keyed by multi-index (`.json`, `.csv`, `.tsv`). They
hold surfaces into R^L: one matrix with a row for each multi-index, which both libraries list in the
same order. The formats are described in `docs/files.md`, for readers without this library.
"""

import csv
import io
import json
import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import PyTree

from ..arguments import printable, shown
from ..simplex import index_positions, multi_indices, n_controls, neighbor_positions
from .archives import (
    Manifest,
    Path,
    memory_allowed,
    parse_array,
    parse_json,
    read_archive,
    read_members,
    write_archive,
    write_atomically,
    zip_bytes,
)
from .schedule import SCHEDULE

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


class Net(NamedTuple):
    """A surface as plain data, which a `BezierSimplex` is made of: control points, a pytree with
    one row per d ∈ N^M_D, M and D."""

    control_points: PyTree
    n_objectives: int
    degree: int


def describe_surface(surface: Any, name: str) -> tuple[Manifest, dict[str, np.ndarray]]:
    """A `BezierSimplex`, or its `Net`, as a part of an archive: for the manifest, and its arrays,
    `name/0` and onward."""
    arrays: dict[str, np.ndarray] = {}
    structure = _describe(surface.control_points, name, arrays)
    sizes = {"n_objectives": surface.n_objectives, "degree": surface.degree}
    return {**sizes, "control_points": structure}, arrays


def _describe(tree: PyTree, name: str, arrays: dict[str, np.ndarray]) -> Manifest:
    """A pytree of dicts, lists and tuples as JSON, its leaves put aside in `arrays`."""
    kind = type(tree)
    if kind is dict:
        if not all(isinstance(key, str) for key in tree):
            raise TypeError(
                f"control points in a dict need strings as keys to be saved, got {list(tree)}"
            )
        # sorted, so that the same surface gives the same bytes
        return {"dict": {key: _describe(tree[key], name, arrays) for key in sorted(tree)}}
    if kind in (list, tuple):
        return {kind.__name__: [_describe(item, name, arrays) for item in tree]}
    if tree is None:
        return {"none": True}
    if not jax.tree_util.all_leaves([tree]):
        raise TypeError(
            f"control points in a {kind.__name__} cannot be saved; dicts, lists and tuples of"
            " arrays can. Convert them with jax.tree.map or dataclasses.asdict first"
        )
    leaf = f"{name}/{len(arrays)}"
    arrays[leaf] = np.asarray(tree)
    if arrays[leaf].dtype.kind in "fc" and not np.isfinite(arrays[leaf]).all():
        raise ValueError("control points must be finite to be saved, got some that are not")
    return {"leaf": leaf}


def restore_net(description: Manifest, arrays: Mapping[str, np.ndarray]) -> Net:
    """The net that `describe_surface` described."""
    try:
        sizes = description["n_objectives"], description["degree"]
        if any(type(size) is not int for size in sizes):
            raise TypeError(f"{sizes} are no whole numbers")
        net = Net(_restore(description["control_points"], arrays), *sizes)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"the description of a surface is incomplete or damaged: {error!r}"
        ) from error
    for leaf in jax.tree.leaves(net.control_points):
        if leaf.dtype.kind not in "iuf" or not np.isfinite(leaf).all():
            raise ValueError("the control points of a surface in it are not finite real numbers")
    return net


def _restore(structure: Manifest, arrays: Mapping[str, Any]) -> PyTree:
    ((kind, content),) = structure.items()
    if kind == "leaf":
        return arrays[content]
    if kind == "dict":
        return {key: _restore(item, arrays) for key, item in content.items()}
    if kind in ("list", "tuple"):
        items = [_restore(item, arrays) for item in content]
        return items if kind == "list" else tuple(items)
    if kind == "none":
        return None
    raise KeyError(kind)  # damage, as a missing entry is


def check_arrays(
    arrays: Mapping[str, np.ndarray], descriptions: Iterable[Manifest], others: Iterable[str] = ()
) -> None:
    """Raises where an archive has arrays that neither descriptions of nets nor `others` name."""
    names = {name: name for name in arrays}
    nets = [_restore(description["control_points"], names) for description in descriptions]
    unnamed = sorted(arrays.keys() - {*others, *jax.tree.leaves(nets)})
    if unnamed:
        raise ValueError(f"it has an array {unnamed[0]!r} that its manifest does not name")


def _save_bez(net: Net, path: Path) -> None:
    description, arrays = describe_surface(net, "control_points")
    write_archive(path, {"kind": "surface", **description}, arrays)


def _load_bez(path: Path) -> Net:
    manifest, arrays = read_archive(path)
    if manifest.get("kind") != "surface":
        raise ValueError(
            f"{os.fspath(path)} holds a {printable(manifest['kind'][: SCHEDULE.longest_look])}, not"
            " a surface alone; bezierflow.load reads it"
        )
    check_arrays(arrays, [manifest])
    return restore_net(manifest, arrays)


def _save_bsf(net: Net, path: Path) -> None:
    """Writes the model file of pytorch-bsf 0.22: `model.json` and `coefficients.npy` in a zip."""
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
    # d and d − e_i + e_j are neighbors: each pair once, the earlier row first, in ascending order.
    neighbors = neighbor_positions(net.n_objectives, net.degree)
    rows, columns = np.nonzero(neighbors > np.arange(len(neighbors))[:, None])
    space = {
        "cells": [cell],
        "n_controls": len(points),
        "main_cells": [0],
        "edges": sorted(np.column_stack([rows, neighbors[rows, columns]]).tolist()),
        "topology": [],
    }
    document = {"schema_version": BSF_SCHEMA, "dtype": BSF_TYPES[points.dtype.name], "space": space}
    coefficients = io.BytesIO()
    np.save(coefficients, points, allow_pickle=False)
    members = {
        "model.json": json.dumps(document).encode(),
        "coefficients.npy": coefficients.getvalue(),
    }
    write_atomically(path, zip_bytes(members))


def _load_bsf(path: Path) -> Net:
    """The net in a pytorch-bsf model with one main cell that is a simplex; faces may be listed."""
    members = read_members(path, compressed=True)
    try:
        document = parse_json(members["model.json"], memory_allowed(path))
        schema, space = document["schema_version"], document["space"]
        main = [space["cells"][cell] for cell in space["main_cells"]]
        cell = main[0]
        dimensions, degrees, controls = cell["dimensions"], cell["degree"], cell["controls"]
        sizes = [*dimensions, *degrees, *controls]
        if {*map(type, sizes)} - {int} or min(sizes) < 0 or len(dimensions) != len(degrees):
            raise ValueError(
                "sizes and controls must be whole numbers of at least 0, one degree per simplex"
            )
        coefficients = members["coefficients.npy"]
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


def _has_rows(rows: np.ndarray, controls: list[int]) -> bool:
    """Whether the controls are distinct rows of a finite matrix."""
    if rows.ndim != 2 or rows.dtype.kind != "f" or not np.isfinite(rows).all():
        return False
    return len(set(controls)) == len(controls) and max(controls) < len(rows)


def _save_table(net: Net, path: Path) -> None:
    """Writes `{"(3, 0, 0)": [0.1, 0.2], …}`, or lines `"(3, 0, 0)",0.1,0.2` without a header, with
    enough digits to read it back exactly."""
    keys = map(str, map(tuple, multi_indices(net.n_objectives, net.degree).tolist()))
    rows = zip(keys, _matrix(net).astype(np.float64).tolist(), strict=True)
    delimiter, text = _delimiter(path), io.StringIO()
    if delimiter is None:
        lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(row)}" for key, row in rows)
        text.write("{\n" + lines + "\n}\n")
    else:
        table = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        table.writerows([key, *row] for key, row in rows)
    write_atomically(path, text.getvalue().encode())


def _load_table(path: Path) -> Net:
    """The net in an object with rows of numbers by multi-index, or in a table with one line per
    control point: its multi-index, then its numbers."""
    delimiter = _delimiter(path)
    with open(path, encoding="utf-8-sig") as file:
        if delimiter is None:
            return _from_rows(_json_rows(file.read().strip()), ",", path)
        return _from_rows(_csv_rows(file, delimiter), delimiter, path)


def _delimiter(path: Path) -> str | None:
    """Of a table; None for JSON."""
    return {".csv": ",", ".tsv": "\t"}.get(os.path.splitext(os.fspath(path))[1].lower())


def _json_rows(text: str) -> Iterator[tuple[str, str]]:
    """Keys, and the texts of their rows."""
    # `json.loads` would hold every number as an object, many times the file
    place, end, look = 1, len(text) - 1, SCHEDULE.longest_look
    if text.startswith("{") and not (text.endswith("}") and end > 0):
        raise ValueError("it is not a JSON file: it begins an object and does not end it")
    while True:
        pair = PAIR.match(text, place, end) if text.startswith("{") else None
        if pair is None:
            raise ValueError(
                "it must hold an object with rows of numbers by multi-index, {'(3, 0, 0)': [0.1,"
                " 0.2]}, and does not at " + shown(text[place : place + look])
            )
        yield pair[1], pair[2]
        place = pair.end()
        if place == end:
            return
        if text[place] != ",":
            raise ValueError(
                f"it is not a JSON file: a comma is missing before {shown(text[place:][:look])}"
            )
        place += 1


def _csv_rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[str, str]]:
    """Multi-indices, and the texts of their rows."""
    for line in lines:
        if line.strip():
            parts = LINE.match(line)
            key, rest = (parts[2], line[parts.end() :]) if parts else (line, "")
            if parts and not rest.startswith(delimiter):
                rest = "x"  # no numbers
            yield key, rest[1:]


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


def _from_rows(table: Iterable[tuple[str, str]], delimiter: str, path: Path) -> Net:
    """The net of (multi-index, numbers) pairs; the first multi-index says M and D.

    Numbers are put into arrays row by row: what Python would take for them as objects is many times
    the file.
    """
    entries, numbers = array("q"), array("d")
    first: tuple[int, ...] = ()
    width = 0
    for key, text in table:
        index, row = _parse_row(key, text, delimiter)
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
    n_objectives, degree = len(first), sum(first)
    indices = np.frombuffer(entries, np.int64).reshape(-1, n_objectives)
    found, counts = np.unique(indices, axis=0, return_counts=True)
    if counts.max() > 1:
        twice = tuple(found[counts.argmax()].tolist())
        raise ValueError(f"{os.fspath(path)} has the multi-index {twice} twice")
    size = n_controls(n_objectives, degree)
    if len(indices) != size:
        missing = ""
        if size < SCHEDULE.few_missing * len(indices):
            present = set(map(tuple, indices.tolist()))
            wanted = set(map(tuple, multi_indices(n_objectives, degree).tolist()))
            missing = f"; {max(wanted - present)} is missing"  # the first in the canonical order
        raise ValueError(
            f"{os.fspath(path)} has {len(indices)} of the {size} control points for"
            f" {n_objectives} objectives and degree {degree}{missing}"
        )
    points = np.empty((size, width))
    points[index_positions(indices)] = np.frombuffer(numbers).reshape(-1, width)
    return Net(points, n_objectives, degree)


def _parse_row(key: str, text: str, delimiter: str) -> tuple[tuple[int, ...], np.ndarray]:
    """A multi-index as pytorch-bsf has written it, `(3, 0, 0)` or `[3, 0, 0]`, and its numbers."""
    matched, look = INDEX.fullmatch(key), SCHEDULE.longest_look
    entries = matched[1].split(",") if matched else []
    if not entries or len(entries) > SCHEDULE.most_objectives:
        raise ValueError(
            f"it must have multi-indices such as (3, 0, 0), of at most {SCHEDULE.most_objectives}"
            f" objectives, in its first column, got {shown(key[:look])}"
        )
    index = tuple(map(int, entries))
    numeric = NUMBERS[delimiter].fullmatch(text)
    row = np.fromstring(text, sep=delimiter) if numeric else np.full(1, np.nan)
    if not np.isfinite(row).all():
        raise ValueError(
            f"it must have finite numbers behind the multi-index {index}, got {shown(text[:look])}"
        )
    return index, row


FORMATS: dict[str, tuple[Callable[[Net, Path], None], Callable[[Path], Net]]] = {
    ".bez": (_save_bez, _load_bez),
    ".bsf": (_save_bsf, _load_bsf),
    **dict.fromkeys((".json", ".csv", ".tsv"), (_save_table, _load_table)),
}


def file_format(path: Path) -> tuple[Callable[[Net, Path], None], Callable[[Path], Net]]:
    """How a net is written to such a file, and read from it; the ending says the format."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending not in FORMATS:
        raise ValueError(
            f"path must end in one of {', '.join(FORMATS)} to say the format, got"
            f" {os.fspath(path)!r}"
        )
    return FORMATS[ending]
