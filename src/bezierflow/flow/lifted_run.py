"""A run of a lifted method: the compiled loop, watched, and its end explained."""

from typing import Any

import jax
import numpy as np

from ..bezier import BezierSimplex
from ..methods import Evaluations
from ..precision import on_host
from ..problems import Names
from . import run as runs
from .lift import Flow, Objectives
from .outcome import Callback, Iteration, Outcome
from .progress import progress_bar
from .raveling import Raveling
from .result import Reason, Result

DEFAULT_ITERATIONS = 1000
"""K where neither n_iterations nor the flow says: the paper's."""

DEFAULT_TOL = 1e-8
"""The change of a surface, relative to its diameter, below which a flow without an iteration count of its own stops."""


def run_lifted(
    flow: Flow,
    objectives: Objectives,
    surface: BezierSimplex,
    raveling: Raveling,
    names: Names,
    *,
    n_iterations: int | None,
    tol: float | None,
    seed: int,
    callback: Callback | None,
    progress: bool,
) -> Outcome:
    """Runs M(A) from a surface with flat control points."""
    n_iterations, tol = _limits(n_iterations, tol)
    run = runs.start(flow, surface, np.asarray(seed), n_iterations)
    run, reason = _drive(flow, objectives, run, raveling, n_iterations, tol, callback, progress)
    healthy = reason not in (Reason.DIVERGED, Reason.NON_FINITE)
    control_points = on_host(run.state.surface.control_points if healthy else run.good)
    made = run.iteration
    return Outcome(
        surface=BezierSimplex(control_points, surface.n_objectives, flow.degree),
        result=_explain(flow, objectives, run, reason, n_iterations, tol, names),
        evaluations=Evaluations(*np.asarray(run.evaluations).tolist()),
        iterations=made,
        history={"movement": on_host(run.movement)[:made], "residual": on_host(run.residual)[:made]},
        made_by=_provenance(flow, n_iterations, tol, seed),
    )


def _limits(n_iterations: int | None, tol: float | None) -> tuple[int, float]:
    if tol is None:
        tol = DEFAULT_TOL if n_iterations is None else 0.0
    n_iterations = DEFAULT_ITERATIONS if n_iterations is None else n_iterations
    if int(n_iterations) != n_iterations or n_iterations < 1:
        raise ValueError(f"n_iterations must be a whole number of at least 1, got {n_iterations!r}")
    return int(n_iterations), float(tol)


def _drive(
    flow: Flow,
    objectives: Objectives,
    run: runs.Run,
    raveling: Raveling,
    n_iterations: int,
    tol: float,
    callback: Callback | None,
    progress: bool,
) -> tuple[runs.Run, Reason]:
    """The run driven to its end, and why it ended."""
    latest = run

    def iteration(run: runs.Run) -> Iteration:
        control_points = raveling.unravel(on_host(run.state.surface.control_points))
        movement, residual = (float(np.asarray(record)[run.iteration - 1]) for record in (run.movement, run.residual))
        return Iteration(
            run.iteration,
            BezierSimplex(control_points, run.state.surface.n_objectives, flow.degree),
            movement,
            residual,
            Evaluations(*np.asarray(run.evaluations).tolist()),
        )

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
    t, _ = flow.draw(state.key, state.k, state.surface.n_objectives)
    x = state.surface(t)
    values, slopes = jax.vmap(objectives)(x), jax.vmap(jax.jacobian(objectives))(x)
    when = f"in iteration {int(state.k)}"
    for what, array in (("", np.asarray(values)), ("the gradient of ", np.asarray(slopes))):
        bad = ~np.isfinite(array).reshape(len(t), len(names.objectives), -1).all(axis=-1)
        if bad.any():
            n, m = np.argwhere(bad)[0]
            found = np.asarray(array[n, m]).tolist()
            where = f"x={np.asarray(x[n]).tolist()}, t={np.asarray(t[n]).tolist()}"
            return f"{what}{names.objectives[m]} was {found} at {where}, {when}"
    return f"the method moved a point to a place that is not finite {when}, though objectives and gradients were finite there"


def _provenance(flow: Flow, n_iterations: int, tol: float, seed: int) -> dict[str, Any]:
    parts = {name: repr(getattr(flow, name)) for name in ("method", "sampler", "scalarization", "refit")}
    return {**parts, "n_iterations": n_iterations, "tol": tol, "seed": seed, "parametrization": "weights"}
