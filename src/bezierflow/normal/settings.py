"""What a run of the normal flow is asked for, and what it works on."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from ..arguments import or_none, read_count, read_positive
from ..runs import kind
from .nodes import largest_degree
from .patch import Goal
from .schedule import Schedule

FREE_VARIABLES = 150
"""From so many on products of Hessians with vectors cost less than Hessians (`python -m
benchmarks.large threshold`)."""

MOST = 1000
"""The largest degree that may be asked for."""


@kind("normal.stage/1")
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
        if self.degree != "auto":
            object.__setattr__(
                self,
                "degree",
                read_count(self.degree, "degree", 1, MOST, '"auto" leaves it to the flow'),
            )
        object.__setattr__(
            self,
            "max_degree",
            or_none(read_count, self.max_degree, "max_degree", 1, MOST),
        )
        object.__setattr__(self, "budget", or_none(read_count, self.budget, "budget"))
        read_positive(self.tol, "tol", "it is a share of the set's diameter")

    def goal(self, n_objectives: int) -> Goal:
        """What rounds aim at."""
        limit = self.max_degree or largest_degree(n_objectives)
        return Goal(
            self.schedule.rounds.margin * self.tol, limit if self.degree == "auto" else self.degree
        )
