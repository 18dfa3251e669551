"""Pareto sets of any shape: one chart that covers every front, its regions, and an atlas of trimmed
Bézier simplices."""

from .asking import TOLERANCES, best_levels, centered
from .atlas import BezierAtlas, Units
from .atlas_file import array_names, describe_atlas, restore_atlas
from .building import AtlasState, Settings, Survey, advance, begin, survey
from .measuring import AtlasError, measure
from .patches import Label, Patch
from .pieces import Piece
from .polishing import settle
from .search import NOTHING_YET
from .walking import Lowest, Walk, lowest_total, nearest_design, nearest_values

__all__ = [
    "NOTHING_YET",
    "TOLERANCES",
    "AtlasError",
    "AtlasState",
    "BezierAtlas",
    "Label",
    "Lowest",
    "Patch",
    "Piece",
    "Settings",
    "Survey",
    "Units",
    "Walk",
    "advance",
    "array_names",
    "begin",
    "best_levels",
    "centered",
    "describe_atlas",
    "lowest_total",
    "measure",
    "nearest_design",
    "nearest_values",
    "restore_atlas",
    "settle",
    "survey",
]
