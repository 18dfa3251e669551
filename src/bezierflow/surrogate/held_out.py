"""Predictions before evaluations, and what became of them: the only error of a surrogate that it
cannot flatter."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ..runs import Record

N_RECENT = 6
"""The error is that of so many evaluations on the surface at most, the last ones, of two batches of
4: earlier surrogates knew less."""

LEAST = 3
"""With fewer held-out evaluations than this nothing is said about the error."""

CALM = 3
"""So many batches in a row must be within the tolerance."""


class Miss(NamedTuple):
    """A prediction that was put to the test: value minus mean, and the standard deviation that was
    predicted, noise included."""

    error: list[float]
    std: list[float]


class Round(NamedTuple):
    """What was known when a batch was asked for: evaluations so far, held-out error and uncertainty
    in units of ranges."""

    n: int
    error: float
    uncertainty: float


@dataclass(frozen=True)
class HeldOut:
    """Predictions of points that are being evaluated, and the misses of those that were.

    Attributes:
        open: mean and standard deviation of each pending point on the surface, by its number.
        misses: the last `N_RECENT`.
        rounds: one for each batch.
    """

    open: dict[int, tuple[list[float], list[float]]] = field(default_factory=dict)
    misses: tuple[Miss, ...] = ()
    rounds: tuple[Round, ...] = ()

    def predicted(self, number: int, mean: np.ndarray, std: np.ndarray) -> "HeldOut":
        """With the prediction of a point that is asked for now."""
        return replace(self, open={**self.open, number: (mean.tolist(), std.tolist())})

    def told(self, number: int | None, y: Float[np.ndarray, " n_objectives"]) -> "HeldOut":
        """With what became of a prediction, if there was one; a failed evaluation says nothing."""
        if number is None or number not in self.open:
            return self
        mean, std = self.open[number]
        rest = {key: value for key, value in self.open.items() if key != number}
        if not np.isfinite(y).all():
            return replace(self, open=rest)
        return replace(
            self, open=rest, misses=(*self.misses, Miss((y - mean).tolist(), std))[-N_RECENT:]
        )

    @property
    def errors(self) -> Float[np.ndarray, "n n_objectives"] | None:
        """The last held-out errors, value minus prediction; None where there are too few."""
        return np.array([miss.error for miss in self.misses]) if len(self.misses) >= LEAST else None

    @property
    def calibration(self) -> float:
        """By what standard deviations must be multiplied for the errors to agree with them; at
        least 1."""
        if len(self.misses) < LEAST:
            return 1.0
        error, std = (
            np.array([miss.error for miss in self.misses]),
            np.array([miss.std for miss in self.misses]),
        )
        return max(
            1.0, float(np.sqrt(np.mean((error / np.maximum(std, np.finfo(float).tiny)) ** 2)))
        )

    def relative_error(self, span: np.ndarray, noise: np.ndarray) -> float:
        """The RMS of held-out errors in units of ranges, what noise explains of it taken off; not a
        number where unknown."""
        errors = self.errors
        if errors is None:
            return float("nan")
        squares = np.maximum(np.mean(errors**2, axis=0) - noise**2, 0.0) / span**2
        return float(np.sqrt(np.mean(squares)))

    def noted(
        self, n: int, span: np.ndarray, noise: np.ndarray, uncertainty: float, batch: int
    ) -> "HeldOut":
        """With a round, if a batch of evaluations was told since the last one."""
        if self.rounds and n < self.rounds[-1].n + batch:
            return self
        new = Round(n, self.relative_error(span, noise), self.calibration * uncertainty)
        return replace(self, rounds=(*self.rounds, new))

    def calm(self, tol: float) -> bool:
        """Whether error and uncertainty were within the tolerance for the last batches."""
        last = self.rounds[-CALM:]
        return len(last) == CALM and all(
            round.error <= tol and round.uncertainty <= tol for round in last
        )

    def to_dict(self) -> Record:
        """Ready for JSON, which has no number for what is unknown."""
        rounds = [
            [n, None if np.isnan(error) else error, uncertainty]
            for n, error, uncertainty in self.rounds
        ]
        opened = [[number, mean, std] for number, (mean, std) in self.open.items()]
        return {"open": opened, "misses": [list(miss) for miss in self.misses], "rounds": rounds}

    @classmethod
    def from_dict(cls, data: Record) -> "HeldOut":
        """What `to_dict` gave, back again."""
        rounds = tuple(
            Round(n, float("nan") if error is None else error, spread)
            for n, error, spread in data["rounds"]
        )
        opened = {int(number): (list(mean), list(std)) for number, mean, std in data["open"]}
        return cls(
            opened, tuple(Miss(list(error), list(std)) for error, std in data["misses"]), rounds
        )
