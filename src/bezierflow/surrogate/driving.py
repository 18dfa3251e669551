"""The loop of a `Surrogate`: a search, driven by an engine, kept in a folder where the user wants
that."""

import hashlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..answer import Reason
from ..evaluations import Evaluations
from ..flows import Iteration, progress_bar
from ..interrupts import orderly_interrupts
from ..metrics import hypervolume
from ..names import Names
from ..runs import (
    Arrival,
    LoggedSearch,
    Outcome,
    Plan,
    Pool,
    open_search,
    read_journal,
    run_study,
    tell,
)
from ..solve import ARGUMENTS, JOURNAL, Call, compare_versions, settle_arguments, versions
from .search import Search


class Told(NamedTuple):
    """What the user begins with: designs with known values, and designs to evaluate first."""

    known: tuple[np.ndarray, ...]
    values: tuple[np.ndarray, ...]
    first: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class SearchMaker:
    """Searches for a number of objectives, which nobody knows before the first evaluation unless
    the problem says so.

    Evenly spread points, the first ones, do not depend on it.

    Attributes:
        sides: lower and upper bounds.
        settings: of the search.
        named: names, maximize and transforms.
        n_objectives: None where it is not known.
    """

    sides: tuple[np.ndarray, np.ndarray]
    settings: dict[str, Any]
    named: dict[str, Any]
    n_objectives: int | None

    def __call__(self) -> Search:
        """The search, or one that serves until the first values are there."""
        if self.n_objectives is not None:
            return Search(self.sides, self.n_objectives, **self.settings, **self.named)
        names, settings = self.named["names"], {**self.settings, "worst": None}
        variables = (
            None if names is None else Names(variables=names.variables, transforms=names.transforms)
        )
        return Search(
            self.sides, 2, **settings, names=variables, transforms=self.named["transforms"]
        )

    def for_folder(self, folder: Path) -> "SearchMaker":
        """The same for the number of objectives that a study knows already."""
        changes = [
            record["settings"]
            for record in read_journal(folder / JOURNAL)
            if record["kind"] == "changed"
        ]
        known = [change["n_objectives"] for change in changes if "n_objectives" in change]
        return replace(self, n_objectives=known[-1]) if known else self


class _StoppedError(Exception):
    """The user's callback or their time limit has stopped the search; its argument says which."""


def drive_search(
    task: Call, make: SearchMaker, told: Told, pool: Pool, plan: Plan
) -> tuple[Search, Reason | None, list[Arrival]]:
    """Batches until the budget is spent, the search is done, or somebody stops it: the search, who
    stopped it, what failed."""
    folder = None if task.checkpoint is None else Path(task.checkpoint.folder)
    now, code = versions(), _code(task.objectives)
    make = make if folder is None else make.for_folder(folder)
    prepare = partial(_prepare, task.kept, now, code)
    with (
        orderly_interrupts(),
        open_search(
            folder, make(), Search.restore, {"versions": now, "code": code}, prepare
        ) as study,
    ):
        _tell_known(study, told)
        stopped = None
        with progress_bar(task.progress, task.budget, "search") as update:
            watch = partial(_watch, task, update)
            try:
                looks = partial(_settle, make), watch, _is_done
                stopped = Reason.INTERRUPTED if run_study(study, pool, plan, *looks) else None
            except _StoppedError as error:
                stopped = error.args[0]
        if stopped is not None and folder is not None:
            sys.stderr.write(
                f"kept; to go on: bf.resume({str(folder)!r}), or: bezierflow resume {folder}\n"
            )
        if len(study.failures) == len(study.arrived):
            raise KeyboardInterrupt
        assert isinstance(study.search, Search)
        return study.search, stopped, study.failures


def _prepare(
    arguments: dict[str, object], now: dict[str, str], code: str | None, folder: Path
) -> None:
    settle_arguments(folder / ARGUMENTS, arguments)
    records = read_journal(folder / JOURNAL)
    compare_versions(folder, records, now)
    before = records[0].get("code") if records else None
    if before and code and before != code:
        known = sum(record["kind"] == "told" for record in records)
        tell(
            f"the code of the objectives has changed since the study in {folder} began, and its"
            f" {known} evaluations are kept as they are: give another folder if they are values of"
            " another function"
        )


def _code(objectives: object) -> str | None:
    """A short hash of a function's source, which tells whether it was edited; None where the source
    is not known.

    A run computes some values again to tell one function from another. Those of a study may take an
    hour each.
    """
    if not callable(objectives):
        return None
    try:
        source = inspect.getsource(inspect.unwrap(objectives))
    except (TypeError, OSError):
        return None
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def _tell_known(study: LoggedSearch, told: Told) -> None:
    """Values that the user has, once."""
    if not study.arrived:
        for x, y in zip(told.known, told.values, strict=True):
            study.tell(
                study.arrive(
                    None,
                    x,
                    Outcome(tuple(y.tolist()) if np.isfinite(y).all() else None, "given as failed"),
                )
            )


def _settle(make: SearchMaker, study: LoggedSearch, place: int) -> None:
    """Takes the number of objectives from the first values, which may come after evaluations that
    failed."""
    y, only_failures = (
        study.arrived[place].y,
        all(study.arrived[i].outcome.failed for i in study.told),
    )
    if make.n_objectives is None and only_failures and y is not None:
        study.respecify(Search.restore, replace(make, n_objectives=len(y))().settings)


def _is_done(study: LoggedSearch) -> bool:
    """Whether the search needs no more designs, looked at between batches."""
    assert isinstance(study.search, Search)
    return study.search.done


def _watch(task: Call, update: Callable[[int, str], None], study: LoggedSearch) -> None:
    """Shows the progress, and calls the user's callback after each batch."""
    search, n = study.search, len(study.told)
    assert isinstance(search, Search)
    if n >= search.batch and len(study.failures) == n:
        first = study.failures[0]
        raise ValueError(
            f"objectives failed at all of the first {n} designs, at {first.x.tolist()}:"
            f" {first.outcome.failure}"
        )
    last = search.held_out.rounds[-1:]
    info = {"error": last[0].error, "uncertainty": last[0].uncertainty} if last else {}
    if task.progress:
        shown = {**info, "hypervolume": _volume(study)}
        failed = f", {len(study.failures)} failed" if study.failures else ""
        update(n, ", ".join(f"{name} {value:.3g}" for name, value in shown.items()) + failed)
    now = Iteration(n // search.batch, None, Evaluations(len(study.arrived), 0, 0), info)
    if task.callback is not None and n % search.batch == 0 and task.callback(now):
        raise _StoppedError(Reason.STOPPED)
    if task.late:
        raise _StoppedError(Reason.TIME_LIMIT)


def _volume(study: LoggedSearch) -> float:
    """The hypervolume of the evaluations, as a share of the box from the best to the worst values
    seen."""
    assert isinstance(study.search, Search)
    rows = [one.y for one in study.arrived if one.y is not None]
    if len(rows) < 2:
        return 0.0
    f = study.search.domain.names.signs * np.array(rows)
    low, high = f.min(axis=0), f.max(axis=0)
    return float(
        hypervolume((f - low) / np.where(high > low, high - low, 1.0), np.ones(f.shape[1]))
    )
