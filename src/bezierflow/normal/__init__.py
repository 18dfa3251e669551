"""The normal flow: a surface that slides along the Pareto set for free and pays only for its distance to it."""

from .descent import Descent, descend, find_minimizers, start_descent
from .displacement import Linearization, common_descent, linearize
from .error_estimate import ErrorEstimate
from .estimate import estimate_error
from .exploration import Seen, evenly_spread, probes_around
from .flags import Flag, by_cause
from .lending import KnownHessians
from .multipliers import face_multipliers
from .nodes import largest_degree
from .schedule import DescentSchedule, ExploreSchedule, Schedule
from .stages import NormalState, Settings, Stage, accept, advance, begin
from .survey import Survey
from .wells import deepest_rival

__all__ = [
    "Descent",
    "DescentSchedule",
    "ErrorEstimate",
    "ExploreSchedule",
    "Flag",
    "KnownHessians",
    "Linearization",
    "NormalState",
    "Schedule",
    "Seen",
    "Settings",
    "Stage",
    "Survey",
    "accept",
    "advance",
    "begin",
    "by_cause",
    "common_descent",
    "deepest_rival",
    "descend",
    "estimate_error",
    "evenly_spread",
    "face_multipliers",
    "find_minimizers",
    "largest_degree",
    "linearize",
    "probes_around",
    "start_descent",
]
