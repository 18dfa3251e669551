import re
from dataclasses import fields
from pathlib import Path

from bezierflow.normal import Schedule
from bezierflow.normal import schedule as module


def test_every_number_is_documented():
    for part in fields(Schedule):
        assert re.search(rf"^        {part.name}: \w", Schedule.__doc__, re.MULTILINE), part.name


def test_every_number_is_used():
    """A number that no file of the room reads has no effect and must go."""
    room = Path(module.__file__).parent
    code = "\n".join(path.read_text() for path in room.glob("*.py") if path.name != "schedule.py")
    for part in fields(Schedule):
        assert re.search(rf"\.{part.name}\b", code), part.name
