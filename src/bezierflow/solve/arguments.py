"""The arguments of `minimize` as a file: those that a file can hold, and words for the others."""

import inspect
import os
import re
import runpy
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..answer import Solution
from ..bezier import BezierSimplex, Manifest
from ..runs import Decoder, Encoder, UnknownKindError, read_checked, write_checked

KIND = "arguments of a run"
MISSING = object()
"""What stands for an argument that a file cannot hold."""


@dataclass(frozen=True)
class Arguments:
    """Arguments by name.

    Attributes:
        documents: each as JSON: {"value": ...} for one that `Decoder` can make again, {"file": ...,
            "function": ...} for a function of a file, {"words": ...} for one that must be given
            again.
        arrays: those of the values, by argument.
    """

    documents: dict[str, Manifest]
    arrays: dict[str, dict[str, np.ndarray]]

    @classmethod
    def of(cls, arguments: Mapping[str, object]) -> "Arguments":
        """What a file can hold of these."""
        documents, arrays = {}, {}
        for name, value in arguments.items():
            encoder = Encoder()
            try:
                documents[name] = {"value": encoder.encode(_plain(name, value), name)}
                arrays[name] = encoder.arrays
            except UnknownKindError:
                documents[name] = _named(value) or {
                    "words": re.sub(r" at 0x[0-9a-f]+", "", repr(value))
                }
        return cls(documents, arrays)

    def value(self, name: str) -> Any:
        """An argument, made again; MISSING where that cannot be. A function of a file is loaded by
        running that file."""
        document = self.documents[name]
        if "value" in document:
            return Decoder(self.arrays.get(name, {})).decode(document["value"])
        return _loaded(document["file"], document["function"]) if "file" in document else MISSING

    def differences(self, other: "Arguments") -> dict[str, str]:
        """The arguments that differ, each with words. Objectives are compared by their values,
        elsewhere."""
        return {
            name: f"{name} was {self._words(name)} and is {other._words(name)}"
            for name in self.documents
            if name not in ("objectives", "jac", "hess") and not self._agrees(other, name)
        }

    def _agrees(self, other: "Arguments", name: str) -> bool:
        """Also where a file was written before an object had some field: read, it has the
        default."""
        if self._is_same(other, name) or "value" not in self.documents[name]:
            return self._is_same(other, name)
        return Arguments.of({name: self.value(name)})._is_same(other, name)

    def _is_same(self, other: "Arguments", name: str) -> bool:
        mine, theirs = self.arrays.get(name, {}), other.arrays.get(name, {})
        same = self.documents[name] == other.documents[name] and mine.keys() == theirs.keys()
        return same and all(np.array_equal(mine[key], theirs[key], equal_nan=True) for key in mine)

    def _words(self, name: str) -> str:
        document = self.documents[name]
        text = (
            repr(self.value(name))
            if "value" in document
            else document.get("words") or f"{document['file']}"
        )
        return text if len(text) < 100 else f"{text[:97]}..."


GROWING = ("n_iterations", "budget", "max_degree")
"""Arguments that may be larger when a run goes on."""


def settle_arguments(path: Path, arguments: Mapping[str, Any]) -> list[str]:
    """Writes down arguments, or compares them with those that are there; an error if they differ.
    Which of them have grown."""
    given = Arguments.of(arguments)
    if not path.exists():
        write_arguments(path, given)
        return []
    kept = read_arguments(path)
    changed = kept.differences(given)
    grown = [
        name for name in changed if name in GROWING and _is_more(kept.value(name), arguments[name])
    ]
    refused = [text for name, text in changed.items() if name not in grown]
    if refused:
        raise ValueError(
            f"{path.parent} holds another run: {'; '.join(refused)}. Give another folder, or the"
            f" same arguments; only {', '.join(GROWING)} may be larger than they were"
        )
    if grown:
        write_arguments(path, given)
    return grown


def _is_more(before: int | None, now: int | None) -> bool:
    return before is not None and (now is None or now > before)


def write_arguments(path: Path, arguments: Arguments) -> None:
    """Writes the file."""
    arrays = {
        f"{name}/{key}": array
        for name, parts in arguments.arrays.items()
        for key, array in parts.items()
    }
    write_checked(path, {"kind": KIND, "arguments": arguments.documents}, arrays)


def read_arguments(path: Path) -> Arguments:
    """What the file holds."""
    manifest, arrays = read_checked(path, KIND)
    parts: dict[str, dict[str, np.ndarray]] = {name: {} for name in manifest["arguments"]}
    for key, array in arrays.items():
        name, _, number = key.partition("/")
        parts.setdefault(name, {})[number] = array
    return Arguments(manifest["arguments"], parts)


def _plain(name: str, value: object) -> object:
    """What stands for a solution that a run starts at."""
    if name == "x0" and isinstance(value, Solution):
        if value.paused is not None:
            raise ValueError(
                "x0 is a solution whose run was stopped, which a checkpoint cannot hold; give"
                " x0=solution.pareto_set to start from its surface"
            )
        return value.pareto_set
    if name == "x0" and isinstance(value, BezierSimplex):
        return value.on_host()
    return value


def _named(value: object) -> dict[str, str] | None:
    """A function by its file, where it can be found there again: at the top of a file that is not
    the program itself."""
    function = inspect.unwrap(value) if callable(value) else None
    code, name = getattr(function, "__code__", None), getattr(function, "__qualname__", "")
    if (
        code is None
        or function.__module__ == "__main__"
        or not name.isidentifier()
        or not os.path.isfile(code.co_filename)
    ):
        return None
    return {"file": os.path.abspath(code.co_filename), "function": name}


def _loaded(path: str, function: str) -> object:
    try:
        return runpy.run_path(path)[function]
    except (OSError, KeyError) as error:
        raise ValueError(
            f"the objectives were {function} of {path}, which cannot be loaded ({error}); give them"
            " again"
        ) from error
