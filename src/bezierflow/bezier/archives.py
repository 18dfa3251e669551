"""The `.bez` archive: a zip of one `manifest.json` and plain `.npy` arrays. No pickle, exact numbers, written whole or not.

Other rooms keep their own content in it: `write_archive(path, manifest, arrays)` and `read_archive(path)` are all there is.
The format is described in `docs/files.md`.
"""

import io
import json
import os
import re
import secrets
import zipfile
import zlib
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Manifest = dict[str, Any]
"""What JSON can hold, by name."""

FORMAT = "bezierflow"
VERSION = 2
"""Version of the archive's layout. Raised when a file could no longer be read by an older library. Since version 2 names have
directions and transforms, without which objective values would have the wrong signs; older files are read as they were."""

MANIFEST = "manifest.json"
ARRAY_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
OLDEST_DATE = (1980, 1, 1, 0, 0, 0)
"""The date of every member: a file's bytes depend on its content alone."""


def write_archive(path: str | PathLike[str], manifest: Manifest, arrays: Mapping[str, ArrayLike]) -> None:
    """Writes a `.bez` archive. The same content gives the same bytes.

    Args:
        path: Where to write. What was there before stays until the new file is complete.
        manifest: What JSON can hold, with a "kind" that says what the file is about; "format" and "version" are added.
        arrays: Arrays by name (letters, digits, `_`, `.`, `-`, and `/` between parts). Each is kept with its type and shape.
    """
    reserved = {"format", "version"} & manifest.keys()
    if reserved or not isinstance(manifest.get("kind"), str):
        raise ValueError(f"manifest must have a 'kind' and leave 'format' and 'version' free, got the keys {sorted(manifest)}")
    document = {"format": FORMAT, "version": VERSION, **manifest}
    members = {MANIFEST: json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False).encode()}
    for name in sorted(arrays):
        if not ARRAY_NAME.fullmatch(name):
            raise ValueError(f"arrays must have names of letters, digits and _ . - /, got {name!r}")
        members[f"{name}.npy"] = _array_bytes(name, arrays[name])
    write_atomically(path, zip_bytes(members))


def read_archive(path: str | PathLike[str]) -> tuple[Manifest, dict[str, np.ndarray]]:
    """The manifest and the arrays of a `.bez` archive.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is not a file of this library, damaged, or of a later version than this library knows.
    """
    members = read_zip(path)
    try:
        manifest = json.loads(members.pop(MANIFEST))
    except (KeyError, ValueError):
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT or not isinstance(manifest.get("version"), int):
        raise ValueError(f"{os.fspath(path)} is a zip file, but not one of bezierflow: it has no {MANIFEST} of its format")
    if manifest["version"] > VERSION:
        raise ValueError(
            f"{os.fspath(path)} has version {manifest['version']} of the format, this library reads up to version {VERSION}; "
            "update bezierflow to read it"
        )
    arrays = {name.removesuffix(".npy"): read_array(content, path) for name, content in members.items()}
    return manifest, arrays


def read_zip(path: str | PathLike[str]) -> dict[str, bytes]:
    """All members of a zip file, each checked against its checksum."""
    with open(path, "rb") as file:
        start = file.read(4)
        if not start.startswith(b"PK"):
            raise ValueError(f"{os.fspath(path)} is not a bezierflow file: it starts with {start!r}, not as a zip file does")
        try:
            with zipfile.ZipFile(file) as archive:
                return {name: archive.read(name) for name in archive.namelist()}
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError) as error:
            raise ValueError(f"{os.fspath(path)} is damaged or was cut off: {error}") from error


def read_array(content: bytes, path: str | PathLike[str]) -> np.ndarray:
    """The array of one `.npy` member."""
    try:
        return np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, SyntaxError) as error:
        raise ValueError(f"{os.fspath(path)} is damaged: an array in it cannot be read ({error})") from error


def zip_bytes(members: Mapping[str, bytes]) -> bytes:
    """A zip file with these members in this order, uncompressed: the bytes do not depend on a compressor's version."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, OLDEST_DATE)
            info.create_system, info.external_attr = 3, 0o644 << 16  # the same on every system
            archive.writestr(info, content)
    return buffer.getvalue()


def write_atomically(path: str | PathLike[str], content: bytes) -> None:
    """Puts a complete file in place, or leaves what was there: written beside it, flushed to disk, then renamed.

    Where the system has files without a name (Linux), the new one gets its name when it is complete, so that a process that is
    killed while it writes leaves nothing behind.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"the folder of {os.fspath(path)} does not exist; create {folder} first")
    temporary = f"{target}.{secrets.token_hex(4)}.part"
    try:
        _write_named(folder, temporary, content)
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


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
            os.link(f"/proc/self/fd/{nameless}", name, src_dir_fd=nameless)  # with a descriptor, so that the link is followed


def _array_bytes(name: str, content: ArrayLike) -> bytes:
    array = np.asarray(content)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{name} has the type {array.dtype}, which .npy cannot hold; convert it to float32 or float64 first")
    buffer = io.BytesIO()
    little_endian = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
    np.lib.format.write_array(buffer, little_endian, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()
