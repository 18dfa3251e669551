"""`minimize`: from objectives and a starting point to a surface that is the Pareto set."""

import time
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any, Literal

from jaxtyping import PyTree

from ..answer import BezierAtlas, Solution, Stats
from ..arguments import shown
from ..bezier import BezierSimplex
from ..compilation import forget_programs
from ..flows import AbstractFlow, Callback, Flow, Origin, Settings, Stochastic, lift, shaped, train
from ..interrupts import orderly_interrupts
from ..methods import AbstractMethod
from ..names import Names
from ..normal import (
    AUTO_TOL,
    FLOAT32_TOL,
    AbstractAutoFlow,
    NormalEstimator,
    NormalFlow,
    WeightsFlow,
)
from ..objectives import (
    Chosen,
    FeasibleSet,
    Problem,
    Rows,
    Transforms,
    check_switches,
    is_single,
    read_limits,
    read_objectives,
    read_problem,
)
from ..precision import double_precision
from ..quiet import quiet
from ..runs import AnyExecutor
from .checkpoint import Checkpoint, open_checkpoint
from .routes import Ended, Routes
from .searching import SearchMethod, search_task
from .starting import start_of

LIFTED_TOL = 1e-8
"""The change of a surface, relative to its diameter, below which a lifted run without an iteration
count of its own stops."""

POSSIBLE = 30.0
"""With gradients by differences, exact to ε^(2/3), a tolerance left open is this many times that:
held-out t see the worst."""

NOT_KEPT = ("callback", "progress", "checkpoint", "every", "executor")
"""Arguments that the result does not depend on."""

OF_THE_PROBLEM = ("bounds", "constraints", "maximize", "transforms", "x_scale")
"""Arguments that belong to the problem."""

LIFTED_DEGREE = 3
"""The degree of a lifted method where the user leaves it open: the paper's."""


@quiet()
def minimize(  # noqa: PLR0913
    objectives: object,
    x0: PyTree = None,
    method: Literal["auto"] | AbstractMethod | AbstractFlow | SearchMethod = "auto",
    *,
    bounds: object = None,
    constraints: object = None,
    maximize: Chosen = None,
    transforms: Transforms = None,
    degree: Literal["auto"] | int = "auto",
    max_degree: int | None = None,
    parametrization: Literal["free", "weights"] | None = None,
    n_iterations: int | None = None,
    tol: float | None = None,
    budget: int | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    progress: bool = False,
    jac: Rows | None = None,
    hess: Rows | None = None,
    vectorized: bool = False,
    x_scale: object = None,
    checkpoint: str | PathLike[str] | None = None,
    every: float | None = None,
    executor: AnyExecutor = None,
) -> Solution:
    """Minimizes several objectives at once; the answer is a surface: a Bézier simplex on the Pareto
    set, or an atlas of them.

    Args:
        objectives: a function x -> M numbers, or a list of functions x -> a number, in JAX, NumPy,
            torch or plain Python; a problem from `bezierflow.problems`, or one of pymoo's. What JAX
            cannot trace runs on the host; derivatives that nobody gives are finite differences,
            which `made_by["objectives"]` says. `Stochastic(f, batches)` stands for objectives f(x,
            batch), which a lifted optimizer of optax trains.
        x0: where to start: an array, a pytree of arrays, a surface or a solution. A surface that is
            at tolerance is kept, after a look at a dozen points. The run of a solution that was
            stopped (by its callback, Ctrl-C, its budget, its number of iterations) goes on where it
            was, with the same objectives and flow. A point outside of the bounds is clipped to
            them, one that violates constraints is moved to where they hold. None stands for the
            center of the box, where every bound is finite.
        method: "auto"; a single-objective method, which is lifted; a flow, made by `lift` or a
            `NormalFlow`; or `Surrogate()` for objectives that are expensive to evaluate, which has
            its own meanings of x0, tol and budget.
        bounds: lower and upper bounds of x: `(lower, upper)`, each a number, an array or a pytree
            like x; `scipy.optimize.Bounds`; or a pair `(low, high)` for each variable, None for no
            bound (`feasible.feasible_set` has the details). Each point that a lifted method moves
            is clipped to them. With method="auto" the answer is a `BezierAtlas` where the set
            follows them. By default the problem's own `bounds`, if it has any; `(None, None)` for
            none.
        constraints: SciPy's `LinearConstraint` and `NonlinearConstraint` or functions g with g(x) ≤
            0, one or a list of them, for method="auto" and likewise. By default the problem's own;
            `[]` for none.
        maximize: the objectives to be maximized: a bool for each, or names or numbers (from 0) of
            them; True for all. Whatever is given and got, here and in every question, file, plot
            and page, has the objectives' own signs. By default the problem's own `maximize`.
        transforms: variables by name or number, each with "log10" or "log": the solver works with
            the logarithm of the variable, while x0, bounds, constraints, objectives and every
            answer have the variable itself. `solution.pareto_set` is the surface of the solver's
            variables; `solution.design(t)` has the design. By default the problem's own
            `transforms`.
        degree: the degree of the surface; "auto" leaves it to the method. A flow brings its own.
        max_degree: the largest degree "auto" may choose.
        parametrization: what t means, for method="auto": "free", the default, asks only that t on a
            face lies on the Pareto set of that face's objectives; "weights" asks for b(t) = argmin
            Σ t_m f_m. A lifted method has what its scalarization says.
        n_iterations: how many iterations at most. A lifted method without `tol` makes exactly that
            many.
        tol: for method="auto" the largest distance to the set, relative to its diameter, and for an
            atlas what its patches may miss in objectives, relative to their ranges; for a lifted
            method the change of the surface in an iteration, relative to its diameter, below which
            it stops.
        budget: the most points that method="auto" may evaluate; the error estimate at the end comes
            on top.
        seed: the same seed gives the same result, bit for bit.
        callback: called with an `Iteration` after each one; returns True to stop. Costs a trip to
            Python an iteration.
        progress: show a progress bar.
        jac: x -> (M, L), the gradients of objectives written in NumPy or plain Python, or a list of
            functions x -> (L,).
        hess: x -> (M, L, L), their Hessians, likewise.
        vectorized: whether objectives, jac and hess take many points at once, (n, L), and return n
            rows.
        x_scale: the unit of each variable, for method="auto": one positive number, one for each, or
            a pytree like x. Distances are measured in these units. By default all are 1, unless the
            objectives' curvatures at x0 show that the variables differ in scale by more than 100;
            `made_by["x_scale"]` says what was used.
        checkpoint: a folder that keeps the run, so that it goes on after whatever ends it, to the
            same result bit for bit: with `bf.resume(folder)`, or with the same call once more.
        every: seconds between two states in the folder; 0 for one at every pause of the run. By
            default 10. A `Surrogate` writes down every evaluation as it arrives.
        executor: where a `Surrogate` evaluates: any `concurrent.futures.Executor` (of loky, Dask's
            `client.get_executor()`, `bezierflow.runs.RayExecutor`, `mpi4py.futures`), a function
            that makes one, or a number of processes on this machine. By default in this process.
    """
    degree, max_degree, n_iterations, tol, budget, seed = read_limits(
        degree, max_degree, n_iterations, tol, budget, seed
    )
    check_switches(callback, progress, vectorized)
    arguments = {name: value for name, value in locals().items() if name not in NOT_KEPT}
    began = time.perf_counter()
    forget_programs()
    if isinstance(objectives, Stochastic):
        return _train(arguments, callback, progress, checkpoint=checkpoint, executor=executor)
    if isinstance(method, SearchMethod):
        return method.search(search_task(arguments, callback, progress, executor, checkpoint))
    if executor is not None:
        raise ValueError(
            "executor goes with method=Surrogate(...); other methods evaluate in this process"
        )
    if not isinstance(method, str | NormalFlow):
        _refuse(x_scale=x_scale)
    given = read_objectives(objectives, jac, hess, vectorized)
    with (
        double_precision(),
        orderly_interrupts(),
        open_checkpoint(checkpoint, every, arguments) as kept,
    ):
        return _solve(arguments, given, kept, (callback, progress), began)


def _solve(
    arguments: dict[str, Any],
    objectives: object,
    kept: Checkpoint | None,
    watched: tuple[Callback | None, bool],
    began: float,
) -> Solution:
    """The solution of a problem with exact objectives, by any flow."""
    x0, seed = arguments["x0"], arguments["seed"]
    problem = read_problem(
        objectives,
        start_of(x0),
        **{name: arguments[name] for name in OF_THE_PROBLEM},
        automatic=isinstance(arguments["method"], str | NormalFlow),
    )
    if kept is not None:
        kept.check(problem)
    flow = _blurred(
        _within(_flow(arguments, problem.start.degree), problem.feasible), problem, arguments["tol"]
    )
    flow = _in_single(flow, x0)
    paused = (
        x0.paused
        if isinstance(x0, Solution) and x0.paused is not None and x0.paused.given == objectives
        else None
    )
    ended = (
        Routes(problem, flow, arguments["n_iterations"], seed, *watched, paused, kept)
        .solve()
        .noted(problem.note)
    )
    solution = replace(_solution(problem, ended, seed, began), paused=ended.paused(objectives))
    if kept is not None:
        kept.end(
            partial(solution.save, estimate=False), solution.result, solution.paused is not None
        )
    return solution


ONLY_EXACT = (
    *(
        "bounds",
        "constraints",
        "maximize",
        "transforms",
        "tol",
        "parametrization",
        "max_degree",
        "budget",
        "x_scale",
    ),
    *("jac", "hess"),
)
"""Arguments that do not go with objectives that are known by batches."""


def _train(
    arguments: dict[str, Any], callback: Callback | None, progress: bool, **others: object
) -> Solution:
    """A surface that is trained on batches."""
    _refuse_with_batches(
        **{name: arguments[name] for name in ONLY_EXACT},
        vectorized=arguments["vectorized"] or None,
        **others,
    )
    own = {name: arguments[name] for name in ("method", "degree", "n_iterations", "seed")}
    trained = train(
        arguments["objectives"],
        arguments["x0"],
        Settings(**own, callback=callback, progress=progress),
    )
    return replace(trained, estimator=NormalEstimator())


def _solution(problem: Problem, ended: Ended, seed: int, began: float) -> Solution:
    flow = ended.flow
    return Solution(
        pareto_set=_with_signs(shaped(ended.surface, problem.raveling), problem.names),
        objectives=problem.objectives,
        names=problem.names,
        result=ended.result,
        stats=Stats(ended.evaluations, ended.run.iterations, time.perf_counter() - began),
        history=ended.run.history,
        made_by={**flow.parts(), "n_iterations": ended.n_iterations, "seed": seed, **problem.found},
        raveling=(
            problem.raveling.plain if isinstance(ended.surface, BezierAtlas) else problem.raveling
        ),
        known_error=ended.error,
        origin=Origin(flow, ended.start.on_host(), seed) if isinstance(flow, Flow) else None,
        feasible=problem.feasible,
        estimator=NormalEstimator(),
    )


def _with_signs(surface: BezierSimplex | BezierAtlas, names: Names) -> BezierSimplex | BezierAtlas:
    """The same set; an atlas, which has its front, with the user's signs."""
    return surface.turned(names.signs) if isinstance(surface, BezierAtlas) else surface


def _within(flow: AbstractFlow, feasible: FeasibleSet | None) -> AbstractFlow:
    """A lifted flow that keeps to the bounds, or why it cannot; any other is checked at its end."""
    if feasible is None or not isinstance(flow, Flow):
        return flow
    if feasible.has_constraints:
        raise ValueError(
            "constraints do not go with a lifted method, since a projection onto them is not"
            " defined for every method; give bounds alone, or add a penalty for the constraints to"
            " the objectives"
        )
    return replace(flow, bounds=feasible)


def _blurred(flow: AbstractFlow, problem: Problem, tol: float | None) -> AbstractFlow:
    """A flow of method="auto" that knows how exact gradients by differences are; a tolerance left
    open is what they allow."""
    if not isinstance(flow, AbstractAutoFlow) or problem.gradient_noise == 0:
        return flow
    possible = POSSIBLE * problem.gradient_noise ** (2 / 3)
    return replace(
        flow, noise=problem.gradient_noise, tol=max(flow.tol, possible) if tol is None else flow.tol
    )


def _in_single(flow: AbstractFlow, x0: PyTree) -> AbstractFlow:
    """A normal flow that keeps the user's float32 arrays as they are, where its tolerance allows
    that and there are many."""
    given = x0.pareto_set if isinstance(x0, Solution) else x0
    if (
        not isinstance(flow, NormalFlow)
        or flow.dtype is not None
        or flow.tol < FLOAT32_TOL
        or not is_single(given)
    ):
        return flow
    return replace(flow, dtype="float32")


def _flow(arguments: dict[str, Any], start_degree: int) -> AbstractFlow:
    """The flow that the arguments of `minimize` ask for."""
    method, degree, tol = arguments["method"], arguments["degree"], arguments["tol"]
    own = {name: arguments[name] for name in ("max_degree", "budget", "parametrization")}
    if isinstance(method, str):
        return _automatic(
            method, own["parametrization"], degree, own["max_degree"], tol, own["budget"]
        )
    _refuse(**own)
    return _given(method, degree, start_degree, tol, arguments["n_iterations"])


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
        raise ValueError(
            'method must be "auto", a single-objective method such as Newton(), or a flow, got'
            f" {method!r}"
        )
    kinds = {None: NormalFlow, "free": NormalFlow, "weights": WeightsFlow}
    if not isinstance(parametrization, str | None) or parametrization not in kinds:
        raise ValueError(
            f'parametrization must be "free" or "weights", got {shown(parametrization)}'
        )
    return kinds[parametrization](degree, max_degree, AUTO_TOL if tol is None else tol, budget)


def _given(
    method: AbstractMethod | AbstractFlow,
    degree: Literal["auto"] | int,
    start_degree: int,
    tol: float | None,
    n_iterations: int | None,
) -> AbstractFlow:
    """The user's own flow, or their method lifted."""
    if not isinstance(method, AbstractFlow):
        method = lift(method, max(LIFTED_DEGREE, start_degree) if degree == "auto" else degree)
    elif degree != "auto" and degree != getattr(method, "degree", None):
        raise ValueError(f"degree={degree!r} disagrees with the flow's own; give it to the flow")
    if isinstance(method, Flow):
        return replace(
            method, tol=tol if tol is not None else LIFTED_TOL if n_iterations is None else 0.0
        )
    _refuse(tol=tol)
    return method


def _refuse(**settings: object) -> None:
    for name, value in settings.items():
        if value is not None:
            raise ValueError(
                f'{name}={value!r} goes with method="auto"; a method or flow of your own brings its'
                " settings along"
            )


def _refuse_with_batches(**settings: object) -> None:
    for name, value in settings.items():
        if value is not None:
            raise ValueError(
                f"{name}={value!r} does not go with objectives that are known by batches; leave"
                " it out"
            )
