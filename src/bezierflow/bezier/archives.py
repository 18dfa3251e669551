"""The `.bez` archive: a zip of one `manifest.json` and plain `.npy` arrays. No pickle, exact
numbers, written whole or not.

Other rooms keep their own content in it: `write_archive(path, manifest, arrays)` and
`read_archive(path)` are all there is. The format is described in `docs/files.md`.
"""

import glob
import io
import json
import os
import re
import secrets
import time
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .untrusted import file_at_fault, memory_allowed, parse_array, parse_json, read_members

Manifest = dict[str, Any]
"""What JSON can hold, by name."""

FORMAT = "bezierflow"
VERSION = 2
"""Version of the archive's layout. Raised when a file could no longer be read by an older library.
Since version 2 names have directions and transforms, without which objective values would have the
wrong signs; older files are read as they were."""

MANIFEST = "manifest.json"
ARRAY_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
OLDEST_DATE = (1980, 1, 1, 0, 0, 0)
"""The date of every member: a file's bytes depend on its content alone."""


ABANDONED = 10.0
"""Seconds after which a file that was being written, and was not renamed, belongs to a process that
is gone."""


def write_archive(
    path: str | PathLike[str], manifest: Manifest, arrays: Mapping[str, ArrayLike]
) -> None:
    """Writes a `.bez` archive. The same content gives the same bytes.

    Args:
        path: Where to write. What was there before stays until the new file is complete.
        manifest: What JSON can hold, with a "kind" that says what the file is about; "format" and
            "version" are added.
        arrays: Arrays by name (letters, digits, `_`, `.`, `-`, and `/` between parts). Each is kept
            with its type and shape.
    """
    reserved = {"format", "version"} & manifest.keys()
    if reserved or not isinstance(manifest.get("kind"), str):
        raise ValueError(
            "manifest must have a 'kind' and leave 'format' and 'version' free, got the keys"
            f" {sorted(manifest)}"
        )
    document = {"format": FORMAT, "version": VERSION, **manifest}
    members = {
        MANIFEST: (
            json.dumps(
                document, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False
            ).encode()
        )
    }
    for name in sorted(arrays):
        if not ARRAY_NAME.fullmatch(name):
            raise ValueError(f"arrays must have names of letters, digits and _ . - /, got {name!r}")
        members[f"{name}.npy"] = _array_bytes(name, arrays[name])
    write_atomically(path, zip_bytes(members))


def read_archive(path: str | PathLike[str]) -> tuple[Manifest, dict[str, np.ndarray]]:
    """The manifest and the arrays of a `.bez` archive.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is not a file of this library, damaged, or of a later version than this
            library knows.
    """
    members = read_members(path)
    try:
        manifest = parse_json(members.pop(MANIFEST), memory_allowed(path))
    except (KeyError, ValueError, RecursionError):
        manifest = None
    version = (
        manifest.get("version")
        if isinstance(manifest, dict) and manifest.get("format") == FORMAT
        else None
    )
    if (
        manifest is None
        or type(version) is not int
        or version < 1
        or not isinstance(manifest.get("kind"), str)
    ):
        raise ValueError(
            f"{os.fspath(path)} is a zip file, but not one of bezierflow: it has no {MANIFEST} of"
            " its format"
        )
    if version > VERSION:
        raise ValueError(
            f"{os.fspath(path)} has version {version} of the format, this library reads up to"
            f" version {VERSION}; update bezierflow to read it"
        )
    with file_at_fault(path):
        return manifest, {
            _array_name(name): parse_array(content) for name, content in members.items()
        }


def _array_name(member: str) -> str:
    name = member.removesuffix(".npy")
    if name == member or not ARRAY_NAME.fullmatch(name):
        raise ValueError(f"its member {member!r} is no array")
    return name


def zip_bytes(members: Mapping[str, bytes]) -> bytes:
    """A zip file with these members in this order, uncompressed: the bytes do not depend on a
    compressor's version."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, OLDEST_DATE)
            info.create_system, info.external_attr = 3, 0o644 << 16  # the same on every system
            archive.writestr(info, content)
    return buffer.getvalue()


def write_atomically(path: str | PathLike[str], content: bytes) -> None:
    """Puts a complete file in place, or leaves what was there: written beside it, flushed to disk,
    then renamed.

    Where the system has files without a name (Linux), the new one gets its name when it is
    complete, so that a process that is killed while it writes leaves nothing behind, or a complete
    file that was about to be renamed. The next one to write removes what was left.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"the folder of {os.fspath(path)} does not exist; create {folder} first"
        )
    temporary = f"{target}.{secrets.token_hex(4)}.part"
    try:
        _write_named(folder, temporary, content)
        os.replace(temporary, target)
        _remove_abandoned(target)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


def _remove_abandoned(target: str) -> None:
    """Removes what processes that were killed have left beside a file: nobody has written to it for
    a while."""
    for path in glob.glob(f"{glob.escape(target)}.{'[0-9a-f]' * 8}.part"):
        with suppress(OSError):  # another process may have removed it
            if time.time() - os.path.getmtime(path) > ABANDONED:
                os.remove(path)


def _write_named(folder: str, name: str, content: bytes) -> None:
    """A file that is on the disk before it has its name, where that is possible."""
    try:
        nameless = os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666)
    except (AttributeError, OSError):  # another system, or a file system without them
        nameless = None
    with open(name, "xb") if nameless is None else open(nameless, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        if nameless is not None:
            # with a descriptor, so that the link is followed
            os.link(f"/proc/self/fd/{nameless}", name, src_dir_fd=nameless)


def _array_bytes(name: str, content: ArrayLike) -> bytes:
    array = np.asarray(content)
    if array.dtype.kind not in "biufc":
        raise TypeError(
            f"{name} has the type {array.dtype}, which .npy cannot hold; convert it to float32 or"
            " float64 first"
        )
    buffer = io.BytesIO()
    little_endian = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
    np.lib.format.write_array(buffer, little_endian, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()
