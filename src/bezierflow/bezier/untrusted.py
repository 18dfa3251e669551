"""Files from strangers: what is wrong with one is a ValueError with its path, said before much time
or memory is spent on it.

Sizes are bounded before anything is computed with them: what a file takes in memory is at most
`memory_allowed`, compressed members and nested texts included. No content is ever executed: arrays
are read from their bytes, never unpickled.
"""

import csv
import io
import json
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from os import PathLike
from typing import Any

import numpy as np

from ..arguments import printable

Path = str | PathLike[str]

SPARE_BYTES = 16_000_000
"""Reading any file may take so much memory, however small it is."""

MEMORY_FACTOR = 8
"""A larger file may take this many times its size."""

BYTES_OF_A_LIST, BYTES_OF_A_NUMBER = 80, 40
"""What Python takes for an empty list or object and its place in another, and for a number or text
in a list."""

LARGEST_HEADER = 10_000
"""Of an array, in bytes: its type and shape."""

LONGEST_REASON = 300
"""Characters of what is wrong."""

MALFORMED = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    MemoryError,
    NotImplementedError,
    SyntaxError,
    EOFError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
    csv.Error,
)
"""What the readers of zip, JSON, CSV and arrays raise about content that is not as it should be."""


@contextmanager
def file_at_fault(path: Path) -> Iterator[None]:
    """A block that reads a file: whatever is wrong with the content is one ValueError that starts
    with the path."""
    try:
        yield
    except MALFORMED as error:
        if isinstance(error, ValueError) and str(error).startswith(os.fspath(path)):
            raise
        reason = " ".join(printable(str(error) or type(error).__name__).split())
        if isinstance(error, KeyError):
            reason = f"it lacks {reason}"
        raise ValueError(
            f"{os.fspath(path)} is damaged or not what it says: {reason[:LONGEST_REASON]}"
        ) from error


def memory_allowed(path: Path) -> int:
    """How many bytes reading a file may take."""
    return max(SPARE_BYTES, MEMORY_FACTOR * os.path.getsize(path))


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
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            _check_members(
                members, compressed, memory_allowed(path) // 2 if compressed else len(content)
            )
            return {member.filename: _member(archive, member) for member in members}
    except MALFORMED as error:
        reason = " ".join(printable(str(error)).split())[:LONGEST_REASON]
        raise ValueError(f"{os.fspath(path)} is damaged or was cut off: {reason}") from error


def _check_members(members: list[zipfile.ZipInfo], compressed: bool, most: int) -> None:
    """Raises unless the members can be read one after the other within so many bytes."""
    if len({member.filename for member in members}) < len(members):
        raise ValueError("two of its members have the same name")
    kinds = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) if compressed else (zipfile.ZIP_STORED,)
    for member in members:
        if member.compress_type not in kinds or member.flag_bits & 1:
            raise ValueError(f"its member {member.filename!r} is compressed or encrypted")
    size = sum(member.file_size for member in members)
    if size > most:
        raise ValueError(
            f"its members would take {size:,} bytes, more than the {most:,} that such a file may"
        )


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The content of a member, which is as long as it says: a decompressor is stopped there."""
    with archive.open(member) as stream:
        content = stream.read(member.file_size + 1)
    if len(content) != member.file_size:
        raise ValueError(
            f"its member {member.filename!r} has not the {member.file_size:,} bytes that it says"
        )
    return content


def parse_json(content: bytes, most: int) -> Any:
    """What a JSON text holds. Names of an object are distinct, numbers are finite, and it takes at
    most so many bytes."""
    lists, items = (
        content.count(b"[") + content.count(b"{"),
        content.count(b",") + content.count(b":"),
    )
    if BYTES_OF_A_LIST * lists + BYTES_OF_A_NUMBER * items + 4 * len(content) > most:
        raise ValueError("its text would take too much memory")
    return json.loads(
        content.decode("utf-8"),
        object_pairs_hook=_distinct,
        parse_constant=_refuse,
        parse_float=_finite,
    )


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in one object of its text")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not np.isfinite(number):
        raise ValueError(f"{text[:40]} is too large a number")
    return number


def parse_array(content: bytes) -> np.ndarray:
    """The array of numbers in a `.npy` file, whose size must be what its header says."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"an array in it has version {version} of the format")
    read_header = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, in_columns, dtype = read_header(stream, max_header_size=LARGEST_HEADER)
    if (
        dtype.kind not in "biufc"
        or dtype.hasobject
        or dtype.fields is not None
        or dtype.subdtype is not None
    ):
        raise ValueError(f"an array in it cannot be read: it holds {dtype}, not numbers")
    if (
        any(isinstance(n, bool) or n < 0 for n in shape)
        or prod(shape) * dtype.itemsize != len(content) - stream.tell()
    ):
        raise ValueError(
            f"an array in it cannot be read: its shape {shape} does not fit its {len(content)}"
            " bytes"
        )
    array = np.frombuffer(content, dtype, offset=stream.tell())
    return np.array(array.reshape(shape, order="F" if in_columns else "C"), order="C", copy=True)
