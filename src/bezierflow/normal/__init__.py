"""The normal flow: a surface that slides along the Pareto set for free and pays only for its distance to it."""

from .displacement import Linearization, common_descent, linearize
from .estimate import ErrorEstimate, estimate_error
from .evaluations import BudgetSpentError, Evaluations
from .flags import Flag
from .multipliers import face_multipliers
from .refit import slide_refit

__all__ = [
    "BudgetSpentError",
    "ErrorEstimate",
    "Evaluations",
    "Flag",
    "Linearization",
    "common_descent",
    "estimate_error",
    "face_multipliers",
    "linearize",
    "slide_refit",
]
