"""The loop of a `Surrogate`: a search, driven by an engine, kept in a folder where the user wants
that."""

import hashlib
import inspect
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from jaxtyping import PyTree

from ..answer import Reason
from ..bezier import Raveling
from ..evaluations import Evaluations
from ..flows import Iteration, progress_bar
from ..interrupts import orderly_interrupts
from ..metrics import hypervolume
from ..names import Names
from ..objectives import Objectives
from ..runs import (
    ARGUMENTS,
    JOURNAL,
    Evaluation,
    FlatFunction,
    LoggedSearch,
    Plan,
    Pool,
    compare_versions,
    kept_settings,
    open_search,
    read_journal,
    run_study,
    say_how_to_go_on,
    settle_arguments,
    versions,
    warn,
)
from ..solve import Call, Checkpoint, kept_arguments
from .search import Search


def as_flat(objectives: object, raveling: Raveling) -> FlatFunction:
    """Expensive objectives as a function of flat designs: called once for each, and never to see
    what they are like.

    They are functions of x in the user's form, in JAX, NumPy or plain Python, one for all
    objectives or a list with one per objective.
    """
    function: PyTree = objectives.function if isinstance(objectives, Objectives) else objectives
    is_list = isinstance(function, list | tuple)
    parts = tuple(function) if is_list else (function,)
    if not parts or not all(callable(part) for part in parts):
        raise TypeError(
            f"objectives must be a function, or a list of functions, got {objectives!r}"
        )
    vectorized = isinstance(objectives, Objectives) and objectives.vectorized
    return FlatFunction(
        parts, is_list, vectorized, None if raveling.is_vector else raveling.unravel
    )


def new_search(
    sides: tuple[np.ndarray, np.ndarray],
    settings: dict[str, Any],
    named: dict[str, Any],
    n_objectives: int | None,
) -> Search:
    """A search; where nobody knows the number of objectives before the first evaluation, one that
    serves until then: evenly spread points, the first ones, do not depend on it. `named` are names,
    maximize and transforms.
    """
    if n_objectives is not None:
        return Search(sides, n_objectives, **settings, **named)
    names, settings = named["names"], {**settings, "worst": None}
    if names is not None:
        names = Names(variables=names.variables, transforms=names.transforms)
    return Search(sides, 2, **settings, names=names, transforms=named["transforms"])


def drive_search(
    task: Call,
    make: Callable[[int | None], Search],
    n_objectives: int | None,
    known: Sequence[tuple[np.ndarray, np.ndarray]],
    pool: Pool,
    plan: Plan,
) -> tuple[Search, Reason | None, list[Evaluation]]:
    """Batches until the budget is spent, the search is done, or somebody stops it: the search, who
    stopped it, what failed.

    `make` makes a search of a number of objectives, None where it is not known; `known` are designs
    with values that the user has.
    """
    folder = None if task.checkpoint is None else Path(cast(Checkpoint, task.checkpoint).folder)
    about = {"versions": versions(), "code": _code(task.objectives)}
    if folder is not None:  # a study that goes on may know how many objectives there are
        records = [one for one in read_journal(folder / JOURNAL) if one["kind"] == "changed"]
        n_objectives = kept_settings(records).get("n_objectives", n_objectives)
    prepare = partial(_prepare, task.kept, about)
    with (
        orderly_interrupts(),
        open_search(folder, make(n_objectives), Search.restore, about, prepare) as log,
    ):
        # known values are written down once: a study that goes on has them in its journal
        for x, y in known if not log.evaluations else ():
            failure = "" if np.isfinite(y).all() else "given as failed"
            log.tell(*log.arrive(Evaluation(None, x, y, failure)))
        with progress_bar(task.progress, task.budget, "search") as update:
            settle = partial(_settle, make, n_objectives)
            ended = run_study(log, pool, plan, settle, partial(_watch, task, update))
        if ended is not None and folder is not None:
            say_how_to_go_on(folder)
        if len(log.failures) == len(log.evaluations):  # interrupted before there was anything
            raise KeyboardInterrupt
        # a study that was stopped after its time was up was stopped by that
        stopped = Reason.TIME_LIMIT if task.late else Reason.STOPPED
        reasons = {None: None, "interrupted": Reason.INTERRUPTED, "stopped": stopped}
        return log.search, reasons[ended], log.failures


def _prepare(arguments: dict[str, object], about: dict[str, Any], folder: Path) -> None:
    """Compares what was given with what the folder holds."""
    settle_arguments(folder / ARGUMENTS, kept_arguments(arguments))
    records = read_journal(folder / JOURNAL)
    compare_versions(folder, records, about["versions"])
    before = records[0].get("code") if records else None
    if before and about["code"] and before != about["code"]:
        known = sum(record["kind"] == "told" for record in records)
        warn(
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


def _settle(
    make: Callable[[int | None], Search], n_objectives: int | None, log: LoggedSearch, place: int
) -> None:
    """Takes the number of objectives, if it is not known, from the first values, which may come
    after evaluations that failed."""
    one, first = log.evaluations[place], all(log.evaluations[i].failed for i in log.told)
    if n_objectives is None and first and one.y is not None and not one.failed:
        log.respecify(Search.restore, make(len(one.y)).settings)


def _watch(task: Call, update: Callable[[int, str], None], log: LoggedSearch) -> bool:
    """Shows the progress, and calls the user's callback after each batch; whether it stops the
    search."""
    search, n, failures = log.search, len(log.told), log.failures
    if n >= search.batch and len(failures) == n:
        raise ValueError(
            f"objectives failed at all of the first {n} designs, at {failures[0].x.tolist()}:"
            f" {failures[0].failure}"
        )
    last = search.held_out.rounds[-1:]
    info = {"error": last[0].error, "uncertainty": last[0].uncertainty} if last else {}
    if task.progress:
        shown = {**info, "hypervolume": _volume(log)}
        failed = f", {len(failures)} failed" if failures else ""
        update(n, ", ".join(f"{name} {value:.3g}" for name, value in shown.items()) + failed)
    now = Iteration(n // search.batch, None, Evaluations(len(log.evaluations), 0, 0), info)
    asked = task.callback is not None and n % search.batch == 0 and bool(task.callback(now))
    return asked or task.late


def _volume(log: LoggedSearch) -> float:
    """The hypervolume of the evaluations, as a share of the box from the best to the worst values
    seen."""
    rows = [one.y for one in log.evaluations if not one.failed]
    if len(rows) < 2:
        return 0.0
    f = log.search.domain.names.signs * np.array(rows)
    low, high = f.min(axis=0), f.max(axis=0)
    return float(
        hypervolume((f - low) / np.where(high > low, high - low, 1.0), np.ones(f.shape[1]))
    )
