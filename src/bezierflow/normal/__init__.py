"""The normal flow: a surface that slides along the Pareto set for free and pays only for its
distance to it."""

from .conjugate import LongEvaluator, Systems
from .curvature import Curvature
from .descent import find_minimizers
from .displacement import linearize
from .estimate import NormalEstimator, estimate_error
from .exploration import Incumbents, better_point, probes_around, probes_within
from .flows import AUTO_TOL, FLOAT32_TOL, AbstractAutoFlow, NormalFlow, WeightsFlow
from .matrices import KnownHessians, Matrices
from .products import Products
from .schedule import Schedule
from .settings import Settings
from .span import Layout
from .stages import Stage, accept, advance, begin

__all__ = [
    "AUTO_TOL",
    "FLOAT32_TOL",
    "AbstractAutoFlow",
    "Curvature",
    "Incumbents",
    "KnownHessians",
    "Layout",
    "LongEvaluator",
    "Matrices",
    "NormalEstimator",
    "NormalFlow",
    "Products",
    "Schedule",
    "Settings",
    "Stage",
    "Systems",
    "WeightsFlow",
    "accept",
    "advance",
    "begin",
    "better_point",
    "estimate_error",
    "find_minimizers",
    "linearize",
    "probes_around",
    "probes_within",
]
