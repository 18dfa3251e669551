"""Where a run came from."""

from dataclasses import dataclass

from ..bezier import BezierSimplex
from .lift import Flow


@dataclass(frozen=True)
class Origin:
    """What it takes to make a run of a lifted method again, with its samples or with others.

    Attributes:
        flow: M(A), its sampler settled.
        surface: where it started, P^(1), with flat vectors for values.
        seed: what the samples were drawn from.
    """

    flow: Flow
    surface: BezierSimplex
    seed: int
