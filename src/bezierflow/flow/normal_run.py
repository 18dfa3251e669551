"""A run of the normal flow: step by step, watched, with the error of what it found estimated at t it never saw."""

from collections.abc import Callable
from dataclasses import asdict

import numpy as np

from ..bezier import BezierSimplex
from ..methods import Evaluations
from ..normal import ErrorEstimate, Flag, NormalFlow, NormalState, estimate_error
from .lift import Objectives
from .outcome import Callback, Iteration, Outcome
from .progress import progress_bar
from .raveling import Raveling
from .result import Reason, Result

SUSPECT_FLAGS = (
    Flag.NOT_SIMPLICIAL,
    Flag.NOT_CONVERGED,
    Flag.MINIMIZER_NOT_UNIQUE,
    Flag.WRONG_BRANCH,
    Flag.WEAKLY_PARETO_VERTEX,
    Flag.FEW_VARIABLES,
    Flag.ESTIMATE_INVALID,
)
"""Flags that make a surface suspect however small its estimated error: the estimate itself rests on what they deny."""


def run_normal(
    flow: NormalFlow,
    objectives: Objectives,
    start: np.ndarray,
    raveling: Raveling,
    *,
    n_iterations: int | None,
    seed: int,
    callback: Callback | None,
    progress: bool,
) -> Outcome:
    """Runs the normal flow from one point (L,) or from one for each objective (M, L)."""
    state = flow.init(objectives, start)
    history: list[float] = []
    reason = None
    with progress_bar(progress, None, "normal flow") as update:
        try:
            while not state.done and (n_iterations is None or len(history) < n_iterations):
                state, info = flow.step(state)
                history.append(info.error)
                update(len(history), f"{info.stage.value}, degree {info.degree}, error {info.error:.1e}")
                if callback is not None and callback(_iteration(state, raveling, len(history))):
                    reason = Reason.STOPPED
                    break
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
    if reason is None and not state.done:
        reason = Reason.ITERATION_LIMIT
    error = estimate_error(objectives, state.surface, seed, tol=flow.tol, evaluations=state.evaluations.successor())
    error = with_flags(error, state.flags)
    return Outcome(
        surface=state.surface,
        result=explain(reason, error, flow.tol, len(history)),
        evaluations=_counts(state),
        iterations=len(history),
        history={"movement": np.array(history)},
        made_by={"method": "auto", **asdict(flow), "seed": seed, "parametrization": "free"},
        error=error,
    )


def _counts(state: NormalState) -> Evaluations:
    return Evaluations(**state.evaluations.counts)


def _iteration(state: NormalState, raveling: Raveling, number: int) -> Iteration:
    surface = BezierSimplex(raveling.unravel(state.surface.control_points), state.surface.n_objectives, state.surface.degree)
    return Iteration(number, surface, state.error, float("nan"), _counts(state))


def with_flags(error: ErrorEstimate, flags: tuple[Flag, ...]) -> ErrorEstimate:
    """The estimate with what the run itself found added, each flag once."""
    fields = {name: getattr(error, name) for name in error.__dataclass_fields__}
    return ErrorEstimate(**{**fields, "flags": tuple(dict.fromkeys((*error.flags, *flags)))})


def explain(reason: Reason | None, error: ErrorEstimate, tol: float, steps: int) -> Result:
    """Why a run of `method="auto"` ended, and what its surface is worth."""
    measured = (
        f"the estimated distance to the Pareto set is {error.rms:.2g} rms and {error.max:.2g} at most, "
        f"over {error.n_samples} held-out t on a set of diameter {error.diameter:.3g}"
    )
    advice = "; ".join(flag.value for flag in error.flags)
    stopped: dict[Reason, Callable[[], str]] = {
        Reason.STOPPED: lambda: f"the callback returned True after step {steps}; {measured}",
        Reason.INTERRUPTED: lambda: f"interrupted after step {steps}; {measured}",
        Reason.ITERATION_LIMIT: lambda: f"all {steps} steps allowed were made; {measured}",
    }
    if reason in stopped:
        return Result(reason, stopped[reason]())
    if any(flag in SUSPECT_FLAGS for flag in error.flags):
        return Result(Reason.SUSPECT, f"{advice}. For what it is worth: {measured}")
    if error.relative > tol:
        return Result(Reason.NOT_AT_TOLERANCE, f"{measured}, more than tol={tol:g} of it; {advice}")
    return Result(Reason.CONVERGED, measured)
