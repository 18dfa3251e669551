"""A run that is kept in a folder: what it was asked for, and the state of each of its flows.

A run is a deterministic program: a flow, perhaps an error estimate and a survey, perhaps another
flow. The folder keeps the state of each flow, in the order in which they run, and the arguments of
`minimize`. To go on, the program runs again: a flow whose file is there starts at that state, which
is the last one where it had ended, and what lies between flows is computed once more.
"""

import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import numpy as np

from ..answer import Reason, Result
from ..flows import Part
from ..objectives import JaxEvaluator, Problem
from ..runs import Folder, Journal, Record, tell
from .arguments import settle_arguments

EVERY = 10.0
"""Seconds between two states of a flow in a file, where the user does not say."""

JOURNAL, ARGUMENTS, SOLUTION = "journal.jsonl", "run.bez", "solution.bez"

PROBES = 3
"""At so many points objectives are compared with those of the run."""

SAME_VALUES = 1e-8
"""Values of the same objectives on another machine differ by less, relative to their size."""


class Checkpoint:
    """The folder of a run, while the run has its lock."""

    def __init__(self, folder: Path, every: float):
        self.folder, self.every = folder, every
        self.journal = Journal(folder / JOURNAL)
        self._parts = 0

    def part(self) -> Part:
        """The file of the next flow."""
        self._parts += 1
        return Part(self.folder / f"{self._parts - 1}.bez", self.every)

    def begin(self, arguments: dict[str, object]) -> None:
        """Writes down what the run was asked for; where the folder has a run already, checks that
        it is the same one."""
        path, now = self.folder / ARGUMENTS, versions()
        if not self.journal.records:
            settle_arguments(path, arguments)
            self.journal.append(
                {"kind": "run", "format": 1, "versions": now, "process": os.getpid()}
            )
            self.journal.flush()  # a disk that is full is said now
            return
        if self.journal.records[0]["kind"] != "run":
            raise ValueError(
                f"{self.folder} holds a {self.journal.records[0]['kind']}, not a run; give another"
                " folder"
            )
        ended = self.ended
        grown = settle_arguments(path, arguments)
        if "max_degree" in grown and ended:
            raise ValueError(
                f"the run in {self.folder} has ended, and a larger max_degree changes nothing of"
                " it; start from its surface: minimize(objectives,"
                f" load({str(self.folder / SOLUTION)!r}).pareto_set,"
                f" max_degree={arguments['max_degree']})"
            )
        compare_versions(self.folder, self.journal.records, now)
        self.journal.append(
            {"kind": "resumed", "versions": now, "process": os.getpid(), "changed": grown}
        )

    @property
    def ended(self) -> bool:
        """Whether the run came to an end of its own."""
        return self.journal.records[-1]["kind"] == "ended"

    def check(self, problem: Problem) -> None:
        """Compares the objectives with those of the run, at a few points."""
        stored = [record for record in self.journal.records if record["kind"] == "values"]
        x = np.array(stored[0]["x"]) if stored else _probes(problem)
        if stored and x.shape[1] != problem.start.n_variables:
            raise ValueError(
                f"{self.folder} holds a run of {x.shape[1]} variables, the problem has"
                f" {problem.start.n_variables}"
            )
        f = JaxEvaluator(problem.flat, problem.start.n_objectives, x.shape[1]).values(x)
        if not stored:
            # JSON has no infinity
            self.journal.append({"kind": "values", "x": x.tolist(), "f": f.astype(str).tolist()})
            return
        before = np.array(stored[0]["f"]).astype(float)
        if before.shape != f.shape or not np.allclose(
            before, f, SAME_VALUES, SAME_VALUES * _size(before), equal_nan=True
        ):
            raise ValueError(
                f"the objectives are not those of the run in {self.folder}: at x = {x[0].tolist()}"
                f" they were {before[0].tolist()} and are {f[0].tolist()}. Give the same"
                " objectives, or another checkpoint folder"
            )

    def end(self, save: Callable[[Path], None], result: Result, paused: bool) -> None:
        """Writes down how the run ended, and its surface."""
        self.journal.append(
            {"kind": "paused" if paused else "ended", "reason": result.reason.value}
        )
        try:
            save(self.folder / SOLUTION)
        # the surface of a run that was hardly begun may have no front
        except (OSError, ValueError) as error:
            tell(f"{self.folder / SOLUTION} could not be written: {error}")
        if result.reason in (Reason.INTERRUPTED, Reason.STOPPED):
            sys.stderr.write(
                f"kept; to go on: bf.resume({str(self.folder)!r}), or: bezierflow resume"
                f" {self.folder}\n"
            )


@contextmanager
def open_checkpoint(
    folder: str | os.PathLike[str] | None, every: float | None, arguments: dict[str, object]
) -> Iterator[Checkpoint | None]:
    """The checkpoint of a run, or None where there is no folder."""
    if folder is None:
        if every is not None:
            raise ValueError(
                f"every={every!r} goes with a checkpoint folder; give checkpoint='run/' too"
            )
        yield None
        return
    every = EVERY if every is None else every
    if isinstance(every, bool) or not isinstance(every, int | float) or not every >= 0:
        raise ValueError(f"every must be a number of seconds of at least 0, got {every!r}")
    with Folder(folder) as owned:
        checkpoint = Checkpoint(owned.path, every)
        checkpoint.begin(arguments)
        yield checkpoint


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
        tell(
            f"the run in {folder} was made with {', '.join(other)}: the result may differ in its"
            " last digits"
        )


def _probes(problem: Problem) -> np.ndarray:
    """The start, and points near it that keep the bounds."""
    start = np.asarray(problem.start.control_points, dtype=float)[0]
    steps = np.random.default_rng(0).uniform(-0.1, 0.1, (PROBES, len(start))) * (1 + np.abs(start))
    x = start + np.concatenate([np.zeros((1, len(start))), steps])[:PROBES]
    return x if problem.feasible is None else np.asarray(problem.feasible.clip(x))


def _size(values: np.ndarray) -> float:
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
