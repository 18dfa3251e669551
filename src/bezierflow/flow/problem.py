"""What `minimize` was given, checked."""

from collections.abc import Callable
from typing import Any, NamedTuple

from jaxtyping import PyTree

from ..bezier import BezierSimplex
from ..evaluation import Objectives
from ..feasible import FeasibleSet
from ..problems import Names
from .raveling import Raveling


class Problem(NamedTuple):
    """The objectives, also as a function of a flat vector, and a flat surface to start at."""

    objectives: Callable[[PyTree], Any]
    flat: Objectives
    start: BezierSimplex
    raveling: Raveling
    names: Names
    feasible: FeasibleSet | None
    """None where x may lie anywhere."""
