"""What a run's answer is worth, whichever flow made it: its claim against the error estimate."""

import jax
import numpy as np

from ..bezier import BezierSimplex
from ..names import Names, decode
from ..objectives import FlatObjectives, JaxEvaluator, Raveled
from ..precision import ROUNDING, double_precision
from .error import ErrorEstimate, Flag, by_cause
from .result import Reason, Result
from .schedule import SCHEDULE

SUSPECT_FLAGS = (
    Flag.CORNERS_MISSED,
    Flag.NOT_CONVERGED,
    Flag.NOT_SIMPLICIAL,
    Flag.MINIMIZER_NOT_UNIQUE,
    Flag.WEAKLY_PARETO_VERTEX,
    Flag.FEW_VARIABLES,
    Flag.WRONG_BRANCH,
    Flag.BETTER_ELSEWHERE,
    Flag.ESTIMATE_INVALID,
)
"""Flags that make a surface suspect however small its estimated error: the estimate itself rests on
what they deny."""


def judge(note: str, error: ErrorEstimate | None) -> Result:
    """What the surface of a run that ended by itself is worth: what the run notes about its end
    must stand the estimate."""
    if error is None:
        return Result(Reason.CONVERGED, note, (describe(error),))
    flags, details = error.flags, (note, describe(error))
    advice = "; ".join(flag.value for flag in by_cause(flags))
    nothing_known = Flag.BUDGET_SPENT in flags and not error.n_samples
    if nothing_known or any(flag in SUSPECT_FLAGS for flag in flags):
        return Result(Reason.SUSPECT, advice, details)
    claim = _claim(error)
    if Flag.NOT_AT_TOLERANCE in flags or Flag.BUDGET_SPENT in flags:
        claim = ". ".join(filter(None, (claim, advice[:1].upper() + advice[1:])))
        return Result(Reason.NOT_AT_TOLERANCE, claim, details)
    return Result(Reason.CONVERGED, claim, details)


def _claim(error: ErrorEstimate) -> str:
    """What was found, in a sentence; empty where the error of values is not known."""
    off = error.front
    if off is None or not np.isfinite(off):
        return ""
    if off > SCHEDULE.exact:
        return f"The front was found up to {off:.1g} of the objectives' ranges"
    exact = f"{off:.1g} of their ranges" if off > ROUNDING else "rounding"
    return f"The whole front was found; objectives are exact to {exact}"


def describe(error: ErrorEstimate | None) -> str:
    """The estimate in words."""
    if error is None:
        return "solution.error estimates its distance to the Pareto set"
    if not error.n_samples:
        return "its distance to the Pareto set was not estimated"
    front = "" if error.front is None else f", or {error.front:.2g} of the objectives' ranges"
    coverage = "" if error.coverage is None else f", of which {error.coverage:.1%} are certified"
    return (
        f"the estimated distance to the Pareto set is {error.rms:.2g} rms and {error.max:.2g} at"
        f" most{front}, over {error.n_samples} held-out t{coverage}, on a set of diameter"
        f" {error.diameter:.3g}"
    )


def why_not_verified(objectives: FlatObjectives, surface: BezierSimplex) -> str:
    """Why no error estimate verifies a claim; empty where one can be made and there are no
    kinks."""
    if hasattr(objectives.objectives if isinstance(objectives, Raveled) else objectives, "prox"):
        return "the objectives have kinks"
    return why_not_estimated(objectives, surface)


def why_not_estimated(objectives: FlatObjectives, surface: BezierSimplex) -> str:
    """Why no error estimate is made unasked; empty where it is affordable and JAX can form the
    Hessians it takes."""
    if surface.n_objectives * surface.n_variables**2 > SCHEDULE.most_hessian_numbers:
        return f"the Hessians of {surface.n_variables} variables are too large"
    # Shapes alone tell whether JAX can differentiate twice: nothing is computed.
    try:
        with double_precision():
            x = jax.ShapeDtypeStruct((surface.n_variables,), np.float64)
            jax.eval_shape(jax.jacfwd(jax.jacrev(lambda x: objectives(x))), x)
    except (TypeError, ValueError, NotImplementedError) as error:
        return f"the objectives have no Hessians ({type(error).__name__})"
    return ""


def locate_non_finite(
    objectives: FlatObjectives, surface: BezierSimplex, t: np.ndarray, names: Names
) -> str:
    """Which objective or gradient is not finite at the points b(t) of a surface, and where."""
    seen = JaxEvaluator(objectives, surface.n_objectives, surface.n_variables).jacobians(
        np.asarray(surface(t))
    )
    for what, array in (("", seen.values), ("the gradient of ", seen.gradients)):
        bad = ~np.isfinite(array).reshape(len(t), len(names.objectives), -1).all(axis=-1)
        if bad.any():
            n, m = np.argwhere(bad)[0]
            value, x = names.signs[m] * array[n, m], decode(seen.points[n], names.transforms)
            return (
                f"{what}{names.objectives[m]} was {value.tolist()} at x={np.asarray(x).tolist()},"
                f" t={t[n].tolist()}"
            )
    return (
        "the method moved a point to a place that is not finite, though objectives and gradients"
        " were finite there"
    )
