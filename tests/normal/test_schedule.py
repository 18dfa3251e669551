import re
from dataclasses import fields, is_dataclass
from inspect import getsource

from bezierflow.normal import Schedule
from bezierflow.normal import schedule as module


def sections():
    return [(part.name, getattr(Schedule(), part.name)) for part in fields(Schedule)]


def test_every_number_is_documented_right_below_it():
    source = getsource(module)
    for _, section in sections():
        assert is_dataclass(section)
        for part in fields(section):
            assert re.search(rf'^    {part.name}: .+ = .*\n    """', source, re.MULTILINE), (
                part.name
            )


def test_every_number_is_used():
    """A number that no file of the room reads has no effect and must go."""
    from pathlib import Path

    room = Path(module.__file__).parent
    code = "\n".join(path.read_text() for path in room.glob("*.py") if path.name != "schedule.py")
    for _, section in sections():
        for part in fields(section):
            assert re.search(rf"\.{part.name}\b", code), part.name
