"""The lock of a folder: one process has it, another is told which one, and a killed one loses
it."""

import os
import signal
import subprocess
import sys

import pytest

from bezierflow.runs import FolderTakenError, locked

HOLD = """
import sys, time
from bezierflow.runs import locked
with locked(sys.argv[1]):
    print("mine", flush=True)
    time.sleep(60)
"""


def test_another_process_is_named_and_a_killed_one_has_lost_its_lock(tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "mine\n"
        with pytest.raises(FolderTakenError, match=f"process {holder.pid} on"), locked(tmp_path):
            pass
    finally:
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    with (
        locked(tmp_path),
        pytest.raises(FolderTakenError, match=f"process {os.getpid()} on"),
        locked(tmp_path),
    ):
        pass
    with locked(tmp_path):
        pass


def test_what_a_killed_process_left_half_written_is_removed(tmp_path):
    (tmp_path / "0.bez.1234.part").write_bytes(b"half")
    (tmp_path / "0.bez").write_bytes(b"whole")
    with locked(tmp_path):
        assert sorted(path.name for path in tmp_path.iterdir()) == ["0.bez", "lock"]


def test_a_folder_that_cannot_be_written_is_said_with_its_path(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "run", "/proc/run"):
        with pytest.raises(OSError, match="cannot be written"), locked(path):
            pass
