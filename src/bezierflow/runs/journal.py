"""A folder with one owner, and the append-only journal in it.

A journal is a JSON object per line, numbered, with a checksum, on the disk before `append` returns:
`{"n": 3, "kind": "told", ..., "sum": "8f14e45f"}` has what the record holds, its number from 0 and
the CRC-32 of the line without its sum. A process that dies while it writes leaves a last line
without an end; it is recognized and dropped. Whatever else is wrong is damage, and an error that
names the file and the line.
"""

import json
import os
import socket
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Record = dict[str, Any]
"""What JSON can hold, by name, with a "kind"."""

JOURNAL = "journal.jsonl"

LOCK = "lock"
"""The file that is locked; it holds who locked it."""

TAIL = ', "sum": "%08x"}'
TAIL_LENGTH = len(TAIL % 0)


class StorageWarning(UserWarning):
    """Something could not be written; the run goes on, and would be lost if the process ended
    now."""


class FolderTakenError(RuntimeError):
    """Another process works on the folder."""


class DamagedJournalError(ValueError):
    """A journal holds a line that was not written like that."""


def warn(message: str) -> None:
    """Shows a `StorageWarning`, even where warnings of libraries are silenced."""
    with warnings.catch_warnings():
        # `minimize` silences warnings of libraries, and each of these is shown, not just the first
        warnings.simplefilter("always", StorageWarning)
        warnings.warn(message, StorageWarning, stacklevel=3)


@contextmanager
def locked(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder under an exclusive lock, which the system releases when the process ends, however it
    ends.

    The lock is `flock` on the file `lock` (`msvcrt.locking` on Windows), so two processes on one
    machine exclude each other, and on most network file systems two machines as well. What a killed
    process left half-written (`*.part`) is removed.
    """
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        file = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise type(error)(f"the folder {path} cannot be written: {error}") from error
    try:
        try:
            if os.name == "nt":
                import msvcrt

                getattr(msvcrt, "locking")(file, getattr(msvcrt, "LK_NBLCK"), 1)  # noqa: B009
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # not waited for: the process that holds the lock may take hours
            try:
                owner = json.loads((path / LOCK).read_text())
                words = f"process {int(owner['process'])} on {str(owner['machine'])!r}"
            except (OSError, ValueError, KeyError, TypeError):
                words = "it does not say which"
            raise FolderTakenError(
                f"another process works on {path}: {words}; wait for it or stop it"
            ) from None
        os.ftruncate(file, 0)
        owner = {"process": os.getpid(), "machine": socket.gethostname()}
        os.pwrite(file, json.dumps(owner).encode(), 0)
        for stale in path.glob("*.part"):  # no other process writes here now
            stale.unlink()
        yield path
    finally:
        os.close(file)


class Journal:
    """A journal that is written by one process, which holds the lock of its folder. Anybody may
    read it.

    A disk that is full does not stop the writer: records that could not be written wait for the
    next `append`, with a warning.

    Attributes:
        path: of the file, which need not be there yet.
        records: all of them, in order, without a torn last line.
    """

    def __init__(self, path: Path):
        content = path.read_bytes() if path.exists() else b""
        *lines, torn = content.split(b"\n")
        self.path, self.records = path, []
        for number, line in enumerate(lines):
            body, tail = line[:-TAIL_LENGTH] + b"}", line[-TAIL_LENGTH:]
            words = f"{path}, line {number + 1} is damaged:"
            if tail.decode("ascii", "replace") != TAIL % zlib.crc32(body):
                raise DamagedJournalError(
                    f"{words} its checksum is not that of its content; restore the file from a copy"
                )
            try:
                record = json.loads(body)
            except (ValueError, RecursionError) as error:
                raise DamagedJournalError(f"{words} {error}") from error
            if (
                not isinstance(record, dict)
                or record.pop("n", None) != number
                or not isinstance(record.get("kind"), str)
            ):
                raise DamagedJournalError(
                    f"{words} it is not record {number}; lines are missing or were moved"
                )
            self.records.append(record)
        self._written, self._size = len(lines), len(content) - len(torn)

    @property
    def waiting(self) -> int:
        """How many records are not on the disk."""
        return len(self.records) - self._written

    def begin(self, record: Record) -> None:
        """Writes the first record; a disk that is full is said now."""
        self.append(record)
        self.flush()

    def append(self, *records: Record) -> None:
        """Adds records, synced in one go."""
        self.records += records
        try:
            self.flush()
        except OSError as error:
            warn(
                f"{self.path} cannot be written ({error}): {self.waiting} records are kept in"
                " memory alone, until it can be"
            )

    def flush(self) -> None:
        """Writes what waits; an `OSError` if that cannot be."""
        lines = []
        for number, record in enumerate(self.records[self._written :], self._written):
            # without NaN, which is no JSON, and in ASCII, of which no editor changes a byte
            body = json.dumps({"n": number, **record}, allow_nan=False, ensure_ascii=True).encode()
            lines.append(body[:-1] + (TAIL % zlib.crc32(body)).encode() + b"\n")
        content = b"".join(lines)
        with open(self.path, "r+b" if self.path.exists() else "x+b") as file:
            # what is beyond is a torn line, of a process that died or of a disk that was full
            file.truncate(self._size)
            file.seek(self._size)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        self._size, self._written = self._size + len(content), len(self.records)


def read_journal(path: Path) -> list[Record]:
    """The records of a journal; none where there is no file."""
    return Journal(path).records


@contextmanager
def open_journal(folder: str | os.PathLike[str], kind: str) -> Iterator[Journal]:
    """The journal of a folder, which is locked meanwhile; an error where its first record is of
    another kind than this one, "run" or "study"."""
    with locked(folder) as path:
        journal = Journal(path / JOURNAL)
        if journal.records and journal.records[0]["kind"] != kind:
            raise ValueError(
                f"{path} holds a {journal.records[0]['kind']}, not a {kind}; give another folder"
            )
        yield journal
