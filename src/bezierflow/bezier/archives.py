"""The `.bez` archive: a zip of one `manifest.json` and `.npy` arrays, exact and without pickle.

Other rooms keep their own content in it, by `write_archive(path, manifest, arrays)` and
`read_archive(path)`. The format is described in `docs/files.md`.

Files may come from strangers. Whatever is wrong with one is a ValueError with its path, raised
before much time or memory is spent: what a file takes in memory is at most `memory_allowed`,
compressed members and nested texts included. No content is ever executed.
"""

import csv
import glob
import io
import json
import os
import re
import secrets
import struct
import time
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from math import prod
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import printable
from .schedule import SCHEDULE

Path = str | PathLike[str]

Manifest = dict[str, Any]
"""What JSON can hold, by name."""

FORMAT = "bezierflow"
VERSION = 2
"""Version of the archive's layout. Raised when a file could no longer be read by an older library.
Since version 2 names have directions and transforms, without which objective values would have the
wrong signs; older files are read as they were."""

MANIFEST = "manifest.json"
ARRAY_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")

MALFORMED = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError),
    *(MemoryError, NotImplementedError, SyntaxError, EOFError, struct.error, tokenize.TokenError),
    *(zipfile.BadZipFile, zlib.error, csv.Error),
)
"""What the readers of zip, JSON, CSV and arrays raise about content that is not as it should be."""


def write_archive(path: Path, manifest: Manifest, arrays: Mapping[str, ArrayLike]) -> None:
    """Writes a `.bez` archive. The same content gives the same bytes.

    Args:
        path: Where to write. What was there before stays until the new file is complete.
        manifest: What JSON can hold, with a "kind"; "format" and "version" are added.
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
    text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    members = {MANIFEST: text.encode()}
    for name in sorted(arrays):
        if not ARRAY_NAME.fullmatch(name):
            raise ValueError(f"arrays must have names of letters, digits and _ . - /, got {name!r}")
        array = np.asarray(arrays[name])
        if array.dtype.kind not in "biufc":
            raise TypeError(
                f"{name} has the type {array.dtype}, which .npy cannot hold; convert it to float32"
                " or float64 first"
            )
        # one byte order and layout everywhere; `ascontiguousarray` gives a number an axis
        layout = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, layout, version=(1, 0), allow_pickle=False)
        members[f"{name}.npy"] = buffer.getvalue()
    write_atomically(path, zip_bytes(members))


def read_archive(path: Path) -> tuple[Manifest, dict[str, np.ndarray]]:
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
        manifest = {}
    ours = isinstance(manifest, dict) and manifest.get("format") == FORMAT
    version = manifest.get("version") if ours else None
    if type(version) is not int or version < 1 or not isinstance(manifest.get("kind"), str):
        raise ValueError(
            f"{os.fspath(path)} is a zip file, but not one of bezierflow: it has no {MANIFEST} of"
            " its format"
        )
    if version > VERSION:
        raise ValueError(
            f"{os.fspath(path)} has version {version} of the format, this library reads up to"
            f" version {VERSION}; update bezierflow to read it"
        )
    arrays = {}
    with file_at_fault(path):
        for member, content in members.items():
            name = member.removesuffix(".npy")
            if name == member or not ARRAY_NAME.fullmatch(name):
                raise ValueError(f"its member {member!r} is no array")
            arrays[name] = parse_array(content)
    return manifest, arrays


def zip_bytes(members: Mapping[str, bytes]) -> bytes:
    """A zip file with these members in this order, the same bytes on every system and every day."""
    buffer = io.BytesIO()
    # not compressed: the bytes must not depend on a compressor's version
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, content)
    return buffer.getvalue()


def write_atomically(path: Path, content: bytes) -> None:
    """Puts a complete file in place, or leaves what was there: written beside it, then renamed.

    Where the system has files without a name (Linux), the new one gets its name when complete: a
    process killed while it writes leaves nothing, or a complete file that was about to be renamed,
    which the next one to write removes.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"the folder of {os.fspath(path)} does not exist; create {folder} first"
        )
    temporary = f"{target}.{secrets.token_hex(4)}.part"
    try:
        try:
            nameless = os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666)
        except (AttributeError, OSError):  # another system, or a file system without them
            nameless = None
        with open(temporary, "xb") if nameless is None else open(nameless, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if nameless is not None:
                # with a descriptor, so that the link is followed
                os.link(f"/proc/self/fd/{nameless}", temporary, src_dir_fd=nameless)
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise
    for left in glob.glob(f"{glob.escape(target)}.{'[0-9a-f]' * 8}.part"):
        with suppress(OSError):  # another process may have removed it
            if time.time() - os.path.getmtime(left) > SCHEDULE.abandoned:
                os.remove(left)


@contextmanager
def file_at_fault(path: Path) -> Iterator[None]:
    """A block that reads a file: errors about its content become one ValueError with the path."""
    try:
        yield
    except MALFORMED as error:
        if isinstance(error, ValueError) and str(error).startswith(os.fspath(path)):
            raise
        lacks = "it lacks " if isinstance(error, KeyError) else ""
        raise ValueError(
            f"{os.fspath(path)} is damaged or not what it says: {lacks}{_reason(error)}"
        ) from error


def _reason(error: BaseException) -> str:
    text = " ".join(printable(str(error) or type(error).__name__).split())
    return text[: SCHEDULE.longest_reason]


def memory_allowed(path: Path) -> int:
    """How many bytes reading a file may take."""
    return max(SCHEDULE.spare_bytes, SCHEDULE.memory_factor * os.path.getsize(path))


def read_members(path: Path, compressed: bool = False) -> dict[str, bytes]:
    """All members of a zip file, each checked against its checksum.

    Names are distinct, nothing is encrypted, and together the members are no larger than they may
    be: the file itself, or, where they may be compressed, half of `memory_allowed`.
    """
    with open(path, "rb") as file:
        # whole: in a file a place before its start would be an OSError, as if the disk were at
        # fault
        content = file.read()
    if not content.startswith(b"PK"):
        raise ValueError(
            f"{os.fspath(path)} is not a bezierflow file: it starts with {content[:4]!r}, not as a"
            " zip file does"
        )
    kinds, most = {zipfile.ZIP_STORED}, len(content)
    if compressed:
        kinds, most = kinds | {zipfile.ZIP_DEFLATED}, memory_allowed(path) // 2
    contents: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            size = sum(member.file_size for member in members)
            if size > most:
                raise ValueError(f"its members would take {size:,} bytes, more than {most:,}")
            for member in members:
                name = member.filename
                if name in contents:
                    raise ValueError("two of its members have the same name")
                if member.compress_type not in kinds or member.flag_bits & 1:
                    raise ValueError(f"its member {name!r} is compressed or encrypted")
                with archive.open(member) as stream:
                    # a decompressor is stopped at the size that was checked
                    contents[name] = stream.read(member.file_size + 1)
                if len(contents[name]) != member.file_size:
                    raise ValueError(
                        f"its member {name!r} has not the {member.file_size:,} bytes that it says"
                    )
    except MALFORMED as error:
        raise ValueError(
            f"{os.fspath(path)} is damaged or was cut off: {_reason(error)}"
        ) from error
    return contents


def parse_json(content: bytes, most: int) -> Any:
    """What a JSON text of at most `most` bytes in memory holds; names distinct, numbers finite."""
    lists = content.count(b"[") + content.count(b"{")
    items = content.count(b",") + content.count(b":")
    if SCHEDULE.list_bytes * lists + SCHEDULE.number_bytes * items + 4 * len(content) > most:
        raise ValueError("its text would take too much memory")

    def distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a name stands twice in one object of its text")
        return found

    def finite(text: str) -> float:
        number = float(text)
        if not np.isfinite(number):
            raise ValueError(f"{text[: SCHEDULE.longest_look]} is not a finite number")
        return number

    return json.loads(
        content.decode("utf-8"),
        object_pairs_hook=distinct,
        parse_constant=finite,
        parse_float=finite,
    )


def parse_array(content: bytes) -> np.ndarray:
    """The array of numbers in a `.npy` file, whose size must be what its header says."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in readers:
        raise ValueError(f"an array in it has version {version} of the format")
    shape, in_columns, dtype = readers[version](stream, max_header_size=SCHEDULE.largest_header)
    # `kind` alone is not enough: records and arrays within arrays have kinds of their own
    if dtype.kind not in "biufc" or dtype.hasobject or dtype.fields or dtype.subdtype:
        raise ValueError(f"an array in it cannot be read: it holds {dtype}, not numbers")
    odd = any(isinstance(n, bool) or n < 0 for n in shape)
    if odd or prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise ValueError(
            f"an array in it cannot be read: its shape {shape} does not fit its {len(content)}"
            " bytes"
        )
    array = np.frombuffer(content, dtype, offset=stream.tell())
    return np.array(array.reshape(shape, order="F" if in_columns else "C"), order="C", copy=True)
