"""What a run or a method costs."""

from typing import NamedTuple

from jaxtyping import Array

from .kinds import kind


@kind("evaluations/1")
class Evaluations(NamedTuple):
    """How often something was evaluated. One Hessian is the Hessians of all M objectives at a
    point, whatever it costs."""

    objective: int | Array = 0
    jacobian: int | Array = 0
    hessian: int | Array = 0


def total(*parts: Evaluations) -> Evaluations:
    """The sum of counts."""
    return Evaluations(*map(sum, zip(*parts, strict=True)))
