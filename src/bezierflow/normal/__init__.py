"""The normal flow: a surface that slides along the Pareto set for free and pays only for its distance to it."""

from .descent import Descent, descend, find_minimizers, start_descent
from .displacement import Linearization, common_descent, linearize
from .estimate import ErrorEstimate, estimate_error
from .flags import Flag
from .lending import KnownHessians
from .multipliers import face_multipliers
from .nodes import largest_degree
from .schedule import Schedule
from .stages import NormalState, Settings, Stage, advance, begin
from .survey import Survey

__all__ = [
    "Descent",
    "ErrorEstimate",
    "Flag",
    "KnownHessians",
    "Linearization",
    "NormalState",
    "Schedule",
    "Settings",
    "Stage",
    "Survey",
    "advance",
    "begin",
    "common_descent",
    "descend",
    "estimate_error",
    "face_multipliers",
    "find_minimizers",
    "largest_degree",
    "linearize",
    "start_descent",
]
