"""The normal flow: a surface that slides along the Pareto set for free and pays only for its
distance to it."""

from .descent import Descent, descend, find_minimizers, start_descent
from .displacement import Linearization, common_descent, linearize
from .error_estimate import ErrorEstimate
from .estimate import estimate_error
from .exploration import Seen, evenly_spread, probes_around, sides_of_boxes
from .flags import Flag, by_cause
from .free_estimate import estimate_error_freely
from .free_stages import FreeState, advance_freely, begin_freely
from .layout import Layout
from .lending import KnownHessians
from .multipliers import face_multipliers
from .nodes import largest_degree
from .schedule import DescentSchedule, ExploreSchedule, Schedule
from .settings import FREE_VARIABLES, Settings, Stage
from .stages import NormalState, accept, advance, begin
from .survey import Survey
from .wells import deepest_rival

__all__ = [
    "FREE_VARIABLES",
    "Descent",
    "DescentSchedule",
    "ErrorEstimate",
    "ExploreSchedule",
    "Flag",
    "FreeState",
    "KnownHessians",
    "Layout",
    "Linearization",
    "NormalState",
    "Schedule",
    "Seen",
    "Settings",
    "Stage",
    "Survey",
    "accept",
    "advance",
    "advance_freely",
    "begin",
    "begin_freely",
    "by_cause",
    "common_descent",
    "deepest_rival",
    "descend",
    "estimate_error",
    "estimate_error_freely",
    "evenly_spread",
    "face_multipliers",
    "find_minimizers",
    "largest_degree",
    "linearize",
    "probes_around",
    "sides_of_boxes",
    "start_descent",
]
