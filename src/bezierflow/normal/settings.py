"""What a run of the normal flow is asked for, and what it works on."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from .nodes import largest_degree
from .patch import Goal
from .schedule import Schedule

FREE_VARIABLES = 150
"""From so many variables on products of Hessians with vectors cost less than Hessians (`python -m benchmarks.large`)."""


class Stage(Enum):
    """What the next step works on."""

    CORNERS = "minimizers"
    TIES = "ties between minimizers"
    EDGES = "edges"
    INSIDE = "inside"
    ELSEWHERE = "search elsewhere"
    DONE = "done"


@dataclass(frozen=True)
class Settings:
    """What a user may ask of the normal flow.

    Attributes:
        degree: "auto" lets it grow until the held-out error is below tol; a number fixes it.
        max_degree: the largest degree "auto" may choose; by default that of `largest_degree`.
        tol: the largest held-out distance, relative to the diameter of the set, that ends the run.
        budget: the most points that may be evaluated; None for no limit. Never exceeded.
        schedule: the tuned numbers.
    """

    degree: int | Literal["auto"] = "auto"
    max_degree: int | None = None
    tol: float = 1e-6
    budget: int | None = None
    schedule: Schedule = field(default_factory=Schedule, repr=False)

    def __post_init__(self) -> None:
        if self.degree != "auto" and (not isinstance(self.degree, int) or self.degree < 1):
            raise ValueError(f'degree must be "auto" or a whole number of at least 1, got {self.degree!r}')
        if self.max_degree is not None and self.max_degree < 1:
            raise ValueError(f"max_degree must be at least 1, got {self.max_degree}")
        if not self.tol > 0:
            raise ValueError(f"tol must be above 0, a share of the set's diameter, got {self.tol}")

    def goal(self, n_objectives: int) -> Goal:
        """What rounds aim at."""
        limit = self.max_degree or largest_degree(n_objectives)
        return Goal(self.schedule.rounds.margin * self.tol, limit if self.degree == "auto" else self.degree)
