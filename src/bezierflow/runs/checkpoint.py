"""A run that is kept in a folder: what it was asked for, and the state of each of its flows.

A run is a deterministic program: a flow, perhaps an error estimate and a survey, perhaps another
flow. The folder keeps the arguments of the call, and the state of each flow, in the order in which
they run. To go on, the program runs again: a flow whose file is there starts at that state, which
is the last one where it had ended, and what lies between flows is computed once more.
"""

import inspect
import os
import platform
import re
import runpy
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np
from jaxtyping import Float

from ..kinds import kind_of
from .archive import Decoder, Encoder, UnknownKindError, read_checked, write_checked
from .journal import Journal, Record, open_journal, warn

ARGUMENTS, SOLUTION = "run.bez", "solution.bez"

ARGUMENTS_KIND, STATE_KIND = "run.arguments/1", "run.state/1"
"""The kinds of the archives."""

SAME_VALUES = 1e-8
"""Values of the same objectives on another machine differ by less, relative to their size."""

GROWING = ("n_iterations", "budget", "max_degree")
"""Arguments that may be larger when a run goes on."""

COMPARED_BY_VALUE = ("objectives", "jac", "hess")
"""Arguments of which only values at a few points are compared."""

MISSING = object()
"""What stands for an argument that a file cannot hold."""

State = TypeVar("State")

History = dict[str, np.ndarray]
"""What iterations recorded: an array per name."""


@dataclass
class Arguments:
    """The arguments of a call: those that a file can hold, and words for the others.

    Attributes:
        documents: each as JSON: {"value": ...} for one that `Decoder` can make again, {"file": ...,
            "function": ...} for a function of a file, {"words": ...} for one that must be given
            again.
        arrays: of all values, by the name of the argument, a slash and a number.
    """

    documents: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, arguments: Mapping[str, object]) -> "Arguments":
        """What a file can hold of these."""
        documents, arrays = {}, {}
        for name, value in arguments.items():
            encoder = Encoder(prefix=f"{name}/")
            try:
                documents[name] = {"value": encoder.encode(value, name)}
                arrays |= encoder.arrays
            except UnknownKindError:
                # addresses differ from process to process
                words = {"words": re.sub(r" at 0x[0-9a-f]+", "", repr(value))}
                documents[name] = _file_of(value) or words
        return cls(documents, arrays)

    @classmethod
    def read(cls, path: Path) -> "Arguments":
        """What a file holds."""
        manifest, arrays = read_checked(path, ARGUMENTS_KIND)
        return cls(manifest["arguments"], arrays)

    def write(self, path: Path) -> None:
        """Writes the file."""
        write_checked(path, {"kind": ARGUMENTS_KIND, "arguments": self.documents}, self.arrays)

    def document(self, name: str) -> Any:
        """An argument as JSON; None for one that was not given."""
        return self.documents.get(name, {"value": None})

    def value(self, name: str) -> Any:
        """An argument, made again; MISSING where that cannot be. A function of a file is loaded by
        running that file."""
        document = self.document(name)
        if "value" in document:
            return Decoder(self.arrays).decode(document["value"])
        if "file" not in document:
            return MISSING
        try:
            return runpy.run_path(document["file"])[document["function"]]
        except (OSError, KeyError) as error:
            raise ValueError(
                f"the objectives were {document['function']} of {document['file']}, which cannot be"
                f" loaded ({error}); give them again"
            ) from error

    def values(self, given: Mapping[str, object], folder: Path, call: str) -> dict[str, Any]:
        """All arguments, those given in place of those kept; an error with the call, whose
        beginning is given, where some are missing."""
        found = {
            name: given[name] if name in given else self.value(name) for name in self.documents
        }
        missing = [name for name, value in found.items() if value is MISSING]
        if missing:
            # objectives are the second argument of `resume`, the others are given by name
            missing.sort(key=lambda name: name != "objectives")
            again = [name if name == "objectives" else f"{name}=..." for name in missing]
            words = [
                f"{name} was {' '.join(self.documents[name]['words'].split())}" for name in missing
            ]
            raise ValueError(
                f"{folder} cannot hold {', '.join(missing)} ({'; '.join(words)}); give it again:"
                f" {call}, {', '.join(again)})"
            )
        return found

    def differences(self, other: "Arguments", ignored: tuple[str, ...]) -> list[str]:
        """The arguments that differ, in words, but for those that are ignored."""
        found = []
        for name in {**self.documents, **other.documents}:
            if name in ignored or self._agrees(other, name):
                continue
            # a file that was written before an object had some field: read, it has the default
            held = "value" in self.document(name)
            if not (held and Arguments.of({name: self.value(name)})._agrees(other, name)):
                found.append(f"{name} was {self._words(name)} and is {other._words(name)}")
        return found

    def _agrees(self, other: "Arguments", name: str) -> bool:
        # equal documents name the same arrays
        return self.document(name) == other.document(name) and all(
            np.array_equal(array, other.arrays[key], equal_nan=True)
            for key, array in self.arrays.items()
            if key.startswith(f"{name}/")
        )

    def _words(self, name: str) -> str:
        document = self.document(name)
        value = repr(self.value(name)) if "value" in document else None
        text = value or document.get("words") or f"{document['file']}"
        return text if len(text) < 100 else f"{text[:97]}..."


def _file_of(value: object) -> dict[str, str] | None:
    """A function by its file, where it can be found there again: at the top of a file that is not
    the program itself."""
    # a wrapper's code, such as that of functools.wraps, is in another file than what it wraps
    function = inspect.unwrap(value) if callable(value) else None
    code, name = getattr(function, "__code__", None), getattr(function, "__qualname__", "")
    if (
        code is None
        or getattr(function, "__module__", None) == "__main__"
        or not name.isidentifier()
        or not os.path.isfile(code.co_filename)
    ):
        return None
    return {"file": os.path.abspath(code.co_filename), "function": name}


def settle_arguments(path: Path, arguments: Mapping[str, Any], ended: bool = False) -> list[str]:
    """Writes down arguments, or compares them with those that are there; an error if they differ.
    Which of them have grown, for a run that may have ended."""
    given = Arguments.of(arguments)
    if not path.exists():
        given.write(path)
        return []
    kept = Arguments.read(path)
    # None is no limit, so that it is more than any number
    most = {**dict.fromkeys(GROWING), **arguments}
    grown = [
        name
        for name in GROWING
        if (old := kept.value(name)) and (np.inf if most[name] is None else most[name]) > old
    ]
    refused = kept.differences(given, (*grown, *COMPARED_BY_VALUE))
    if refused:
        raise ValueError(
            f"{path.parent} holds another run: {'; '.join(refused)}. Give another folder, or the"
            f" same arguments; only {', '.join(GROWING)} may be larger than they were"
        )
    if "max_degree" in grown and ended:
        raise ValueError(
            f"the run in {path.parent} has ended, and a larger max_degree changes nothing of it;"
            f" start from its surface: minimize(objectives, load({str(path.parent / SOLUTION)!r})"
            f".pareto_set, max_degree={arguments['max_degree']})"
        )
    if grown:
        given.write(path)
    return grown


class Part:
    """The file of one flow of a run: its last state, how many iterations were made, and what they
    recorded. It is replaced about every so many seconds, as a whole.

    Of the flow it needs `named(objectives)`, the parts of a state that a file cannot hold, by name,
    `with_budget(state)`, and `budget`, if it has one.

    Attributes:
        path: `0.bez` for the first flow of a run, `1.bez` for the one that follows; None for a run
            that is kept nowhere.
        every: seconds between two files.
    """

    def __init__(self, path: Path | None = None, every: float = 0.0):
        self.path, self.every = path, every
        self._kept: int | None = None  # iterations of the state in the file
        self._due = 0.0 if path else float("inf")

    @property
    def is_due(self) -> bool:
        """Whether it is time for a new file."""
        return time.monotonic() >= self._due

    def restore(self, flow: Any, objectives: object, state: State) -> tuple[State, int, History]:
        """The state, the number of iterations and their history as the file has them; those before
        the first iteration where there is none."""
        if self.path is None or not self.path.exists():
            return state, 0, {}
        manifest, arrays = read_checked(self.path, STATE_KIND)
        if manifest["flow"] != kind_of(type(flow)):
            raise ValueError(
                f"{self.path} holds a {manifest['flow']}, but a {kind_of(type(flow))} is to go on:"
                " the problem is another one"
            )
        # The structure of a state, which may hold functions, comes from a fresh one; the file has
        # the leaves.
        leaves = Decoder(arrays, flow.named(objectives)).decode(manifest["state"])
        history = {
            name.removeprefix("history/"): array
            for name, array in arrays.items()
            if name.startswith("history/")
        }
        self._kept, self._due = manifest["iterations"], time.monotonic() + self.every
        state = jax.tree.unflatten(jax.tree.structure(state), leaves)
        if getattr(flow, "budget", None) != manifest["budget"]:
            # a run that ended because its budget was spent goes on
            state = flow.with_budget(state)
        return state, manifest["iterations"], history

    def keep(self, flow: Any, objectives: object, run: Any) -> None:
        """Writes the file with the `state`, `iterations` and `history` of a run, unless it has this
        state. The first one must succeed; a later one that fails is reported."""
        if self.path is None or self._kept == run.iterations:
            return
        encoder = Encoder(flow.named(objectives), "state/")
        manifest = {
            "kind": STATE_KIND,
            "flow": kind_of(type(flow)),
            "iterations": run.iterations,
            "budget": getattr(flow, "budget", None),
            "state": encoder.encode(jax.tree.leaves(run.state)),
        }
        history = {f"history/{name}": values for name, values in run.history.items()}
        try:
            write_checked(self.path, manifest, {**encoder.arrays, **history})
            self._kept = run.iterations
        except OSError as error:
            if self._kept is None:  # better said before the work than after it
                raise
            warn(
                f"{self.path} cannot be written ({error}): the run goes on without a checkpoint,"
                " until it can be"
            )
        for other in self.path.parent.glob("*.bez"):
            # the flows that follow began at another end of this one
            if other.stem.isdigit() and int(other.stem) > int(self.path.stem):
                other.unlink(missing_ok=True)
        self._due = time.monotonic() + self.every


class Checkpoint:
    """The folder of a run, while the run has its lock."""

    def __init__(self, journal: Journal, every: float):
        self.journal, self.folder, self.every = journal, journal.path.parent, every
        self._parts = 0

    def part(self) -> Part:
        """The file of the next flow."""
        self._parts += 1
        return Part(self.folder / f"{self._parts - 1}.bez", self.every)

    def check(
        self,
        x: Float[np.ndarray, "n n_variables"],
        values: Callable[[np.ndarray], Float[np.ndarray, "n n_objectives"]],
    ) -> None:
        """Compares objectives with those of the run: at x, or where the run began with them."""
        stored = [record for record in self.journal.records if record["kind"] == "values"]
        if not stored:
            # JSON has no infinity
            f = values(x).astype(str).tolist()
            self.journal.append({"kind": "values", "x": x.tolist(), "f": f})
            return
        known, before = np.array(stored[0]["x"]), np.array(stored[0]["f"]).astype(float)
        if known.shape[1] != x.shape[1]:
            raise ValueError(
                f"{self.folder} holds a run of {known.shape[1]} variables, the problem has"
                f" {x.shape[1]}"
            )
        # Values on another machine differ by rounding, relative to the largest of them.
        f, size = values(known), float(np.abs(before[np.isfinite(before)]).max(initial=0.0))
        if before.shape != f.shape or not np.allclose(
            before, f, SAME_VALUES, SAME_VALUES * size, equal_nan=True
        ):
            raise ValueError(
                f"the objectives are not those of the run in {self.folder}: at x ="
                f" {known[0].tolist()} they were {before[0].tolist()} and are {f[0].tolist()}. Give"
                " the same objectives, or another checkpoint folder"
            )

    def end(self, reason: str, paused: bool, save: Callable[[Path], None]) -> None:
        """Writes down how the run ended, and its surface."""
        self.journal.append({"kind": "paused" if paused else "ended", "reason": reason})
        try:
            save(self.folder / SOLUTION)
        # the surface of a run that was hardly begun may have no front
        except (OSError, ValueError) as error:
            warn(f"{self.folder / SOLUTION} could not be written: {error}")


@contextmanager
def open_checkpoint(
    folder: str | os.PathLike[str] | None, every: float, arguments: Mapping[str, object]
) -> Iterator[Checkpoint | None]:
    """The checkpoint of a run, or None where there is no folder. What the run was asked for is
    written down; where the folder has a run already, it must be the same one."""
    if folder is None:
        yield None
        return
    with open_journal(folder, "run") as journal:
        path, records = journal.path.parent, journal.records
        now = {"versions": versions(), "process": os.getpid()}
        ended = bool(records) and records[-1]["kind"] == "ended"
        grown = settle_arguments(path / ARGUMENTS, arguments, ended)
        if not records:
            journal.begin({"kind": "run", "format": 1, **now})
        else:
            compare_versions(path, records, now["versions"])
            journal.append({"kind": "resumed", **now, "changed": grown})
        yield Checkpoint(journal, every)


def say_how_to_go_on(folder: Path) -> None:
    """Prints how to resume a run that was ended and is kept."""
    sys.stderr.write(
        f"kept; to go on: bf.resume({str(folder)!r}), or: bezierflow resume {folder}\n"
    )


def versions() -> dict[str, str]:
    """What the result may depend on to its last bit."""
    return {name: version(name) for name in ("bezierflow", "jax", "jaxlib", "numpy", "scipy")} | {
        "machine": platform.machine()
    }


def compare_versions(folder: Path, records: list[Record], now: dict[str, str]) -> None:
    """Says which libraries have changed since a run was last worked on."""
    before = next((record["versions"] for record in reversed(records) if "versions" in record), now)
    other = [
        f"{name} {before.get(name)} (now {new})"
        for name, new in now.items()
        if before.get(name) != new
    ]
    if other:
        warn(
            f"the run in {folder} was made with {', '.join(other)}: the result may differ in its"
            " last digits"
        )
