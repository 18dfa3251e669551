"""`Surrogate`: the method of `minimize` for objectives that are expensive to evaluate."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float, PyTree

from ..answer import Reason, Result, Solution
from ..bezier import Raveling
from ..kinds import kind
from ..names import Names
from ..objectives import raveling_of_bounds, read_bounds
from ..runs import AnyExecutor, Evaluation, Plan, Pool
from ..solve import Call
from .domain import Worst, read_worst
from .driving import as_flat, drive_search, new_search
from .schedule import SCHEDULE
from .search import Search


@kind("surrogate/1")
@dataclass(frozen=True)
class Surrogate:
    """A surface from some dozens of evaluations, without gradients, perhaps with noise; choose it
    where one takes long.

    `bf.minimize(f, x0, bf.Surrogate(), bounds=(lower, upper), budget=80)`: f is evaluated at most
    `budget` times, within bounds that must be finite. The surface is the Pareto set of Gaussian
    processes fitted to the evaluations, and `solution.error` is how far their predictions were off
    before they saw the values. Of the arguments of `minimize`, x0 is None, one design, an array of
    designs to evaluate first, or a pair `(X, F)` (also `solution.evaluated`) of designs with known
    values, which do not count towards the budget; `tol` is the error in units of the objectives'
    ranges at which the search ends early.

    Attributes:
        batch: how many designs are chosen at a time.
        noise: "auto", "none" or "some": whether the same design may have other values the next
            time.
        timeout: seconds after which an evaluation counts as failed; None for any time.
        retries: how often an evaluation that failed (it raised, was not finite, took too long, its
            worker died) is tried again before it is left out.
        in_flight: how many designs are evaluated at the same time at most; by default one batch
            after the other.
        worst: the worst values that are of use, {"cost": 100.0} or one for each objective with None
            for any: hypervolume is looked for among designs that are expected within them, and the
            surface ends there.
        executor: where designs are evaluated: any `concurrent.futures.Executor` (of loky, Dask's
            `client.get_executor()`, `bezierflow.runs.RayExecutor`, `mpi4py.futures`), a function
            that makes one, or a number of processes on this machine. By default in this process.
    """

    batch: int = 4
    noise: str = "auto"
    timeout: float | None = None
    retries: int = 1
    in_flight: int | None = None
    worst: Worst = None
    executor: AnyExecutor = None

    def search(self, task: Call) -> Solution:
        """What `minimize` calls."""
        if task.budget is None:
            raise ValueError(
                "budget must be given with a Surrogate: the most evaluations that it may make"
            )
        began, problem = time.perf_counter(), task.objectives
        bounds = _own(problem, "bounds") if task.bounds is None else task.bounds
        x0 = task.x0.evaluated if isinstance(task.x0, Solution) else task.x0
        raveling = _form(bounds, x0, _own(problem, "n_variables"))
        box = read_bounds(bounds, raveling)
        sides = box.lower, box.upper
        first, known, values = _first_designs(x0, raveling, sides)
        names = _own(problem, "names")
        names = names if isinstance(names, Names) else None
        named = {
            "names": names,
            "maximize": _own(problem, "maximize") if task.maximize is None else task.maximize,
            "transforms": (
                _own(problem, "transforms") if task.transforms is None else task.transforms
            ),
        }
        settings = {
            "seed": task.seed,
            "budget": task.budget,
            "noise": self.noise,
            "batch": self.batch,
            "worst": self.worst,
            "tol": SCHEDULE.tol if task.tol is None else task.tol,
        }
        # Objectives are not called to count them: each call may take an hour.
        n_objectives = len(values[0]) if len(values) else self._n_objectives(problem, names)
        make = partial(new_search, sides, settings, named)
        pool = Pool(as_flat(problem, raveling), self.executor, self.timeout, self.retries)
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
        declared = _own(problem, "n_objectives") or (names and names.n_objectives)
        if declared:
            return declared
        # Names of objectives are f1, f2, … then: a wrong one is said before anything is evaluated.
        for key in read_worst(self.worst):
            if isinstance(key, str) and not re.fullmatch(r"f[1-9]\d*", key):
                raise ValueError(
                    f"worst: {key!r} is no objective; they are f1, f2, … where no names are given"
                )
        return None if self.worst is None or isinstance(self.worst, Mapping) else len(self.worst)


def _own(problem: object, name: str) -> Any:
    """What a problem says about itself; a method of that name is something else."""
    found = getattr(problem, name, None)
    return None if callable(found) else found


def _form(bounds: object, x0: object, n_variables: int | None) -> Raveling:
    """The form of x, from the bounds, else from a design."""
    raveling = None if bounds is None else raveling_of_bounds(bounds, n_variables)
    if raveling is None and bounds is not None and x0 is not None and not isinstance(x0, tuple):
        raveling = Raveling.of(x0)
    if raveling is None:
        raise ValueError(
            f"bounds must be given with a Surrogate, finite ones for each variable, got {bounds!r}"
        )
    return raveling


def _first_designs(
    x0: object, raveling: Raveling, sides: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Designs to evaluate first, designs with known values, and these values."""
    none = np.zeros((0, raveling.n_variables))
    if x0 is None:
        return none, none, none
    if not isinstance(x0, tuple):
        return np.clip(_rows(x0, raveling), *sides), none, none
    known, values = _rows(x0[0], raveling), np.asarray(x0[1], dtype=float)
    if values.ndim != 2 or len(values) != len(known):
        raise ValueError(
            f"x0 must hold a row of values for each of {len(known)} designs, got shape"
            f" {values.shape}"
        )
    return none, known, values


def _rows(x: PyTree, raveling: Raveling) -> Float[np.ndarray, "n n_variables"]:
    """One design, or several with an axis in front, as rows."""
    if raveling.is_vector:
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
    reason, message, made_by = solution.result.reason, solution.result.message, solution.made_by
    if not solution.result.doubtful:
        if stopped is not None:
            late = stopped is Reason.TIME_LIMIT
            what = "the time limit was reached" if late else "stopped"
            reason, why = stopped, f"{what} before the budget of {task.budget} was spent"
        elif search.done:
            reason, why = Reason.CONVERGED, f"within tol={search.tol:g} for three batches"
        else:
            reason = Reason.COMPLETED if task.tol is None else Reason.NOT_AT_TOLERANCE
            why = f"the budget of {task.budget} was spent"
        message = f"{why}; {message}"
    if failures:
        message += (
            f"; {len(failures)} evaluations failed and were left out, the first at x ="
            f" {failures[0].x.tolist()}: {failures[0].failure}"
        )
        failed = [{"x": one.x.tolist(), "failure": one.failure} for one in failures]
        made_by = {**made_by, "failed": failed}
    return replace(solution, result=Result(reason, message), made_by=made_by)
