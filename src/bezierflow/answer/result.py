"""Why a run stopped, in words a person can act on, what it cost, and what its answer is worth: its
claim against the error estimate."""

import enum
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float, PyTree

from ..bezier import BezierSimplex
from ..evaluations import Evaluations
from ..kinds import kind
from ..names import Names, decode
from ..objectives import Calls, FlatObjectives, JaxEvaluator, Raveled
from ..precision import ROUNDING, double_precision
from .error import ErrorEstimate, Flag, by_cause
from .schedule import SCHEDULE


@kind("answer.reason/1")
class Reason(enum.Enum):
    """Why a run stopped."""

    CONVERGED = "converged"
    COMPLETED = "completed"
    ITERATION_LIMIT = "iteration limit"
    TIME_LIMIT = "time limit"
    DIVERGED = "diverged"
    NON_FINITE = "non-finite objective"
    STOPPED = "stopped by callback"
    INTERRUPTED = "interrupted"
    NOT_AT_TOLERANCE = "not at tolerance"
    LOCAL = "local"
    SUSPECT = "suspect"
    OUT_OF_BATCHES = "out of batches"


@dataclass(frozen=True)
class Result:
    """How a run ended, in words a person can act on.

    Attributes:
        reason: why it stopped.
        claim: what the answer is worth, or what is wrong and what to do about it; empty where the
            details say all there is.
        details: notes on how that is known, and on what was met on the way.
    """

    reason: Reason
    claim: str
    details: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """The claim, and then the details."""
        notes = "; ".join(self.details)
        if not (self.claim and notes):
            return self.claim or notes
        lead = "Details" if self.success or self.reason is Reason.NOT_AT_TOLERANCE else "So far"
        lead = "Result so far, not certified" if self.doubtful else lead
        return f"{self.claim.rstrip('.')}. {lead}: {notes}"

    def noted(self, *notes: str | None) -> "Result":
        """The same with more details; empty ones are none."""
        return replace(self, details=(*self.details, *(note for note in notes if note)))

    def doubted(self, why: str) -> "Result":
        """The same, suspect: why takes the place of its claim."""
        return Result(Reason.SUSPECT, why, self.details or (self.claim,))

    @property
    def success(self) -> bool:
        """Whether the answer can be used as it is: the run converged, or made exactly the
        iterations that its user asked for, in good health.

        A local one was not held against enough designs elsewhere to say that nothing is better. A
        surface that is not at tolerance may well be good enough (`solution.error` says how good);
        a suspect one should not be used before its message is read.
        """
        return self.reason in (Reason.CONVERGED, Reason.COMPLETED)

    @property
    def doubtful(self) -> bool:
        """Whether the surface may be wrong, and not only less exact than asked: read the message
        before you use it."""
        return self.reason in (Reason.SUSPECT, Reason.DIVERGED, Reason.NON_FINITE)

    @property
    def caution(self) -> str:
        """What a picture or a page says above everything else: nothing, unless the result is
        doubtful."""
        return f"Do not trust this without reading why: {self}" if self.doubtful else ""

    def __str__(self) -> str:
        return f"{self.reason.value}: {self.message}"


@dataclass(frozen=True)
class Stats:
    """What a run cost.

    Attributes:
        evaluations: until the solution was returned: all calls of a function on the host, or the
            points at which JAX evaluated it.
        iterations: of the flow that found the answer.
        seconds: of the whole run.
        calls: of a function on the host, by purpose; those for later questions to the solution are
            added to it. None for other functions.
    """

    evaluations: Evaluations
    iterations: int
    seconds: float
    calls: Calls | None = field(default=None, compare=False)


@kind("answer.evaluated/1")
class Evaluated(NamedTuple):
    """Designs that were evaluated, in the order in which their values came.

    Attributes:
        X: the designs, shaped like x0 with an axis in front.
        F: their objective values, one design a row.
        nondominated: which of them no other one dominates.
    """

    X: PyTree
    F: Float[np.ndarray, "n n_objectives"]
    nondominated: Bool[np.ndarray, " n"]


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
    coverage = "" if error.coverage is None else f", of which {error.coverage:.1%} are confirmed"
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
