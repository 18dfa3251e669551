"""Nets as files: `.bez` is this library's own format, `.bsf`, `.json`, `.csv` and `.tsv` are shared
with pytorch-bsf.

The formats are described in `docs/files.md`, for readers without this library.
"""

import os
from collections.abc import Callable, Mapping
from os import PathLike

import jax
import numpy as np
from jaxtyping import PyTree

from ..arguments import printable
from . import exchange_files
from .archives import Manifest, read_archive, write_archive
from .net import Net
from .untrusted import file_at_fault


def save_net(net: Net, path: str | PathLike[str]) -> None:
    """Writes a net of NumPy arrays to a file; the ending chooses the format. The file appears
    complete or not at all."""
    write, _ = _format(path)
    write(net, path)


def load_net(path: str | PathLike[str]) -> Net:
    """The net in a file that `save_net` or pytorch-bsf wrote; the ending says the format.

    Raises:
        OSError: If there is no such file, or it cannot be opened.
        ValueError: Whatever is wrong with its content, its path first.
    """
    _, read = _format(path)
    with file_at_fault(path):
        return read(path)


def describe_net(net: Net, name: str) -> tuple[Manifest, dict[str, np.ndarray]]:
    """The net as a part of an archive: what goes into the manifest, and its arrays, `name/0` and
    onward."""
    arrays: dict[str, np.ndarray] = {}
    structure = _describe(net.control_points, name, arrays)
    return {
        "n_objectives": net.n_objectives,
        "degree": net.degree,
        "control_points": structure,
    }, arrays


def restore_net(description: Manifest, arrays: Mapping[str, np.ndarray]) -> Net:
    """The net that `describe_net` described."""
    try:
        points = _restore(description["control_points"], arrays)
        net = Net(points, _whole(description["n_objectives"]), _whole(description["degree"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"the description of a surface is incomplete or damaged: {error!r}"
        ) from error
    for leaf in jax.tree.leaves(net.control_points):
        if leaf.dtype.kind not in "iuf" or not np.isfinite(leaf).all():
            raise ValueError("the control points of a surface in it are not finite real numbers")
    return net


def leaf_names(description: Manifest) -> set[str]:
    """The arrays that a description names."""
    structure = description["control_points"]
    names: set[str] = set()
    waiting = [structure]
    while waiting:
        ((kind, content),) = waiting.pop().items()
        if kind == "leaf":
            names.add(content)
        elif kind in ("dict", "list", "tuple"):
            waiting.extend(content.values() if kind == "dict" else content)
    return names


def _whole(value: object) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is no whole number")
    return value


def _save_bez(net: Net, path: str | PathLike[str]) -> None:
    description, arrays = describe_net(net, "control_points")
    write_archive(path, {"kind": "surface", **description}, arrays)


def _load_bez(path: str | PathLike[str]) -> Net:
    manifest, arrays = read_archive(path)
    if manifest.get("kind") != "surface":
        raise ValueError(
            f"{os.fspath(path)} holds a {printable(manifest['kind'][:40])}, not a surface alone;"
            " bezierflow.load reads it"
        )
    check_members(arrays, leaf_names(manifest))
    return restore_net(manifest, arrays)


def check_members(arrays: Mapping[str, np.ndarray], named: set[str]) -> None:
    """Raises where an archive has arrays that its manifest does not name."""
    unnamed = sorted(arrays.keys() - named)
    if unnamed:
        raise ValueError(f"it has an array {unnamed[0]!r} that its manifest does not name")


def _describe(tree: PyTree, name: str, arrays: dict[str, np.ndarray]) -> Manifest:
    """A pytree of dicts, lists and tuples as JSON, its leaves put aside in `arrays`."""
    kind = type(tree)
    if kind is dict:
        if not all(isinstance(key, str) for key in tree):
            raise TypeError(
                f"control points in a dict need strings as keys to be saved, got {list(tree)}"
            )
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


def _restore(structure: Manifest, arrays: Mapping[str, np.ndarray]) -> PyTree:
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
    raise KeyError(kind)


_Writer = Callable[[Net, str | PathLike[str]], None]
_Reader = Callable[[str | PathLike[str]], Net]

FORMATS: dict[str, tuple[_Writer, _Reader]] = {
    ".bez": (_save_bez, _load_bez),
    ".bsf": (exchange_files.save_bsf, exchange_files.load_bsf),
    ".json": (exchange_files.save_json, exchange_files.load_json),
    ".csv": (exchange_files.save_csv, exchange_files.load_csv),
    ".tsv": (exchange_files.save_csv, exchange_files.load_csv),
}


def _format(path: str | PathLike[str]) -> tuple[_Writer, _Reader]:
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending not in FORMATS:
        raise ValueError(
            f"path must end in one of {', '.join(FORMATS)} to say the format, got"
            f" {os.fspath(path)!r}"
        )
    return FORMATS[ending]
