"""The journal: what was appended is read back; a torn last line is dropped; any other damage is
found, with its line."""

import subprocess
import sys
from pathlib import Path

import pytest

from bezierflow.runs import DamagedJournalError, Journal, read_journal

RECORDS = [
    {"kind": "a", "x": [0.1, 1e-300]},
    {"kind": "b", "text": "é\n"},
    {"kind": "c", "nested": {"y": None}},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    journal = Journal(tmp_path / "journal.jsonl")
    for record in RECORDS:
        journal.append(record)
    return journal.path


def test_what_was_appended_is_read_back(path):
    assert read_journal(path) == RECORDS
    assert len(path.read_text().splitlines()) == len(RECORDS)


def test_a_journal_cut_anywhere_has_the_whole_lines_before_and_goes_on(path):
    content = path.read_bytes()
    for length in range(len(content) + 1):
        path.write_bytes(content[:length])
        whole = content[:length].count(b"\n")
        assert read_journal(path) == RECORDS[:whole]
        journal = Journal(path)
        journal.append({"kind": "next"})
        assert read_journal(path) == [*RECORDS[:whole], {"kind": "next"}]


def test_every_changed_bit_of_a_whole_line_is_found(path):
    content = path.read_bytes()
    for place in range(len(content) - 1):
        changed = bytearray(content)
        changed[place] ^= 1
        path.write_bytes(bytes(changed))
        with pytest.raises(DamagedJournalError, match=r"journal.jsonl, line \d"):
            read_journal(path)


def test_lines_that_are_missing_or_moved_are_found(path):
    first, second, third = path.read_bytes().splitlines(keepends=True)
    for lines in (
        [second, third],
        [first, third],
        [first, third, second],
        [first, first, second, third],
    ):
        path.write_bytes(b"".join(lines))
        with pytest.raises(DamagedJournalError, match="line"):
            read_journal(path)


def test_a_full_disk_does_not_stop_the_writer_and_what_waits_is_written_later(tmp_path):
    """The disk is full: the process may write no file beyond 300 bytes."""
    code = """
import resource, sys, warnings
from bezierflow.runs import Journal, StorageWarning, read_journal
from pathlib import Path
journal = Journal(Path(sys.argv[1]))
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (300, hard))
with warnings.catch_warnings(record=True) as caught:
    for number in range(20):
        journal.append({"kind": "told", "number": number})
assert caught and all(issubclass(w.category, StorageWarning) for w in caught), caught
assert 0 < len(read_journal(journal.path)) < 20 == len(journal.records)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
journal.append({"kind": "last"})
assert read_journal(journal.path) == journal.records and journal.waiting == 0 and len(journal.records) == 21
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "journal.jsonl")], check=True)
