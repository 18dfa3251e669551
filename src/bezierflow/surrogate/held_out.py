"""Held-out errors: predictions recorded before their evaluation; and what is wrong with values."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from ..answer import ErrorEstimate
from ..names import Names
from ..precision import ROUNDING
from ..runs import Record
from .schedule import SCHEDULE


class Round(NamedTuple):
    """Held-out error and uncertainty, in units of ranges, after n evaluations."""

    n: int
    error: float
    uncertainty: float


@dataclass
class HeldOut:
    """Predictions of pending points on the surface, and the errors of those that were evaluated.

    Attributes:
        open: mean and standard deviation predicted for each pending point, by its number.
        misses: of the last evaluations, by number: mean and standard deviation predicted, noise
            included, and value minus mean.
        rounds: one per batch.
    """

    open: dict[int, tuple[list[float], list[float]]] = field(default_factory=dict)
    misses: dict[int, tuple[list[float], list[float], list[float]]] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)

    def predict(self, number: int, mean: np.ndarray, std: np.ndarray) -> None:
        """Records the prediction of a point that is asked for now."""
        self.open[number] = mean.tolist(), std.tolist()

    def tell(self, number: int | str | None, y: Float[np.ndarray, " n_objectives"] | None) -> None:
        """Compares a prediction, if there was one, with its evaluation, unless that failed; None
        for one that was made elsewhere."""
        if isinstance(number, int) and number in self.open:
            mean, std = self.open.pop(number)
            if y is not None and np.isfinite(y).all():
                self.misses[number] = mean, std, (y - mean).tolist()
                self.misses = dict(list(self.misses.items())[-SCHEDULE.n_recent :])

    def reopen(self, number: Any) -> None:
        """Forgets the evaluation of a point, which was corrected or taken back; its prediction
        stays."""
        if number in self.misses:
            self.open[number] = self.misses.pop(number)[:2]

    @property
    def errors(self) -> Float[np.ndarray, "n n_objectives"] | None:
        """The last held-out errors, value minus prediction; None where there are too few."""
        enough = len(self.misses) >= SCHEDULE.least_held_out
        return np.array([error for _, _, error in self.misses.values()]) if enough else None

    @property
    def calibration(self) -> float:
        """Factor of standard deviations that makes them agree with the errors; at least 1, since a
        few small errors show little."""
        errors = self.errors
        if errors is None:
            return 1.0
        # pooled over objectives: six errors of one are too few
        std = np.maximum([std for _, std, _ in self.misses.values()], np.finfo(float).tiny)
        return max(1.0, float(np.sqrt(np.mean((errors / std) ** 2))))

    def note_round(
        self, n: int, span: np.ndarray, noise: np.ndarray, uncertainty: float, batch: int
    ) -> None:
        """Adds a round, if a batch of evaluations was told since the last one.

        The error is the RMS of held-out errors in units of ranges, less what noise explains of it;
        not a number where it is not known.
        """
        if self.rounds and n < self.rounds[-1].n + batch:
            return
        errors, error = self.errors, float("nan")
        if errors is not None:
            squares = np.maximum(np.mean(errors**2, axis=0) - noise**2, 0.0) / span**2
            error = float(np.sqrt(np.mean(squares)))
        self.rounds.append(Round(n, error, self.calibration * uncertainty))

    def calm(self, tol: float) -> bool:
        """Whether error and uncertainty were within the tolerance for the last batches."""
        last = self.rounds[-SCHEDULE.calm :]
        return len(last) == SCHEDULE.calm and all(
            error <= tol and uncertainty <= tol for _, error, uncertainty in last
        )

    def estimate(self, span: Float[np.ndarray, " n_objectives"], n: int) -> ErrorEstimate:
        """The errors in units of the objectives' ranges over the surface, from n evaluations."""
        errors = self.errors
        if errors is None:
            return ErrorEstimate.unknown(1.0)
        relative, nan = errors / span, float("nan")
        largest = float(np.abs(relative).max())
        return ErrorEstimate(
            rms=float(np.sqrt(np.mean(relative**2))),
            max=largest,
            expected=3 * largest,  # as every error estimate has it
            diameter=1.0,
            n_samples=len(errors),
            n_invalid=0,
            residual=nan,
            folded=nan,
            gap=nan,
            dominated=nan,
            flags=(),
            evaluations=n,
            by_objective=tuple(np.sqrt(np.mean(errors**2, axis=0)).tolist()),
        )

    def to_dict(self) -> Record:
        """Ready for JSON, which has no number for what is not known."""
        return {
            "open": [[number, mean, std] for number, (mean, std) in self.open.items()],
            "misses": [[number, *miss] for number, miss in self.misses.items()],
            "rounds": [[n, None if np.isnan(e) else e, spread] for n, e, spread in self.rounds],
        }

    @classmethod
    def from_dict(cls, data: Record) -> "HeldOut":
        """What `to_dict` gave, back again."""
        # studies of earlier versions have errors and standard deviations alone
        misses = [
            one if len(one) == 4 else [-1 - k, [], *one[::-1]]
            for k, one in enumerate(data["misses"])
        ]
        return cls(
            {int(number): (list(mean), list(std)) for number, mean, std in data["open"]},
            {number: (mean, std, error) for number, mean, std, error in misses},
            [Round(n, float("nan") if e is None else e, spread) for n, e, spread in data["rounds"]],
        )


def what_is_wrong(
    x: Float[np.ndarray, "n n_variables"],
    y: Float[np.ndarray, "n n_objectives"],
    names: Names,
    nonnegative: Sequence[bool] = (),
) -> list[str]:
    """Sentences about objectives that do not vary, about outliers that dwarf all other values, and
    about values that are clearly negative though they cannot be."""
    sizes = ROUNDING * np.abs(y).max(axis=0)
    constant = np.ptp(y, axis=0) <= sizes
    if constant.all():
        return [
            f"all values were the same in all {len(y)} evaluations: there is nothing to trade off;"
            " check what is evaluated"
        ]
    found = [
        f"{names.objectives[m]} was {y[0, m]:.6g} in all {len(y)} evaluations: drop it, or widen"
        " the bounds"
        for m in np.flatnonzero(constant)
    ]
    for m in np.flatnonzero(nonnegative):
        row = int(y[:, m].argmin())
        if y[row, m] < -SCHEDULE.clearly_negative * np.median(np.abs(y[:, m])):
            place = np.array2string(x[row], precision=6, separator=", ")
            found.append(
                f"{names.objectives[m]} was {y[row, m]:.6g} at x = {place}, and is predicted to be"
                " 0 at least: leave it out of nonnegative, or tell that evaluation as failed"
            )
    if len(y) < SCHEDULE.least_values:
        return found
    for m in np.flatnonzero(~constant):
        # median and quantile, which outliers do not move
        away = np.abs(y[:, m] - np.median(y[:, m]))
        row, usual = int(away.argmax()), np.quantile(away, SCHEDULE.usual)
        if away[row] > SCHEDULE.outlier * max(usual, sizes[m]):
            place = np.array2string(x[row], precision=6, separator=", ")
            found.append(
                f"{names.objectives[m]} was {y[row, m]:.6g} at x = {place}, far from all other"
                " values: the surrogate can tell little about the others beside it; tell it as"
                " failed if it is wrong, or give the logarithm of the objective"
            )
    return found
