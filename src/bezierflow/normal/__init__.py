"""The normal flow: a surface that slides along the Pareto set for free and pays only for its distance to it."""

from .chord import Chord, follow_chord, settle_chords
from .derivatives import Derivatives
from .descent import Descent, descend, start_descent
from .displacement import Linearization, common_descent, linearize
from .estimate import ErrorEstimate, estimate_error
from .evaluator import BudgetSpentError, Evaluator
from .flags import Flag
from .lending import KnownHessians
from .multipliers import face_multipliers
from .nodes import largest_degree
from .refit import dense_refit, slide_refit
from .solve import NormalFlow, NormalInfo, NormalState, Stage

__all__ = [
    "BudgetSpentError",
    "Chord",
    "Derivatives",
    "Descent",
    "ErrorEstimate",
    "Evaluator",
    "Flag",
    "KnownHessians",
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
    "follow_chord",
    "largest_degree",
    "linearize",
    "settle_chords",
    "slide_refit",
    "start_descent",
]
