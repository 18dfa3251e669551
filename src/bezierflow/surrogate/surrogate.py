"""`Surrogate`: the method of `minimize` for objectives that are expensive to evaluate."""

import time
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, PyTree

from ..bezier import Raveling
from ..feasible import feasible_set, raveling_of_bounds
from ..flow import Iteration, Reason, Result, Solution, Task, progress_bar
from ..methods import Evaluations
from ..problems import Names
from .evaluating import Expensive
from .search import DEFAULT_TOL, Search


@dataclass(frozen=True)
class Surrogate:
    """A surface from some dozens of evaluations, without gradients, perhaps with noise; choose it where one takes long.

    `bf.minimize(f, x0, bf.Surrogate(), bounds=(lower, upper), budget=80)`: f is evaluated at most `budget` times, within bounds
    that must be finite. The surface is the Pareto set of Gaussian processes fitted to the evaluations, and `solution.error` is
    how far their predictions were off before they saw the values. Of the arguments of `minimize`, x0 is None, one design, an
    array of designs to evaluate first, or a pair `(X, F)` (also `solution.evaluated`) of designs with known values, which do not
    count towards the budget; `tol` is the error in units of the objectives' ranges at which the search ends early.

    Attributes:
        batch: how many designs are chosen at a time.
        noise: "auto", "none" or "some": whether the same design may have other values the next time.
    """

    batch: int = 4
    noise: str = "auto"

    def search(self, task: Task) -> Solution:
        """What `minimize` calls."""
        if task.budget is None:
            raise ValueError("budget must be given with a Surrogate: the most evaluations that it may make")
        began = time.perf_counter()
        given = _read(task)
        evaluate = Expensive(task.objectives, given.raveling)
        search = self._begin(task, given, evaluate)
        stopped = self._loop(task, search, evaluate)
        solution = search.solution(given.raveling)
        solution = replace(solution, stats=replace(solution.stats, seconds=time.perf_counter() - began))
        return _explained(solution, search, stopped, task)

    def _begin(self, task: Task, given: "Given", evaluate: Expensive) -> Search:
        """The search after the first evaluations: of the designs given, else of the first evenly spread ones."""
        settings = {"seed": task.seed, "budget": task.budget, "noise": self.noise, "batch": self.batch}
        settings["tol"] = DEFAULT_TOL if task.tol is None else task.tol

        def new(n_objectives: int) -> Search:
            named = {"names": given.names, "maximize": given.maximize, "transforms": given.transforms}
            return Search(given.sides, n_objectives, **settings, **named)

        assert task.budget is not None
        first = given.x[: task.budget]
        spread = not len(first) and not len(given.known)
        if spread:  # evenly spread points do not depend on the number of objectives
            first = new(2).ask(min(self.batch, task.budget))
        values = evaluate(first) if len(first) else []
        n_objectives = next((len(row) for row in (*given.values, *values) if row is not None), None)
        if n_objectives is None:
            raise ValueError(f"objectives failed at the first {len(first)} designs, among them {first[0].tolist()}")
        search = new(n_objectives)
        if spread:
            search.ask(len(first))
        for x, y in (*zip(given.known, given.values, strict=True), *zip(first, values, strict=True)):
            search.tell(x, y)
        return search

    def _loop(self, task: Task, search: Search, evaluate: Expensive) -> Reason | None:
        """Batches until the budget is spent, the search is done, or somebody stops it."""
        assert task.budget is not None
        number = 0
        with progress_bar(task.progress, task.budget, "search") as update:
            try:
                while evaluate.count < task.budget and not search.done:
                    x = search.ask(min(self.batch, task.budget - evaluate.count))
                    search.tell(x, evaluate(x))
                    number += 1
                    last = search.held_out.rounds[-1:]
                    info = {"error": last[0].error, "uncertainty": last[0].uncertainty} if last else {}
                    update(evaluate.count, ", ".join(f"{name} {value:.2g}" for name, value in info.items()))
                    counts = Evaluations(evaluate.count, 0, 0)
                    if task.callback is not None and task.callback(Iteration(number, None, counts, info)):
                        return Reason.STOPPED
            except KeyboardInterrupt:
                return Reason.INTERRUPTED
        return None


class Given(NamedTuple):
    """What the user gave, as a search takes it.

    Attributes:
        raveling: the form of x.
        sides: lower and upper bounds, flat.
        names: of the problem, if it has any.
        maximize: as given, else the problem's own.
        transforms: likewise.
        x: designs to evaluate first.
        known: designs with known values.
        values: these values.
    """

    raveling: Raveling
    sides: tuple[np.ndarray, np.ndarray]
    names: Names | None
    maximize: Any
    transforms: Any
    x: Float[np.ndarray, "n n_variables"]
    known: Float[np.ndarray, "k n_variables"]
    values: list[np.ndarray]


def _read(task: Task) -> Given:
    """Bounds, names and first designs, or an error in one line."""
    own = {name: _own(task.objectives, name) for name in ("bounds", "names", "maximize", "transforms")}
    bounds = own["bounds"] if task.bounds is None else task.bounds
    x0 = task.x0.evaluated if isinstance(task.x0, Solution) else task.x0
    raveling = _form(bounds, x0, _own(task.objectives, "n_variables"))
    box = feasible_set(bounds, None, raveling)
    sides = np.asarray(box.lower, dtype=float), np.asarray(box.upper, dtype=float)
    names = own["names"] if isinstance(own["names"], Names) else None
    directions = own["maximize"] if task.maximize is None else task.maximize
    transforms = own["transforms"] if task.transforms is None else task.transforms
    return Given(raveling, sides, names, directions, transforms, *_first_designs(x0, raveling, sides))


def _own(problem: Any, name: str) -> Any:
    """What a problem says about itself; a method of that name is something else."""
    found = getattr(problem, name, None)
    return None if callable(found) else found


def _form(bounds: Any, x0: Any, n_variables: int | None) -> Raveling:
    """The form of x, from the bounds, else from a design."""
    raveling = None if bounds is None else raveling_of_bounds(bounds, n_variables)
    if raveling is None and bounds is not None and x0 is not None and not isinstance(x0, tuple):
        raveling = Raveling.of(x0)
    if raveling is None:
        raise ValueError(f"bounds must be given with a Surrogate, finite ones for each variable, got {bounds!r}")
    return raveling


def _first_designs(
    x0: Any, raveling: Raveling, sides: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Designs to evaluate first, designs with known values, and these values."""
    nothing = np.zeros((0, raveling.n_variables))
    if x0 is None:
        return nothing, nothing, []
    if not isinstance(x0, tuple):
        return np.clip(_rows(x0, raveling), *sides), nothing, []
    known, values = _rows(x0[0], raveling), np.asarray(x0[1], dtype=float)
    if values.ndim != 2 or len(values) != len(known):
        raise ValueError(f"x0 must hold a row of values for each of {len(known)} designs, got shape {values.shape}")
    return nothing, known, list(values)


def _rows(x: PyTree, raveling: Raveling) -> Float[np.ndarray, "n n_variables"]:
    """One design, or several with an axis in front, as rows."""
    if raveling.is_vector:
        rows = np.atleast_2d(np.asarray(x, dtype=float))
    else:
        several = Raveling.of(x).shapes != raveling.shapes
        rows = np.atleast_2d(np.asarray(raveling.ravel(x, batch_axes=int(several)), dtype=float))
    if rows.ndim != 2 or rows.shape[1] != raveling.n_variables:
        raise ValueError(f"x0 must have {raveling.n_variables} numbers for each design, got shape {rows.shape}")
    return rows


def _explained(solution: Solution, search: Search, stopped: Reason | None, task: Task) -> Solution:
    """The solution with the reason why no more evaluations were made."""
    result = solution.result
    if result.doubtful:
        return solution
    if stopped is not None:
        reason, why = stopped, f"stopped before the budget of {task.budget} was spent"
    elif search.done:
        reason, why = Reason.CONVERGED, f"within tol={search.tol:g} for three batches"
    else:
        reason = Reason.ITERATION_LIMIT if task.tol is None else Reason.NOT_AT_TOLERANCE
        why = f"the budget of {task.budget} was spent"
    return replace(solution, result=Result(reason, f"{why}; {result.message}"))
