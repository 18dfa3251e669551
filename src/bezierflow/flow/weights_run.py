"""Solve, then fit: the surface b(t) = argmin Σ t_m f_m, from weighted problems solved at near-optimal nodes."""

from dataclasses import asdict, dataclass

import numpy as np

from ..bezier import BezierSimplex, fit
from ..methods import Evaluations
from ..normal import BudgetSpentError, Evaluator, Flag, NormalFlow, descend, estimate_error, largest_degree, start_descent
from ..simplex import quadrature_nodes
from .lift import Objectives
from .normal_run import explain, with_flags
from .outcome import Callback, Iteration, Outcome
from .progress import progress_bar
from .raveling import Raveling
from .result import Reason

FIRST_DEGREE = 2
"""Where the ladder of degrees starts; degree 1 says nothing about the interior."""

STALLED = 0.9
"""The ladder ends where a degree leaves more than this share of the error of the one before: the set is not smooth enough."""


@dataclass(frozen=True)
class Rung:
    """A surface of one degree, and how far the one below it was from the minimizers at nodes it had never seen."""

    surface: BezierSimplex
    miss: float
    diameter: float
    all_found: bool


def run_weights(
    flow: NormalFlow,
    objectives: Objectives,
    start: np.ndarray,
    n_objectives: int,
    raveling: Raveling,
    *,
    n_iterations: int | None,
    seed: int,
    callback: Callback | None,
    progress: bool,
) -> Outcome:
    """Solves Σ t_m f_m at the nodes of each degree, warm-started from the surface below, and fits once a degree.

    The first look at the nodes of a degree measures the surface below it at t that it never saw: the degree grows while that
    asks for it.
    """
    n_variables = start.shape[-1]
    count = Evaluator(objectives, n_objectives, n_variables, flow.budget)
    corners = np.broadcast_to(start, (n_objectives, n_variables))
    surface = BezierSimplex(np.array(corners), n_objectives, 1)
    limit = flow.max_degree or largest_degree(n_objectives)
    degrees = [flow.degree] if isinstance(flow.degree, int) else list(range(min(FIRST_DEGREE, limit), limit + 1))
    history: list[float] = []
    reason, flags = None, ()
    with progress_bar(progress, len(degrees), "weighted problems") as update:
        try:
            for degree in degrees[:n_iterations]:
                rung = _climb(count, surface, degree)
                surface, flags = rung.surface, () if rung.all_found else (Flag.NOT_CONVERGED,)
                history.append(rung.miss)
                update(len(history), f"degree {degree}, missed by {rung.miss:.1e}")
                seen = BezierSimplex(raveling.unravel(surface.control_points), n_objectives, degree)
                if callback is not None and callback(
                    Iteration(len(history), seen, rung.miss, float("nan"), Evaluations(**count.counts))
                ):
                    reason = Reason.STOPPED
                    break
                stalled = len(history) > 3 and history[-1] > STALLED * history[-2] > STALLED**2 * history[-3]
                if len(history) > 1 and (rung.miss <= flow.tol * rung.diameter or stalled):
                    break
        except BudgetSpentError:
            flags = (Flag.BUDGET_SPENT,)
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
    error = with_flags(estimate_error(objectives, surface, seed, tol=flow.tol), flags)
    return Outcome(
        surface=surface,
        result=explain(reason, error, flow.tol, len(history)),
        evaluations=Evaluations(**count.counts),
        iterations=len(history),
        history={"movement": np.array(history)},
        made_by={"method": "auto", **asdict(flow), "seed": seed, "parametrization": "weights"},
        error=error,
    )


def _climb(count: Evaluator, below: BezierSimplex, degree: int) -> Rung:
    nodes = quadrature_nodes(below.n_objectives, degree)
    x = np.asarray(below(nodes.t))
    descent = start_descent(nodes.t, x)
    while descent.active.any():
        descent = descend(count, descent)
    surface = fit(nodes.t, descent.x, degree, weights=nodes.weights)
    miss = float(np.linalg.norm(descent.x - x, axis=1).max())
    diameter = float(np.linalg.norm(np.ptp(descent.x, axis=0)))
    return Rung(surface, miss, diameter, bool(descent.converged.all()))
