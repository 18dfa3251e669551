"""What a design must keep that only an evaluation tells: that it succeeds, and constraints. Each is
a process that is above 0 where designs are feasible."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from ..arguments import of_design
from ..gaussian import Numbers, Posterior, means, stds
from ..objectives import read_constraints
from .schedule import SCHEDULE


class Gate(NamedTuple):
    """Processes that are above 0 where designs are feasible.

    Attributes:
        posterior: of them: 1 where evaluations succeeded and −1 where they failed; or constraints
            with their signs changed.
        level: what designs and the surface keep to: the mean is at least this.
        unit: in which a shortfall is measured.
    """

    posterior: Posterior
    level: Float[Numbers, " n_rows"]
    unit: Float[Numbers, " n_rows"]

    @classmethod
    def of_success(cls, posterior: Posterior) -> "Gate":
        """That of the process of success."""
        return cls(posterior, np.full(1, SCHEDULE.assured), np.ones(1))

    @classmethod
    def of_constraints(cls, posterior: Posterior) -> "Gate":
        """That of constraints: the surface ends where they are expected to be 0."""
        unit = np.asarray(posterior.scale)
        return cls(posterior, np.zeros_like(unit), unit)


Gates = tuple[Gate, ...]
"""All that a design must keep; empty where it may be anything."""


def shortfall(gates: Gates, u: Float[np.ndarray, "*batch n_free"]) -> Float[np.ndarray, "*batch"]:
    """By how much gates are expected below their levels; 0 where none is."""
    total, rows = np.zeros(u.shape[:-1]), u.reshape(-1, u.shape[-1])
    for posterior, level, unit in gates:
        short = np.maximum((level - means(posterior, rows)) / unit, 0.0).sum(axis=1)
        total += short.reshape(u.shape[:-1])
    return total


def chance(gates: Gates, u: Float[np.ndarray, "n n_free"]) -> Float[np.ndarray, " n"]:
    """The probability that designs are feasible, gates being independent."""
    from scipy.special import ndtr

    found = np.ones(len(u))
    for posterior, _, _ in gates:
        noise = np.asarray(posterior.scale) * np.sqrt(np.asarray(posterior.nugget))
        sure = np.maximum(np.hypot(stds(posterior, u), noise), np.finfo(float).tiny)
        found *= ndtr(means(posterior, u) / sure).prod(axis=1)
    return found


@dataclass(frozen=True)
class Limits:
    """The rows of one constraint, at most 0 where it holds, evaluated with the objectives.

    Attributes:
        function: of a design in the user's form; None for a linear one.
        matrix: of a linear one, on the flat vector.
        lower: −inf where there is no lower side.
        upper: +inf where there is no upper side.
    """

    function: Callable[..., Any] | None
    matrix: np.ndarray | None
    lower: np.ndarray
    upper: np.ndarray

    @property
    def n_rows(self) -> int:
        """How many sides there are."""
        return int(np.isfinite(self.lower).sum() + np.isfinite(self.upper).sum())

    def __call__(self, design: Any, flat: np.ndarray) -> Float[np.ndarray, " n_rows"]:
        """What each side is exceeded by."""
        value = self.matrix @ flat if self.function is None else of_design(self.function, design)
        value = np.asarray(value, dtype=float).ravel()
        if value.shape != self.lower.shape:
            raise ValueError(
                f"constraints must have {len(self.lower)} value(s), got {len(value)}: give a"
                " function per constraint, or a NonlinearConstraint with as many sides"
            )
        low, high = np.isfinite(self.lower), np.isfinite(self.upper)
        return np.concatenate([(self.lower - value)[low], (value - self.upper)[high]])


def read_limits(constraints: object) -> tuple[Limits, ...]:
    """Constraints as `minimize` takes them, to be evaluated with the objectives, or an error in one
    line."""
    found = []
    for one in read_constraints(constraints):
        rows = np.zeros(1 if one.matrix is None else len(one.matrix))
        lower, upper = (rows + np.asarray(side, dtype=float) for side in (one.lower, one.upper))
        if (lower == upper).any():
            raise ValueError(
                "constraints must be inequalities with a Surrogate, got one with equal sides: solve"
                " it for a variable"
            )
        found.append(Limits(one.function, one.matrix, *np.broadcast_arrays(lower, upper)))
    return tuple(found)
