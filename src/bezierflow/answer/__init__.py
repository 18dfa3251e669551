"""The answer: a Pareto set, the error estimate, and the solution that holds both."""

from .asking import TOLERANCES, Claims, ask_patch, ask_patches, best_levels, centered, variables
from .atlas import BezierAtlas, Units
from .description import cost_text, error_text, share_bar, table
from .error_estimate import ErrorEstimate
from .evaluated import Evaluated
from .flags import Flag, by_cause
from .front import FittedFront
from .patches import Label, Patch, barycentric
from .pieces import Piece
from .result import Reason, Result, Stats
from .solution import Solution
from .solution_file import Fields, from_archive
from .spread import Points, spread_chart
from .verdict import describe, judge, locate_non_finite, why_not_estimated, why_not_verified
from .walking import Lowest, Walk, nearest_design, nearest_values

__all__ = [
    "TOLERANCES",
    "BezierAtlas",
    "Claims",
    "ErrorEstimate",
    "Evaluated",
    "Fields",
    "FittedFront",
    "Flag",
    "Label",
    "Lowest",
    "Patch",
    "Piece",
    "Points",
    "Reason",
    "Result",
    "Solution",
    "Stats",
    "Units",
    "Walk",
    "ask_patch",
    "ask_patches",
    "barycentric",
    "best_levels",
    "by_cause",
    "centered",
    "cost_text",
    "describe",
    "error_text",
    "from_archive",
    "judge",
    "locate_non_finite",
    "nearest_design",
    "nearest_values",
    "share_bar",
    "spread_chart",
    "table",
    "variables",
    "why_not_estimated",
    "why_not_verified",
]
