"""Problems: the paper's and others, each with its exact Pareto set where the mathematics gives
one."""

from .composite import Composite
from .fonseca import Fonseca
from .names import Names
from .problem import AbstractProblem, AbstractSolvedProblem, Problem
from .quadratic import Quadratic
from .registry import available, by_name
from .scaled_med import ScaledMED
from .skew_med import SkewMED
from .skew_mmd import SkewMMD
from .transforms import KINDS, decode, encode
from .warped import Warped

__all__ = [
    "KINDS",
    "AbstractProblem",
    "AbstractSolvedProblem",
    "Composite",
    "Fonseca",
    "Names",
    "Problem",
    "Quadratic",
    "ScaledMED",
    "SkewMED",
    "SkewMMD",
    "Warped",
    "available",
    "by_name",
    "decode",
    "encode",
]
