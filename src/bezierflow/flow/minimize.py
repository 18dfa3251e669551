"""`minimize`: from objectives and a starting point to a surface that is the Pareto set."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import jax
import numpy as np
from jaxtyping import PyTree

from ..bezier import BezierSimplex
from ..methods import AbstractMethod, Evaluations, Newton
from ..precision import double_precision, on_host
from ..problems import Names
from . import run as runs
from .checks import check_objectives, check_x0
from .lift import Flow, Objectives, lift
from .progress import progress_bar
from .raveling import Raveled, Raveling
from .result import Reason, Result, Stats
from .solution import Origin, Solution

DEFAULT_ITERATIONS = 1000
"""K where neither n_iterations nor the flow says: the paper's."""

DEFAULT_TOL = 1e-8
"""The change of a surface, relative to its diameter, below which a flow without an iteration count of its own stops."""


@dataclass(frozen=True)
class Iteration:
    """What a callback gets after each iteration; it returns True to stop the run."""

    number: int
    surface: BezierSimplex
    movement: float
    residual: float
    evaluations: Evaluations


def minimize(
    objectives: Callable[[PyTree], Any],
    x0: PyTree,
    method: Literal["auto"] | AbstractMethod | Flow = "auto",
    *,
    degree: Literal["auto"] | int = "auto",
    n_iterations: int | None = None,
    tol: float | None = None,
    seed: int = 0,
    callback: Callable[[Iteration], bool | None] | None = None,
    progress: bool = False,
) -> Solution:
    """Minimizes several objectives at once; the answer is a surface, a Bézier simplex on the Pareto set.

    Args:
        objectives: a JAX function x -> (M,), or a problem from `bezierflow.problems`.
        x0: where to start: an array, a pytree of arrays, or a surface (warm start).
        method: "auto"; a single-objective method, which is lifted; or a flow made by `lift`.
        degree: the degree of the surface; "auto" leaves it to the method. A flow brings its own.
        n_iterations: how many iterations at most. If given without `tol`, exactly that many are made.
        tol: stop when an iteration changes the surface by less than this, relative to its diameter.
        seed: the same seed gives the same result, bit for bit.
        callback: called with an `Iteration` after each one; returns True to stop. Costs a trip to Python an iteration.
        progress: show a progress bar.
    """
    began = time.perf_counter()
    with double_precision():
        x0 = check_x0(x0)
        x = jax.tree.map(lambda leaf: leaf[0], x0.control_points) if isinstance(x0, BezierSimplex) else x0
        n_objectives = check_objectives(objectives, x)
        raveling = Raveling.of(x)
        flat_objectives = objectives if raveling.is_vector else Raveled(objectives, raveling)
        flow = _choose_flow(method, degree, x0).for_objectives(n_objectives)
        surface = _initial_surface(x0, raveling, n_objectives, flow.degree)
        n_iterations, tol = _limits(n_iterations, tol)

        run = runs.start(flow, surface, np.asarray(seed), n_iterations)
        run, reason = _drive(flow, flat_objectives, run, raveling, n_iterations, tol, callback, progress)
        names = getattr(objectives, "names", Names()).complete(n_objectives, raveling.n_variables)
        result = _explain(flow, flat_objectives, run, reason, n_iterations, tol, names)
        healthy = reason not in (Reason.DIVERGED, Reason.NON_FINITE)
        control_points = on_host(run.state.surface.control_points if healthy else run.good)
    made = run.iteration
    return Solution(
        pareto_set=BezierSimplex(raveling.unravel(control_points), n_objectives, flow.degree),
        objectives=objectives,
        names=names,
        result=result,
        stats=Stats(Evaluations(*np.asarray(run.evaluations).tolist()), made, time.perf_counter() - began),
        history={"movement": on_host(run.movement)[:made], "residual": on_host(run.residual)[:made]},
        made_by=_provenance(flow, n_iterations, tol, seed),
        raveling=raveling,
        origin=Origin(flow, surface.on_host(), seed),
    )


def _choose_flow(method: Any, degree: Literal["auto"] | int, x0: PyTree) -> Flow:
    """The flow to run: the user's own, or their method lifted."""
    if isinstance(method, Flow):
        if degree not in ("auto", method.degree):
            raise ValueError(f"degree={degree!r} disagrees with the flow's own degree {method.degree}; give it to lift()")
        return method
    if degree == "auto":
        degree = max(3, x0.degree) if isinstance(x0, BezierSimplex) else 3
    if isinstance(method, str):
        if method != "auto":
            raise ValueError(f'method must be "auto", a single-objective method such as Newton(), or a flow, got {method!r}')
        method = Newton()
    return lift(method, degree)


def _initial_surface(x0: PyTree, raveling: Raveling, n_objectives: int, degree: int) -> BezierSimplex:
    """P^(1): every control point x0, or the given surface, elevated to the flow's degree."""
    if not isinstance(x0, BezierSimplex):
        return BezierSimplex.constant(raveling.ravel(x0), n_objectives, degree)
    if x0.n_objectives != n_objectives:
        raise ValueError(f"x0 is a surface over {x0.n_objectives} objectives, but objectives returns {n_objectives}")
    if x0.degree > degree:
        raise ValueError(f"x0 is a surface of degree {x0.degree}, above the flow's {degree}; choose degree={x0.degree}")
    elevated = x0.elevate(degree)
    return BezierSimplex(raveling.ravel(elevated.control_points, batch_axes=1), n_objectives, degree)


def _limits(n_iterations: int | None, tol: float | None) -> tuple[int, float]:
    if tol is None:
        tol = DEFAULT_TOL if n_iterations is None else 0.0
    n_iterations = DEFAULT_ITERATIONS if n_iterations is None else n_iterations
    if int(n_iterations) != n_iterations or n_iterations < 1:
        raise ValueError(f"n_iterations must be a whole number of at least 1, got {n_iterations!r}")
    if not tol >= 0:
        raise ValueError(f"tol must be at least 0, got {tol!r}")
    return int(n_iterations), float(tol)


def _drive(flow, objectives, run, raveling, n_iterations, tol, callback, progress) -> tuple[runs.Run, Reason]:
    """The run driven to its end, and why it ended."""
    latest = run

    def iteration(run: runs.Run) -> Iteration:
        surface = BezierSimplex(
            raveling.unravel(on_host(run.state.surface.control_points)), run.state.surface.n_objectives, flow.degree
        )
        movement, residual = (float(np.asarray(record)[run.iteration - 1]) for record in (run.movement, run.residual))
        return Iteration(run.iteration, surface, movement, residual, Evaluations(*np.asarray(run.evaluations).tolist()))

    with progress_bar(progress, n_iterations, "flow") as update:

        def on_pulse(run: runs.Run) -> bool:
            nonlocal latest
            latest = run
            update(run.iteration, f"moved {np.asarray(run.movement)[max(run.iteration - 1, 0)]:.2e}")
            return callback is not None and bool(callback(iteration(run)))

        try:
            run, stopped = runs.drive(flow, objectives, run, n_iterations, tol, on_pulse, callback is not None)
        except KeyboardInterrupt:
            return latest, Reason.INTERRUPTED
    if stopped:
        return run, Reason.STOPPED
    reasons = {runs.CONVERGED: Reason.CONVERGED, runs.DIVERGED: Reason.DIVERGED, runs.NON_FINITE: Reason.NON_FINITE}
    return run, reasons.get(int(run.status), Reason.ITERATION_LIMIT)


def _explain(
    flow: Flow, objectives: Objectives, run: runs.Run, reason: Reason, n_iterations: int, tol: float, names: Names
) -> Result:
    k = run.iteration
    kept = "the calmest surface before that is returned"
    messages = {
        Reason.CONVERGED: f"after {k} iterations the surface changes by less than {tol:g} of its diameter an iteration",
        Reason.ITERATION_LIMIT: f"all {n_iterations} iterations were made; solution.error tells whether they were enough",
        Reason.STOPPED: f"the callback returned True after iteration {k}; the surface at that point is returned",
        Reason.INTERRUPTED: f"interrupted after iteration {k}; the surface at that point is returned",
        Reason.DIVERGED: f"in iteration {k} the surface outgrew {runs.BLOW_UP:g} times its start; {kept}. "
        "Take a smaller step_size, or a method that scales its own steps such as Newton()",
    }
    if reason is Reason.NON_FINITE:
        return Result(reason, f"{_locate_non_finite(flow, objectives, run, names)}; {kept}")
    return Result(reason, messages[reason])


def _locate_non_finite(flow: Flow, objectives: Objectives, run: runs.Run, names: Names) -> str:
    """Where the failed iteration met a value that is not finite: the same draw of t is made again and looked at."""
    state = run.state
    _, draw = jax.random.split(state.key)
    t, _ = flow.sampler(draw, state.surface.n_objectives)  # type: ignore[misc]
    x = state.surface(t)
    values, slopes = jax.vmap(objectives)(x), jax.vmap(jax.jacobian(objectives))(x)
    when = f"in iteration {int(state.k)}"
    for what, array in (("", np.asarray(values)), ("the gradient of ", np.asarray(slopes))):
        bad = ~np.isfinite(array).reshape(len(t), len(names.objectives), -1).all(axis=-1)
        if bad.any():
            n, m = np.argwhere(bad)[0]
            found = np.asarray(array[n, m]).tolist()
            return (
                f"{what}{names.objectives[m]} was {found} at x={np.asarray(x[n]).tolist()}, t={np.asarray(t[n]).tolist()}, {when}"
            )
    return f"the method moved a point to a place that is not finite {when}, though objectives and gradients were finite there"


def _provenance(flow: Flow, n_iterations: int, tol: float, seed: int) -> dict[str, Any]:
    parts = {name: repr(getattr(flow, name)) for name in ("method", "sampler", "scalarization", "refit")}
    return {**parts, "degree": flow.degree, "n_iterations": n_iterations, "tol": tol, "seed": seed, "parametrization": "weights"}
