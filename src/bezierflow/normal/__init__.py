"""The normal flow: a surface that slides along the Pareto set for free and pays only for its
distance to it."""

from .auto_flow import AUTO_TOL, AbstractAutoFlow
from .conjugate import conjugate
from .descent import descend, find_minimizers
from .displacement import linearize
from .estimate import estimate_error
from .exploration import Seen, evenly_spread, probes_around, sides_of_boxes
from .layout import Layout
from .normal_flow import FLOAT32_TOL, NormalFlow
from .probe import probe
from .schedule import ExploreSchedule, Schedule
from .settings import Settings, Stage
from .solution_error import NormalEstimator
from .stages import advance, begin
from .survey import Survey
from .weights_flow import WeightsFlow
from .wells import deepest_rival

__all__ = [
    "AUTO_TOL",
    "FLOAT32_TOL",
    "AbstractAutoFlow",
    "ExploreSchedule",
    "Layout",
    "NormalEstimator",
    "NormalFlow",
    "Schedule",
    "Seen",
    "Settings",
    "Stage",
    "Survey",
    "WeightsFlow",
    "advance",
    "begin",
    "conjugate",
    "deepest_rival",
    "descend",
    "estimate_error",
    "evenly_spread",
    "find_minimizers",
    "linearize",
    "probe",
    "probes_around",
    "sides_of_boxes",
]
