"""The folder of a run or a study: `resume` goes on with it, `Study` evaluates for it by hand."""

import inspect
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .answer import Solution
from .explorer import explore
from .flows import Callback
from .names import Names
from .runs import Arrival, LoggedSearch, Outcome, Record, kept_settings, open_search, read_journal
from .solve import (
    ARGUMENTS,
    JOURNAL,
    MISSING,
    SOLUTION,
    Checkpoint,
    load,
    minimize,
    read_arguments,
    versions,
    with_limits,
)
from .surrogate import Search

if TYPE_CHECKING:
    import pandas


def resume(
    folder: str | PathLike[str],
    objectives: object = None,
    *,
    callback: Callback | None = None,
    progress: bool = False,
    every: float = 10.0,
    time_limit: float | None = None,
    **given: Any,
) -> Solution:
    """Goes on with a run from its checkpoint folder, to the result of a run that was never
    interrupted, bit for bit.

    Args:
        folder: what `minimize` was given as `checkpoint`.
        objectives: the same as then; built-in problems and functions of a file (which is run to
            load them) may be left out.
        callback: as in `minimize`.
        progress: likewise.
        every: seconds between two states in the folder, as in `Checkpoint`.
        time_limit: as in `minimize`.
        **given: arguments of `minimize`: those that a folder cannot hold, such as functions, once
            more; `budget`, and `n_iterations` and `max_degree` of its method, larger than they
            were; the `executor` of a `Surrogate`.
    """
    path = Path(folder)
    _check_folder(path)
    known = {*inspect.signature(minimize).parameters, "n_iterations", "max_degree", "executor"}
    unknown = given.keys() - known
    if unknown:
        raise TypeError(f"resume takes arguments of minimize, not {', '.join(sorted(unknown))}")
    kept = read_arguments(path / ARGUMENTS)
    if objectives is not None:
        given["objectives"] = objectives
    arguments = {
        name: given[name] if name in given else kept.value(name) for name in kept.documents
    }
    missing = sorted(
        (name for name, value in arguments.items() if value is MISSING),
        key=lambda name: name != "objectives",
    )
    if missing:
        call = ", ".join(
            [repr(str(folder))]
            + [name if name == "objectives" else f"{name}=..." for name in missing]
        )
        words = "; ".join(
            f"{name} was {' '.join(kept.documents[name]['words'].split())}" for name in missing
        )
        raise ValueError(
            f"{path} cannot hold {', '.join(missing)} ({words}); give it again: bf.resume({call})"
        )
    return minimize(
        **with_limits({**arguments, "executor": given.get("executor")}),
        callback=callback,
        progress=progress,
        time_limit=time_limit,
        checkpoint=Checkpoint(folder, every),
    )


def _check_folder(path: Path) -> None:
    """An error if a folder holds nothing that goes on by itself."""
    records = read_journal(path / JOURNAL)
    if not records:
        raise FileNotFoundError(
            f"{path} holds no run: it has no {JOURNAL}; it was to be the checkpoint of a call of"
            " minimize"
        )
    if records[0]["kind"] == "study" and not (path / ARGUMENTS).exists():
        raise ValueError(
            f"the study in {path} was begun by hand and calls no objectives: evaluate what"
            f" bf.Study({str(path)!r}).ask(4), or `bezierflow ask {path}`, gives, and tell the"
            f" values; its surface is bf.Study({str(path)!r}).solution"
        )


class Study:
    """The folder that `minimize(..., checkpoint=folder)` or `bezierflow ask` has made. Looking at
    it disturbs nobody.

    `study.solution` is the surface of what is known by now, `study.to_pandas()` every evaluation of
    a study. With `ask` and `tell` evaluations are made by hand, by a queue, or by another program.

    Args:
        folder: its path.
    """

    def __init__(self, folder: str | PathLike[str]):
        self.folder = Path(folder)
        if not read_journal(self.folder / JOURNAL):
            raise FileNotFoundError(f"{self.folder} holds no run and no study: it has no {JOURNAL}")

    @classmethod
    def begin(
        cls, folder: str | PathLike[str], bounds: object, n_objectives: int, **settings: Any
    ) -> "Study":
        """A new study in a folder, with the settings of a `Search`; the one that is there, if it
        has the same settings."""
        with open_search(
            folder,
            Search(bounds, n_objectives, **settings),
            Search.restore,
            {"versions": versions()},
        ):
            return cls(folder)

    @property
    def is_run(self) -> bool:
        """Whether the folder is that of a flow, which keeps states, and not of a search, which
        keeps evaluations."""
        return self._records[0]["kind"] == "run"

    @property
    def names(self) -> Names:
        """Names of objectives and variables."""
        return (
            self.solution.names
            if self.is_run
            else Names.from_dict(kept_settings(self._records)["names"])
        )

    @property
    def solution(self) -> Solution:
        """The surface from what is known by now. That of a run has the objectives where the folder
        can name them."""
        if not self.is_run:
            return self._search().search.solution()  # type: ignore[attr-defined]
        path, arguments = self.folder / SOLUTION, read_arguments(self.folder / ARGUMENTS)
        if not path.exists():
            raise FileNotFoundError(
                f"the run in {self.folder} was ended before it had a surface; bf.resume goes on"
                " with it"
            )
        objectives = arguments.value("objectives")
        found = load(path, None if objectives is MISSING else objectives)
        assert isinstance(found, Solution)
        return found

    def explore(self, path: str | PathLike[str], *, title: str = "") -> Path:
        """Writes the interactive page of the solution."""
        return explore(self.solution, path, title=title or self.folder.name)

    @property
    def evaluations(self) -> list[Arrival]:
        """Every evaluation of a study, in the order in which they arrived."""
        return self._search().arrived

    def to_pandas(self) -> "pandas.DataFrame":
        """Every evaluation: number, design, values (none where it failed), why it failed, seconds,
        whether it is nondominated."""
        import pandas

        names, rows = self.names, self.evaluations
        good = np.array([not one.outcome.failed for one in rows], dtype=bool)
        table: dict[str, object] = {"number": [one.number for one in rows]}
        table |= dict(
            zip(
                names.variables, np.reshape([one.x for one in rows], (len(rows), -1)).T, strict=True
            )
        )
        y = np.full((len(rows), len(names.objectives)), np.nan)
        y[good] = np.reshape([one.y for one in rows if one.y is not None], (-1, y.shape[1]))
        table |= dict(zip(names.objectives, y.T, strict=True))
        table |= {
            "failure": [one.outcome.failure for one in rows],
            "seconds": [one.outcome.seconds for one in rows],
        }
        return pandas.DataFrame({**table, "nondominated": nondominated(names.signs * y)})

    def ask(self, n: int = 1) -> list[tuple[int, np.ndarray]]:
        """The next n designs to evaluate, with their numbers; whatever has arrived is taken into
        account."""
        with open_search(self.folder, None, Search.restore) as logged:
            for place in logged.waiting:
                logged.tell(place)
            return logged.ask(n)

    def tell(
        self, results: Mapping[int, ArrayLike | None] | Sequence[tuple[ArrayLike, ArrayLike | None]]
    ) -> int:
        """Writes down values: by the numbers of the designs, or as pairs of a design and its
        values; None for a failure.

        Returns how many were new. A number that is known already is left as it is, so that a table
        can be told as it grows.
        """
        with open_search(self.folder, None, Search.restore) as logged:
            known = {one.number for one in logged.arrived}
            pairs = results.items() if isinstance(results, Mapping) else results
            new = [
                self._read(logged, key, y)
                for key, y in pairs
                if not (isinstance(results, Mapping) and key in known)
            ]
            for number, x, outcome in new:
                logged.arrive(number, x, outcome)
            return len(new)

    def _read(
        self, logged: LoggedSearch, key: Any, y: ArrayLike | None
    ) -> tuple[int | None, np.ndarray, Outcome]:
        """One result, checked before anything is written."""
        M = len(self.names.objectives)
        values = None if y is None else np.array(y, dtype=float).ravel()
        if values is not None and len(values) != M:
            raise ValueError(f"a design must be told with {M} values, got {values.tolist()}")
        if values is None or not np.isfinite(values).all():
            outcome = Outcome(
                None, "told as failed" if values is None else f"told as {values.tolist()}"
            )
        else:
            outcome = Outcome(tuple(values.tolist()))
        if np.ndim(key) == 1:
            return None, _within(logged.search.settings, np.array(key, dtype=float)), outcome
        pending = logged.search.pending
        if key not in pending:
            raise ValueError(
                f"number {key!r} was never asked for; pending are {sorted(pending) or 'none'}"
            )
        return int(key), pending[key], outcome

    @property
    def _records(self) -> list[Record]:
        return read_journal(self.folder / JOURNAL)

    def _search(self) -> LoggedSearch:
        """The search, told everything that has arrived; nothing is written."""
        if self.is_run:
            raise ValueError(
                f"{self.folder} holds a run of a flow, which keeps states and no evaluations"
            )
        logged = LoggedSearch.of(Search.restore, self._records)
        for place in logged.waiting:
            logged.tell(place)
        return logged


def _within(settings: Record, x: np.ndarray) -> np.ndarray:
    lower, upper = np.array(settings["lower"]), np.array(settings["upper"])
    if x.shape != lower.shape or not ((lower <= x) & (x <= upper)).all():
        raise ValueError(
            f"a design must have {len(lower)} numbers within the bounds of the study, got"
            f" {x.tolist()}"
        )
    return x


def nondominated(f: np.ndarray) -> np.ndarray:
    """Which rows no other one dominates; rows that are not finite are not among them."""
    good = np.isfinite(f).all(axis=1)
    beaten = [bool(((f[good] <= row).all(axis=1) & (f[good] < row).any(axis=1)).any()) for row in f]
    return good & ~np.array(beaten, dtype=bool)
