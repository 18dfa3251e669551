"""Why a run stopped, in words a person can act on, and what it cost."""

import enum
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, PyTree

from ..evaluations import Evaluations
from ..kinds import kind
from ..objectives import Calls


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
