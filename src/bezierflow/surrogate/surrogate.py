"""`Surrogate`: the method of `minimize` for objectives that are expensive to evaluate.

A search, driven by an engine, kept in a folder where the user wants that.
"""

import hashlib
import inspect
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from jaxtyping import Float, PyTree

from ..answer import Reason, Solution
from ..arguments import read_count
from ..bezier import Raveling
from ..evaluations import Evaluations
from ..flows import Iteration, progress_bar
from ..interrupts import orderly_interrupts
from ..kinds import kind
from ..metrics import hypervolume
from ..names import Names
from ..objectives import Chosen, Objectives, Space, own, raveling_of_bounds, read_bounds, read_space
from ..problem import Problem
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
from .domain import Steps, Worst, read_worst
from .feasibility import read_limits
from .schedule import SCHEDULE
from .search import Search


def as_flat(objectives: object, raveling: Raveling, space: Space | None = None) -> FlatFunction:
    """Expensive objectives as a function of flat designs: called once for each, and never to see
    what they are like.

    They are functions of x in the user's form, in JAX, NumPy or plain Python, one for all
    objectives or a list with one per objective. `space` has the texts and whole numbers of x.
    """
    if isinstance(objectives, Problem) and isinstance(objectives.function, Objectives):
        objectives = objectives.function  # whose form says how it is called
    function: PyTree = objectives.function if isinstance(objectives, Objectives) else objectives
    is_list = isinstance(function, list | tuple)
    parts = tuple(function) if is_list else (function,)
    if not parts or not all(callable(part) for part in parts):
        raise TypeError(
            f"objectives must be a function, or a list of functions, got {objectives!r}"
        )
    vectorized = isinstance(objectives, Objectives) and objectives.vectorized
    form = None if raveling.is_vector else raveling.unravel
    if space is not None and space.named:
        form = space.design
    return FlatFunction(parts, is_list, vectorized, form)


def new_search(
    sides: tuple[np.ndarray, np.ndarray],
    settings: dict[str, Any],
    named: dict[str, Any],
    n_objectives: int | None,
) -> Search:
    """A search; where the number of objectives is not known before the first evaluation, one that
    serves until then: evenly spread points, the first ones, do not depend on it. `named` are names,
    maximize and transforms.
    """
    if n_objectives is not None:
        return Search(sides, n_objectives, **settings, **named)
    names, settings = named["names"], {**settings, "worst": None, "nonnegative": None}
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
    """Batches until the budget is spent, the search is done, or it is stopped: the search, the
    reason why it was stopped, and failed evaluations.

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
        with progress_bar(task.progress, task.budget, "evaluations", task.began) as update:
            settle = partial(_settle, make, n_objectives)
            ended = run_study(log, pool, plan, settle, partial(_watch, task, update))
        if ended is not None and folder is not None:
            say_how_to_go_on(folder)
        if len(log.failures) == len(log.current):  # interrupted before there was anything
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
        n = len(one.y) - log.search.n_constraints
        log.respecify(Search.restore, make(n).settings)


def _watch(task: Call, update: Callable[..., None], log: LoggedSearch) -> bool:
    """Shows the progress, and calls the user's callback after each batch; whether it stops the
    search."""
    search, n, failures = log.search, len(log.told), log.failures
    if n >= search.batch and len(failures) == n:
        raise ValueError(
            f"objectives failed at all of the first {n} designs, at"
            f" {search.domain.shown(failures[0].x)}: {failures[0].failure}"
        )
    last = search.held_out.rounds[-1:]
    info = {"error": last[0].error, "uncertainty": last[0].uncertainty} if last else {}
    if task.progress is not False:
        shown = {**info, "hypervolume": _volume(log)}
        failed = f", {len(failures)} failed" if failures else ""
        update(n, ", ".join(f"{name} {value:.3g}" for name, value in shown.items()) + failed)
    now = Iteration(n // search.batch, None, Evaluations(len(log.evaluations), 0, 0), info)
    asked = task.callback is not None and n % search.batch == 0 and bool(task.callback(now))
    return asked or task.late


def _volume(log: LoggedSearch) -> float:
    """The hypervolume of the evaluations, as a share of the box from the best to the worst values
    seen."""
    rows = [one.y for one in log.current if not one.failed]
    if len(rows) < 2:
        return 0.0
    signs = log.search.domain.names.signs
    f = signs * np.array(rows)[:, : len(signs)]
    low, high = f.min(axis=0), f.max(axis=0)
    return float(
        hypervolume((f - low) / np.where(high > low, high - low, 1.0), np.ones(f.shape[1]))
    )


@kind("surrogate/1")
@dataclass(frozen=True)
class Surrogate:
    """A surface from some dozens of evaluations, without gradients, perhaps with noise; choose it
    where one takes long.

    `bf.minimize(f, x0, bf.Surrogate(), bounds=(lower, upper), budget=80)`: f is evaluated at most
    `budget` times, within finite bounds. The surface is the Pareto set of Gaussian processes fitted
    to the evaluations, and `solution.error` is how far their predictions were off before they saw
    the values. Of the arguments of `minimize`, x0 is None, one design, an array of designs to
    evaluate first, or a pair `(X, F)` (also `solution.evaluated`) of designs with known values,
    which do not count towards the budget; `tol` is the error in units of the objectives' ranges at
    which the search ends early.

    Attributes:
        batch: how many designs are chosen at a time.
        noise: "auto", "none" or "some": whether the same design may have other values next time.
        timeout: seconds after which an evaluation counts as failed; None for any time.
        retries: how often an evaluation that failed (it raised, was not finite, took too long, its
            worker died) is tried again; by default it is not. A design that failed counts towards
            the budget, and the search keeps away from where others are expected to fail.
        in_flight: how many designs are evaluated at once at most; by default batch after batch.
        worst: the worst values that are of use, {"cost": 100.0} or one per objective with None for
            any: the search looks for designs expected within them, and the surface ends there.
        n_constraints: how many of the last values that the objectives return are constraints, at
            most 0 where a design keeps them. `constraints` of `minimize` are evaluated with each
            design likewise. Designs that are likely to keep them are evaluated, and the surface
            ends where they are expected to be 0.
        steps: in which variables can be set, {"temperature": 5.0}: designs have multiples of these
            within the bounds. The surface has any values between.
        nonnegative: objectives that cannot be negative, as a mass or a time cannot: names, numbers,
            or True for all. They are predicted to be 0 at least.
    """

    batch: int = 4
    noise: str = "auto"
    timeout: float | None = None
    retries: int = 0
    in_flight: int | None = None
    worst: Worst = None
    n_constraints: int = 0
    steps: Steps = None
    nonnegative: Chosen = None

    def search(self, task: Call) -> Solution:
        """What `minimize` calls."""
        if task.budget is None:
            raise ValueError(
                "budget must be given with a Surrogate: the most evaluations that it may make"
            )
        began, problem = time.perf_counter(), task.objectives
        bounds = own(problem, "bounds") if task.bounds is None else task.bounds
        x0 = task.x0.evaluated if isinstance(task.x0, Solution) else task.x0
        names, space, raveling, sides = _form(problem, task.variables, bounds, x0)
        first, known, values = _first_designs(x0, raveling, sides, space)
        named = {
            "names": names,
            "maximize": own(problem, "maximize") if task.maximize is None else task.maximize,
            "transforms": (
                own(problem, "transforms") if task.transforms is None else task.transforms
            ),
        }
        limits = read_limits(task.constraints)
        n_constraints = read_count(self.n_constraints, "n_constraints")
        n_constraints += sum(one.n_rows for one in limits)
        settings = {
            "seed": task.seed,
            "budget": task.budget,
            "noise": self.noise,
            "batch": self.batch,
            "worst": self.worst,
            "steps": self.steps,
            "nonnegative": self.nonnegative,
            "tol": SCHEDULE.tol if task.tol is None else task.tol,
            "values": None if space is None else space.values,
            "n_constraints": n_constraints or None,
        }
        # Objectives are not called to count them: each call may take an hour.
        n_objectives = self._n_objectives(problem, names)
        n_objectives = len(values[0]) - n_constraints if len(values) else n_objectives
        make = partial(new_search, sides, settings, named)
        function = replace(as_flat(problem, raveling, space), constraints=limits)
        pool = Pool(function, task.executor, self.timeout, self.retries)
        plan = Plan(task.budget, self.batch, self.in_flight, tuple(first[: task.budget]))
        pairs = list(zip(known, values, strict=True))
        search, stopped, failures = drive_search(task, make, n_objectives, pairs, pool, plan)
        solution = search.solution(raveling)
        seconds = time.perf_counter() - began
        solution = replace(solution, stats=replace(solution.stats, seconds=seconds))
        return _explained(solution, search, stopped, task, failures)

    def _n_objectives(self, problem: object, names: Names | None) -> int | None:
        """How many objectives there are, as the problem, its names or `worst` say; None where
        nobody does. An error if `worst` cannot be right for any number of them."""
        declared = own(problem, "n_objectives") or (names and names.n_objectives)
        if declared:
            return declared
        # Names of objectives are f1, f2, … then: a wrong one is said before anything is evaluated.
        for key in read_worst(self.worst):
            if isinstance(key, str) and not re.fullmatch(r"f[1-9]\d*", key):
                raise ValueError(
                    f"worst: {key!r} is no objective; they are f1, f2, … where no names are given"
                )
        return None if self.worst is None or isinstance(self.worst, Mapping) else len(self.worst)


def _form(
    problem: object, variables: object, bounds: object, x0: object
) -> tuple[Names | None, Space | None, Raveling, tuple[np.ndarray, np.ndarray]]:
    """The names of the problem; its variables where some of them are not continuous; the form of x,
    from the bounds, else from a design; and the bounds."""
    names = own(problem, "names")
    names = names if isinstance(names, Names) else None
    if variables is not None:
        space = read_space(variables, bounds, None, (names or Names()).variables)
        names = replace(names or Names(), variables=space.names)
        return names, space, space.raveling, (np.array(space.lower), np.array(space.upper))
    n_variables = own(problem, "n_variables")
    raveling = None if bounds is None else raveling_of_bounds(bounds, n_variables)
    if raveling is None and bounds is not None and x0 is not None and not isinstance(x0, tuple):
        raveling = Raveling.of(x0)
    if raveling is None:
        raise ValueError(
            f"bounds must be given with a Surrogate, finite ones for each variable, got {bounds!r}"
        )
    box = read_bounds(bounds, raveling)
    return names, None, raveling, (box.lower, box.upper)


def _first_designs(
    x0: object,
    raveling: Raveling,
    sides: tuple[np.ndarray, np.ndarray],
    space: Space | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Designs to evaluate first, designs with known values, and these values."""
    none = np.zeros((0, raveling.n_variables))
    if x0 is None:
        return none, none, none
    if not isinstance(x0, tuple):
        return np.clip(_rows(x0, raveling, space), *sides), none, none
    known, values = _rows(x0[0], raveling, space), np.asarray(x0[1], dtype=float)
    if values.ndim != 2 or len(values) != len(known):
        raise ValueError(
            f"x0 must hold a row of values for each of {len(known)} designs, got shape"
            f" {values.shape}"
        )
    return none, known, values


def _rows(
    x: PyTree, raveling: Raveling, space: Space | None = None
) -> Float[np.ndarray, "n n_variables"]:
    """One design, or several with an axis in front, as rows; by name, a list of several."""
    if space is not None and space.named and (isinstance(x, list) or space.has_texts(x)):
        rows = np.array([space.flat(one) for one in (x if isinstance(x, list) else [x])])
    elif raveling.is_vector:
        rows = np.atleast_2d(np.asarray(x, dtype=float))
    else:
        # designs of any form: several have an axis more than the bounds
        several = Raveling.of(x).shapes != raveling.shapes
        rows = np.atleast_2d(np.asarray(raveling.ravel(x, batch_axes=int(several)), dtype=float))
    if rows.ndim != 2 or rows.shape[1] != raveling.n_variables:
        raise ValueError(
            f"x0 must have {raveling.n_variables} numbers for each design, got shape {rows.shape}"
        )
    return rows


def _explained(
    solution: Solution,
    search: Search,
    stopped: Reason | None,
    task: Call,
    failures: list[Evaluation],
) -> Solution:
    """The solution with the reason why no more evaluations were made, and with those that
    failed."""
    result, made_by = solution.result, solution.made_by
    if not result.doubtful:
        if stopped is not None:
            late = stopped is Reason.TIME_LIMIT
            what = "the time limit was reached" if late else "stopped"
            reason, why = stopped, f"{what} before the budget was spent"
        elif search.done:
            reason, why = Reason.CONVERGED, f"within tol={search.tol:g} for three batches"
        else:
            reason = Reason.COMPLETED if task.tol is None else Reason.NOT_AT_TOLERANCE
            why = "the budget was spent"
        result = replace(result, reason=reason, claim=why)
    if failures:
        result = result.noted(
            f"{len(failures)} evaluations failed and were left out, the first at x ="
            f" {search.domain.shown(failures[0].x)}: {failures[0].failure}"
        )
        failed = [{"x": one.x.tolist(), "failure": one.failure} for one in failures]
        made_by = {**made_by, "failed": failed}
    return replace(solution, result=result, made_by=made_by)
