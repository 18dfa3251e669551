"""An append-only journal: a JSON object a line, numbered, with a checksum, on the disk before
`append` returns.

A line is `{"n": 3, "kind": "told", ..., "sum": "8f14e45f"}`: what the record holds, its number from
0 and the CRC-32 of the line without its sum. A process that dies while it writes leaves a last line
without an end; it is recognized and dropped. Whatever else is wrong is damage, and an error that
names the file and the line.
"""

import json
import os
import zlib
from pathlib import Path
from typing import Any

from .trouble import tell

Record = dict[str, Any]
"""What JSON can hold, by name, with a "kind"."""

TAIL = ', "sum": "%08x"}'
TAIL_LENGTH = len(TAIL % 0)


class DamagedJournalError(ValueError):
    """A journal holds a line that was not written like that."""


def read_journal(path: Path) -> list[Record]:
    """The records of a journal, without a torn last line; none where there is no file."""
    return _parse(path)[0]


def _parse(path: Path) -> tuple[list[Record], int]:
    """The records, and how many bytes they take."""
    content = path.read_bytes() if path.exists() else b""
    *lines, torn = content.split(b"\n")
    return [_record(path, number, line) for number, line in enumerate(lines)], len(content) - len(
        torn
    )


def _record(path: Path, number: int, line: bytes) -> Record:
    where = f"{path}, line {number + 1}"
    body, tail = line[:-TAIL_LENGTH] + b"}", line[-TAIL_LENGTH:]
    if tail.decode("ascii", "replace") != TAIL % zlib.crc32(body):
        raise DamagedJournalError(
            f"{where} is damaged: its checksum is not that of its content; restore the file from a"
            " copy"
        )
    try:
        record = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise DamagedJournalError(f"{where} is damaged: {error}") from error
    if (
        not isinstance(record, dict)
        or record.pop("n", None) != number
        or not isinstance(record.get("kind"), str)
    ):
        raise DamagedJournalError(
            f"{where} is damaged: it is not record {number}; lines are missing or were moved"
        )
    return record


class Journal:
    """A journal that is written by one process, which holds the lock of its folder.

    A disk that is full does not stop the writer: records that could not be written wait for the
    next `append`, with a warning.

    Attributes:
        records: all of them, in order.
        waiting: how many of them are not on the disk.
    """

    def __init__(self, path: Path):
        self.path = path
        self.records, self._size = _parse(path)
        self._written = len(self.records)

    @property
    def waiting(self) -> int:
        """How many records are not on the disk."""
        return len(self.records) - self._written

    def append(self, *records: Record) -> None:
        """Adds records, synced in one go."""
        self.records += records
        try:
            self.flush()
        except OSError as error:
            tell(
                f"{self.path} cannot be written ({error}): {self.waiting} records are kept in"
                " memory alone, until it can be"
            )

    def flush(self) -> None:
        """Writes what waits; an `OSError` if that cannot be."""
        lines = b"".join(
            _line(number, record)
            for number, record in enumerate(self.records[self._written :], self._written)
        )
        with open(self.path, "r+b" if self.path.exists() else "x+b") as file:
            # a torn line, of a process that died or of a disk that was full
            file.truncate(self._size)
            file.seek(self._size)
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
        self._size, self._written = self._size + len(lines), len(self.records)


def _line(number: int, record: Record) -> bytes:
    body = json.dumps({"n": number, **record}, allow_nan=False, ensure_ascii=True).encode()
    return body[:-1] + (TAIL % zlib.crc32(body)).encode() + b"\n"
