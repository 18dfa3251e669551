"""The normal flow: a surface that slides along the Pareto set for free and pays only for its distance to it."""

from .descent import Descent, descend, start_descent
from .displacement import Linearization, common_descent, linearize
from .estimate import ErrorEstimate, estimate_error
from .evaluator import BudgetSpentError, Evaluator
from .flags import Flag
from .multipliers import face_multipliers
from .nodes import largest_degree
from .refit import dense_refit, slide_refit
from .solve import NormalFlow, NormalInfo, NormalState, Stage

__all__ = [
    "BudgetSpentError",
    "Descent",
    "ErrorEstimate",
    "Evaluator",
    "Flag",
    "Linearization",
    "NormalFlow",
    "NormalInfo",
    "NormalState",
    "Stage",
    "common_descent",
    "dense_refit",
    "descend",
    "estimate_error",
    "face_multipliers",
    "largest_degree",
    "linearize",
    "slide_refit",
    "start_descent",
]
