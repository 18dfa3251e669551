"""A folder that belongs to one process at a time."""

import json
import os
import socket
from pathlib import Path
from types import TracebackType

LOCK = "lock"
"""The file that is locked; it holds who locked it."""


class FolderTakenError(RuntimeError):
    """Another process works on the folder."""


class Folder:
    """A folder under an exclusive lock, which the system releases when the process ends, however it
    ends.

    The lock is `flock` on the file `lock` (`msvcrt.locking` on Windows), so two processes on one
    machine exclude each other, and on most network file systems two machines as well. What a killed
    process left half-written (`*.part`) is removed.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self._file: int | None = None

    def __enter__(self) -> "Folder":
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise type(error)(f"the folder {self.path} cannot be written: {error}") from error
        try:
            _lock(self._file)
        except OSError:
            self._release()
            raise FolderTakenError(
                f"another process works on {self.path}: {self._owner()}; wait for it or stop it"
            ) from None
        os.ftruncate(self._file, 0)
        os.pwrite(
            self._file,
            json.dumps({"process": os.getpid(), "machine": socket.gethostname()}).encode(),
            0,
        )
        for stale in self.path.glob("*.part"):
            stale.unlink()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._release()

    def _release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _owner(self) -> str:
        try:
            owner = json.loads((self.path / LOCK).read_text())
            return f"process {int(owner['process'])} on {str(owner['machine'])!r}"
        except (OSError, ValueError, KeyError, TypeError):
            return "it does not say which"


def _lock(file: int) -> None:
    """An exclusive lock without waiting; an `OSError` where somebody has it."""
    if os.name == "nt":
        import msvcrt

        getattr(msvcrt, "locking")(file, getattr(msvcrt, "LK_NBLCK"), 1)  # noqa: B009
        return
    import fcntl

    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
