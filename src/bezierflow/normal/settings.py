"""What a run of the normal flow is asked for."""

from dataclasses import dataclass, field
from typing import Literal

from ..arguments import or_none, read_count, read_positive
from ..objectives import FlatObjectives, bridges
from ..simplex import largest_degree_within
from .schedule import Schedule
from .span import Layout

Hessians = Literal["auto", "dense", "free", "none"]
"""Hessian matrices; products of Hessians with vectors; gradients, whose differences stand for
products; or whatever of the first two costs less."""

MOST = 1000
"""The largest degree that may be asked for."""


@dataclass(frozen=True)
class Settings:
    """What a user may ask of the normal flow; `NormalFlow` has the meaning of each.

    Attributes:
        noise: relative error of values whose gradients are differences of them. A minimizer is
            known to noise^(2/3) then, so that much ends a descent, and values closer than that
            cannot be told apart.
        layout: precision and devices of long arrays, where there are no Hessian matrices.
        schedule: the tuned numbers.
    """

    degree: int | Literal["auto"] = "auto"
    max_degree: int | None = None
    tol: float = 1e-6
    budget: int | None = None
    noise: float = 0.0
    hessian: Hessians = "auto"
    layout: Layout = field(default_factory=Layout)
    schedule: Schedule = field(default_factory=Schedule, repr=False)

    def __post_init__(self) -> None:
        if self.degree != "auto":
            advice = '"auto" leaves it to the flow'
            degree = read_count(self.degree, "degree", 1, MOST, advice)
            object.__setattr__(self, "degree", degree)
        max_degree = or_none(read_count, self.max_degree, "max_degree", 1, MOST)
        object.__setattr__(self, "max_degree", max_degree)
        object.__setattr__(self, "budget", or_none(read_count, self.budget, "budget"))
        read_positive(self.tol, "tol", "it is a share of the set's diameter")

    def largest_degree(self, n_objectives: int) -> int:
        """The one that was asked for, or else as high as pays for few objectives, and as the number
        of control points allows for many."""
        if self.degree != "auto":
            return self.degree
        if self.max_degree is not None:
            return self.max_degree
        known = self.schedule.largest_degrees
        if n_objectives <= len(known):
            return known[n_objectives - 1]
        return max(2, largest_degree_within(n_objectives, self.schedule.most_controls))

    def curvature(
        self, objectives: FlatObjectives, n_variables: int
    ) -> Literal["dense", "free", "none"]:
        """Where curvature comes from for these objectives: "auto" takes what costs less.

        Functions that JAX cannot trace are not differentiated in the direction of a vector.
        """
        if self.hessian != "auto":
            return self.hessian
        many = n_variables >= self.schedule.free_variables and not bridges(objectives)
        return "free" if many or self.layout.mesh is not None else "dense"
