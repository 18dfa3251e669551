"""Pareto sets of any shape: one chart that covers every front, its regions, and an atlas of trimmed Bézier simplices."""

from .asking import Claims, ask_patch, centered, variables
from .atlas import BezierAtlas, Units
from .atlas_file import describe_atlas, restore_atlas
from .building import AtlasState, Settings, advance, begin
from .measuring import AtlasError, measure
from .patches import Label, Patch
from .pieces import Piece, dominated
from .walking import Lowest, Walk, lowest_total, nearest_design, nearest_values

__all__ = [
    "AtlasError",
    "AtlasState",
    "BezierAtlas",
    "Claims",
    "Label",
    "Lowest",
    "Patch",
    "Piece",
    "Settings",
    "Units",
    "Walk",
    "advance",
    "ask_patch",
    "begin",
    "centered",
    "describe_atlas",
    "dominated",
    "lowest_total",
    "measure",
    "nearest_design",
    "nearest_values",
    "restore_atlas",
    "variables",
]
