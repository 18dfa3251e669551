"""The evaluations of a search, in the order in which they were told, and the points that are being
evaluated."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float


@dataclass
class Ledger:
    """What was asked and what was told.

    Attributes:
        pending: points asked for and not told yet, by their numbers.
        n_asked: how many points were ever asked for; the next one has this number.
        numbers: of each point told the number under which it was asked for, None where nobody
            asked.
        x: the points told.
        y: their values, a row without numbers where the evaluation failed.
    """

    n_variables: int
    n_objectives: int
    pending: dict[int, np.ndarray] = field(default_factory=dict)
    n_asked: int = 0
    numbers: list[int | None] = field(default_factory=list)
    x: list[np.ndarray] = field(default_factory=list)
    y: list[np.ndarray] = field(default_factory=list)

    def ask(self, x: Float[np.ndarray, "n n_variables"]) -> None:
        """Notes points that were asked for."""
        for row in x:
            self.pending[self.n_asked] = row
            self.n_asked += 1

    def number_of(self, x: Float[np.ndarray, " n_variables"]) -> int | None:
        """The number of the first pending point that is this one to the last bit; None if there is
        none."""
        return next(
            (number for number, asked in self.pending.items() if np.array_equal(asked, x)), None
        )

    def tell(
        self,
        number: int | None,
        x: Float[np.ndarray, " n_variables"],
        y: Float[np.ndarray, " n_objectives"],
    ) -> None:
        """Notes the values of a point; no numbers where its evaluation failed."""
        if number is not None:
            self.pending.pop(number, None)
        self.numbers.append(number)
        self.x.append(x)
        self.y.append(y if np.isfinite(y).all() else np.full(self.n_objectives, np.nan))

    @property
    def n_told(self) -> int:
        """How many points were told, failed ones included."""
        return len(self.x)

    @property
    def good(self) -> Bool[np.ndarray, " n_told"]:
        """Which evaluations did not fail."""
        return np.array([bool(np.isfinite(row).all()) for row in self.y], dtype=bool)

    def designs(self, good: bool) -> Float[np.ndarray, "n n_variables"]:
        """The points whose evaluations did not fail, or those whose did."""
        return np.reshape(
            [x for x, ok in zip(self.x, self.good, strict=True) if ok == good],
            (-1, self.n_variables),
        )

    def values(self) -> Float[np.ndarray, "n n_objectives"]:
        """The values of evaluations that did not fail, as they were told."""
        return np.reshape(
            [y for y, ok in zip(self.y, self.good, strict=True) if ok], (-1, self.n_objectives)
        )

    def in_flight(self) -> Float[np.ndarray, "n n_variables"]:
        """The pending points in the order of their numbers."""
        return np.reshape(
            [self.pending[number] for number in sorted(self.pending)], (-1, self.n_variables)
        )
