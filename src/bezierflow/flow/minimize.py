"""`minimize`: from objectives and a starting point to a surface that is the Pareto set."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import numpy as np
from jaxtyping import PyTree

from ..bezier import BezierSimplex
from ..evaluation import BudgetSpentError, JaxEvaluator, Objectives
from ..feasible import FeasibleSet, feasible_set
from ..kinks import CannotLiftError
from ..methods import AbstractMethod, Evaluations
from ..normal import ErrorEstimate
from ..precision import double_precision
from ..problems import Names
from .atlas_flow import AtlasFlow
from .auto_flow import AUTO_TOL
from .bounded import corners_leave, cut_off, incomplete, keeps_everything, leaves, search_box, unfinished
from .checks import center_of_bounds, check_n_iterations, check_objectives, check_tol, check_x0
from .contract import AbstractFlow, Run, total
from .drive import Callback, Iteration, drive, shaped
from .kinked import Kinked, lift_problem
from .lift import Flow, lift
from .normal_flow import NormalFlow
from .raveling import Raveled, Raveling
from .result import Reason, Result, Stats
from .solution import Origin, Solution
from .weights_flow import WeightsFlow

LIFTED_TOL = 1e-8
"""The change of a surface, relative to its diameter, below which a lifted run without an iteration count of its own stops."""

LIFTED_DEGREE = 3
"""The degree of a lifted method where the user leaves it open: the paper's."""


def minimize(  # noqa: PLR0913
    objectives: Callable[[PyTree], Any],
    x0: PyTree = None,
    method: Literal["auto"] | AbstractMethod | AbstractFlow = "auto",
    *,
    bounds: Any = None,
    constraints: Any = None,
    degree: Literal["auto"] | int = "auto",
    max_degree: int | None = None,
    parametrization: Literal["free", "weights"] | None = None,
    n_iterations: int | None = None,
    tol: float | None = None,
    budget: int | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    progress: bool = False,
) -> Solution:
    """Minimizes several objectives at once; the answer is a surface: a Bézier simplex on the Pareto set, or an atlas of them.

    Args:
        objectives: a JAX function x -> (M,), or a problem from `bezierflow.problems`.
        x0: where to start: an array, a pytree of arrays, or a surface (warm start). A point outside of the bounds is clipped
            to them, one that violates constraints is moved to where they hold. None stands for the center of the box, where
            every bound is finite.
        method: "auto"; a single-objective method, which is lifted; or a flow, made by `lift` or a `NormalFlow`.
        bounds: lower and upper bounds of x: `(lower, upper)`, each a number, an array or a pytree like x;
            `scipy.optimize.Bounds`; or a pair `(low, high)` for each variable, None for no bound (`feasible.feasible_set` has
            the details). Each point that a lifted method moves is clipped to them. With method="auto" the answer is a
            `BezierAtlas` where the set follows them. By default the problem's own `bounds`, if it has any; `(None, None)` for
            none.
        constraints: SciPy's `LinearConstraint` and `NonlinearConstraint` or functions g with g(x) ≤ 0, one or a list of them,
            for method="auto" and likewise. By default the problem's own; `[]` for none.
        degree: the degree of the surface; "auto" leaves it to the method. A flow brings its own.
        max_degree: the largest degree "auto" may choose.
        parametrization: what t means, for method="auto": "free", the default, asks only that t on a face lies on the Pareto
            set of that face's objectives; "weights" asks for b(t) = argmin Σ t_m f_m. A lifted method has what its
            scalarization says.
        n_iterations: how many iterations at most. A lifted method without `tol` makes exactly that many.
        tol: for method="auto" the largest distance to the set, relative to its diameter, and for an atlas what its patches may
            miss in objectives, relative to their ranges; for a lifted method the change of the surface in an iteration, relative
            to its diameter, below which it stops.
        budget: the most points that method="auto" may evaluate; the error estimate at the end comes on top.
        seed: the same seed gives the same result, bit for bit.
        callback: called with an `Iteration` after each one; returns True to stop. Costs a trip to Python an iteration.
        progress: show a progress bar.
    """
    began = time.perf_counter()
    n_iterations = check_n_iterations(n_iterations)
    check_tol(tol)
    with double_precision():
        problem = _read(objectives, x0, bounds, constraints)
        if isinstance(method, str):
            flow = _automatic(method, parametrization, degree, max_degree, tol, budget)
        else:
            _refuse(max_degree=max_degree, budget=budget, parametrization=parametrization)
            flow = _given(method, degree, problem.start.degree, tol, n_iterations)
        flow = _within(flow, problem.feasible)
        return _solve(problem, flow, n_iterations, seed, callback, progress, began)


class _Problem(NamedTuple):
    """What `minimize` was given, checked: the objectives, also as a function of a flat vector, and a flat surface to start at."""

    objectives: Callable[[PyTree], Any]
    flat: Objectives
    start: BezierSimplex
    raveling: Raveling
    names: Names
    feasible: FeasibleSet | None
    """None where x may lie anywhere."""


def _solve(
    problem: _Problem,
    flow: AbstractFlow,
    n_iterations: int | None,
    seed: int,
    callback: Callback | None,
    progress: bool,
    began: float,
) -> Solution:
    """Prepares the flow, drives it, measures its surface and explains its end; an atlas where one surface cannot be the set."""
    run = partial(_run, n_iterations=n_iterations, seed=seed, progress=progress)
    runner, follow = partial(run, problem), partial(_follow_kinks, problem, flow, run, callback)
    kinked = _lift(problem, flow, Evaluations()) if hasattr(problem.objectives, "prox") else None
    if isinstance(kinked, Kinked):
        return _solution(problem, follow(kinked), seed, began)
    if problem.feasible is None or isinstance(flow, Flow | AtlasFlow):
        return _solution(problem, _without_kinks(problem, flow, runner(flow, callback=callback), follow), seed, began)
    watch = _Watch(problem.feasible, callback)
    ended = runner(flow, callback=watch)
    why = watch.left or leaves(problem.feasible, ended.surface)
    if ended.run.stopped is not None and not watch.left:  # by the user, who gets what there is
        return _solution(problem, ended._replace(result=unfinished(ended.result, why)), seed, began)
    if not why and ended.result.reason in (Reason.CONVERGED, Reason.NOT_AT_TOLERANCE):
        ended, why = _look_elsewhere(problem, flow, ended)
        if not why:
            return _solution(problem, ended._replace(result=keeps_everything(ended.result)), seed, began)
    atlas, kinked = _atlas_instead(problem, flow, ended, why), _lift(problem, flow, ended.evaluations)
    if isinstance(kinked, Kinked):
        return _solution(problem, follow(kinked, ended), seed, began)
    return _solution(problem, _noted(runner(atlas, callback=callback, spent=ended.evaluations), kinked), seed, began)


class _Ended(NamedTuple):
    """A run that was driven to its end, measured and explained."""

    flow: AbstractFlow
    start: BezierSimplex
    run: Run
    n_iterations: int | None
    error: ErrorEstimate | None
    result: Result
    evaluations: Evaluations

    @property
    def surface(self) -> Any:
        return self.flow.surface(self.run.state)


class _Watch:
    """A callback that stops a run without bounds as soon as its corners leave them, after the user's own."""

    def __init__(self, feasible: FeasibleSet, callback: Callback | None):
        self.feasible, self.callback, self.left = feasible, callback, ""

    def __call__(self, iteration: Iteration) -> bool:
        if self.callback is not None and self.callback(iteration):
            return True
        self.left = corners_leave(self.feasible, iteration.surface)
        return bool(self.left)


def _run(
    problem: _Problem,
    flow: AbstractFlow,
    *,
    n_iterations: int | None,
    seed: int,
    callback: Callback | None,
    progress: bool,
    spent: Evaluations | None = None,
) -> _Ended:
    flow, start, before = flow.prepare(problem.flat, problem.start)
    n_iterations = n_iterations or flow.most_iterations
    state = flow.init(problem.flat, start, seed)
    run = drive(flow, problem.flat, state, n_iterations, callback, progress, problem.raveling)
    error = flow.measure(problem.flat, run, seed)
    result = flow.explain(problem.flat, run, error, problem.names)
    evaluations = total(flow.evaluations(run.state), before, spent or Evaluations())
    return _Ended(flow, start, run, n_iterations, error, result, evaluations)


def _solution(problem: _Problem, ended: _Ended, seed: int, began: float) -> Solution:
    flow = ended.flow
    return Solution(
        pareto_set=shaped(ended.surface, problem.raveling),
        objectives=problem.objectives,
        names=problem.names,
        result=ended.result,
        stats=Stats(ended.evaluations, ended.run.iterations, time.perf_counter() - began),
        history=ended.run.history,
        made_by={**flow.parts(), "n_iterations": ended.n_iterations, "seed": seed},
        raveling=problem.raveling,
        known_error=ended.error,
        origin=Origin(flow, ended.start.on_host(), seed) if isinstance(flow, Flow) else None,
        feasible=problem.feasible,
    )


def _look_elsewhere(problem: _Problem, flow: AbstractFlow, ended: _Ended) -> tuple[_Ended, str]:
    """Whether the box holds something that the surface lacks, with the evaluations that it took to see."""
    assert problem.feasible is not None
    budget = getattr(flow, "budget", None)
    evaluator = JaxEvaluator(problem.flat, problem.start.n_objectives, problem.raveling.n_variables, budget, ended.evaluations)
    try:
        why = incomplete(evaluator, problem.feasible, ended.surface, search_box(problem.feasible, problem.start))
    except BudgetSpentError:
        why = ""
    return ended._replace(evaluations=evaluator.evaluations), why


def _atlas_instead(problem: _Problem, flow: AbstractFlow, ended: _Ended, why: str) -> AtlasFlow:
    """The flow that follows bounds and constraints, in place of one that knows of none."""
    assert problem.feasible is not None
    if not isinstance(flow, NormalFlow) or flow.degree != "auto":
        raise cut_off(why or ended.result.message)
    reason = f"{why}: " if why else "one surface cannot be this set: "
    box = search_box(problem.feasible, problem.start)
    return AtlasFlow(problem.feasible, box, reason, *_limits(flow, ended.evaluations))


def _limits(flow: NormalFlow, spent: Evaluations) -> tuple[float | None, int | None]:
    """The tolerance and the budget of an atlas in place of a flow."""
    left = None if flow.budget is None else max(flow.budget - int(spent.objective), 0)
    return None if flow.tol == AUTO_TOL else flow.tol, left


def _lift(problem: _Problem, flow: AbstractFlow, spent: Evaluations) -> Kinked | str | None:
    """The problem with the kinks of its objectives lifted, or why that cannot be; None where nothing is to be lifted."""
    if not isinstance(flow, NormalFlow) or flow.degree != "auto":
        return None
    try:
        return lift_problem(problem.flat, problem.start, problem.feasible, _limits(flow, spent)[1])
    except CannotLiftError as error:
        return f"the objectives have kinks, which could not be lifted: {error}"


def _follow_kinks(
    problem: _Problem,
    flow: AbstractFlow,
    run: Callable[..., _Ended],
    callback: Callback | None,
    kinked: Kinked,
    before: _Ended | None = None,
) -> _Ended:
    """An atlas of a problem whose kinks were lifted, after a run that did not succeed, if there was one."""
    assert isinstance(flow, NormalFlow)
    spent = total(kinked.evaluations, before.evaluations if before else Evaluations())
    n = kinked.objectives.n_auxiliary
    atlas = AtlasFlow(kinked.feasible, kinked.box, kinked.why, *_limits(flow, spent), n)
    smooth = problem._replace(flat=kinked.objectives, start=kinked.start, feasible=kinked.feasible)
    return run(smooth, atlas, callback=callback, spent=spent)


def _without_kinks(problem: _Problem, flow: AbstractFlow, ended: _Ended, follow: Callable[..., _Ended]) -> _Ended:
    """A run in doubt again with its kinks lifted, if it has any; what ended well stays."""
    if ended.run.stopped is not None or ended.result.success:
        return ended
    kinked = _lift(problem, flow, ended.evaluations)
    if not isinstance(kinked, Kinked):
        return _noted(ended, kinked)
    again = follow(kinked, ended)
    return ended if again.result.reason is Reason.SUSPECT and ended.result.reason is Reason.NOT_AT_TOLERANCE else again


def _noted(ended: _Ended, note: str | None) -> _Ended:
    return ended._replace(result=Result(ended.result.reason, f"{ended.result.message}; {note}")) if note else ended


def _read(objectives: Callable[[PyTree], Any], x0: PyTree, bounds: Any, constraints: Any) -> _Problem:
    """The problem, or an error in one line. The start has degree 0 where x0 is a point."""
    bounds, constraints = _own_or_given(objectives, bounds, constraints)
    x0 = center_of_bounds(bounds, getattr(objectives, "n_variables", None)) if x0 is None else check_x0(x0)
    x = jax.tree.map(lambda leaf: leaf[0], x0.control_points) if isinstance(x0, BezierSimplex) else x0
    n_objectives = check_objectives(objectives, x)
    raveling = Raveling.of(x)
    flat = objectives if raveling.is_vector else Raveled(objectives, raveling)
    names = getattr(objectives, "names", Names()).complete(n_objectives, raveling.n_variables)
    feasible = _feasible(bounds, constraints, raveling, names)
    if not isinstance(x0, BezierSimplex):
        point = np.asarray(raveling.ravel(x0))
        point = point if feasible is None else feasible.repair(point)
        start = BezierSimplex(point[None], n_objectives, 0)
    elif x0.n_objectives == n_objectives:
        start = BezierSimplex(np.asarray(raveling.ravel(x0.control_points, batch_axes=1)), n_objectives, x0.degree)
    else:
        raise ValueError(f"x0 is a surface over {x0.n_objectives} objectives, but objectives returns {n_objectives}")
    return _Problem(objectives, flat, start, raveling, names, feasible)


def _own_or_given(objectives: Callable[[PyTree], Any], bounds: Any, constraints: Any) -> tuple[Any, Any]:
    """The bounds and constraints given, else those of the problem. A surface has a method `bounds`, which is something else."""
    own = getattr(objectives, "bounds", None)
    bounds = (None if callable(own) else own) if bounds is None else bounds
    return bounds, getattr(objectives, "constraints", None) if constraints is None else constraints


def _feasible(bounds: Any, constraints: Any, raveling: Raveling, names: Names) -> FeasibleSet | None:
    if bounds is None and constraints is None:
        return None
    feasible = feasible_set(bounds, constraints, raveling, names.variables)
    return None if feasible.unbounded and not feasible.has_constraints else feasible


def _within(flow: AbstractFlow, feasible: FeasibleSet | None) -> AbstractFlow:
    """A lifted flow that keeps to the bounds, or why it cannot; any other is checked at its end."""
    if feasible is None or not isinstance(flow, Flow):
        return flow
    if feasible.has_constraints:
        raise ValueError(
            "constraints do not go with a lifted method, since a projection onto them is not defined for every method; "
            "give bounds alone, or add a penalty for the constraints to the objectives"
        )
    return replace(flow, bounds=feasible)


def _automatic(
    method: str,
    parametrization: str | None,
    degree: int | str,
    max_degree: int | None,
    tol: float | None,
    budget: int | None,
) -> AbstractFlow:
    """The flow of method="auto"."""
    if method != "auto":
        raise ValueError(f'method must be "auto", a single-objective method such as Newton(), or a flow, got {method!r}')
    kinds = {None: NormalFlow, "free": NormalFlow, "weights": WeightsFlow}
    if parametrization not in kinds:
        raise ValueError(f'parametrization must be "free" or "weights", got {parametrization!r}')
    return kinds[parametrization](degree, max_degree, AUTO_TOL if tol is None else tol, budget)


def _given(method: Any, degree: Any, start_degree: int, tol: float | None, n_iterations: int | None) -> AbstractFlow:
    """The user's own flow, or their method lifted."""
    if not isinstance(method, AbstractFlow):
        method = lift(method, max(LIFTED_DEGREE, start_degree) if degree == "auto" else degree)
    elif degree != "auto" and degree != getattr(method, "degree", None):
        raise ValueError(f"degree={degree!r} disagrees with the flow's own; give it to the flow")
    if isinstance(method, Flow):
        return replace(method, tol=tol if tol is not None else LIFTED_TOL if n_iterations is None else 0.0)
    _refuse(tol=tol)
    return method


def _refuse(**settings: Any) -> None:
    for name, value in settings.items():
        if value is not None:
            raise ValueError(f'{name}={value!r} goes with method="auto"; a method or flow of your own brings its settings along')
