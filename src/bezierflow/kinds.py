"""Kinds: short names with a version, such as "normal.state/1", under which archives hold objects.

They stand on the ground floor, so that every class registers itself where it is defined, and a
class may be renamed and moved without breaking anybody's files.
"""

import re
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

KIND = re.compile(r"[a-z_]+(\.[a-z_]+)*/[1-9][0-9]*")

KINDS: dict[str, Any] = {}
"""The registered classes by kind."""

_NAMES: dict[type, str] = {}


def kind(name: str) -> Callable[[type[T]], type[T]]:
    """Registers a class whose objects may stand in a state: `@kind("normal.state/1")`.

    An object is written by its attributes (values of a `cached_property` are left out) and made
    again without its `__init__`; fields that a dataclass has got since get their defaults. Raise
    the version when attributes change their meaning.
    """
    if not KIND.fullmatch(name):
        raise ValueError(f"kind must have a version, as in 'normal.state/1', got {name!r}")

    def register(cls: type[T]) -> type[T]:
        other = KINDS.get(name, cls)
        # a class that is defined once more, as in a notebook, takes the place of the former one
        if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(f"kind {name!r} is that of {other!r} already; raise its version")
        KINDS[name], _NAMES[cls] = cls, name
        return cls

    return register


def is_registered(cls: type) -> bool:
    """Whether this very class has a kind; a subclass may hold anything."""
    return cls in _NAMES


def kind_of(cls: type) -> str:
    """The kind of a class; the name of one that is not registered, such as a user's own flow."""
    return _NAMES.get(cls, cls.__qualname__)
