"""What a run of any kind hands to `minimize`, and what a callback sees on the way."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..bezier import BezierSimplex
from ..methods import Evaluations
from ..normal import ErrorEstimate
from .origin import Origin
from .result import Result


@dataclass(frozen=True)
class Iteration:
    """What a callback gets after each iteration; it returns True to stop the run.

    Attributes:
        number: counts from 1.
        surface: the surface after it, with values shaped like x0.
        movement: how far the points moved, RMS; for the normal flow the held-out error so far.
        residual: how far the refitted surface missed the moved points, RMS.
        evaluations: what the run has evaluated so far.
    """

    number: int
    surface: BezierSimplex
    movement: float
    residual: float
    evaluations: Evaluations


Callback = Callable[[Iteration], bool | None]


@dataclass(frozen=True)
class Outcome:
    """The end of a run, for flat x: the surface, why it stopped, what it cost, and how it was made."""

    surface: BezierSimplex
    result: Result
    evaluations: Evaluations
    iterations: int
    history: dict[str, np.ndarray]
    made_by: dict[str, Any]
    error: ErrorEstimate | None = field(default=None)
    origin: Origin | None = field(default=None)
