"""Problems: the paper's and others, each with its exact Pareto set where there is one."""

from ..problem import AbstractProblem, Composite, Problem
from .fonseca import Fonseca
from .problem import AbstractSolvedProblem
from .quadratic import Quadratic, ScaledMED
from .registry import available, by_name
from .skew import SkewMED, SkewMMD
from .warped import Warped

__all__ = [
    "AbstractProblem",
    "AbstractSolvedProblem",
    "Composite",
    "Fonseca",
    "Problem",
    "Quadratic",
    "ScaledMED",
    "SkewMED",
    "SkewMMD",
    "Warped",
    "available",
    "by_name",
]
