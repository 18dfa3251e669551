"""Pareto sets of any shape: one chart that covers every front, a solver for the point above any of
its places, and an atlas of Bézier simplices between such points."""

from .atlas_flow import AtlasFlow
from .building import Settings, Survey, survey
from .polishing import Polish, settle
from .program import Program
from .schedule import SCHEDULE, most_hessians

__all__ = [
    "SCHEDULE",
    "AtlasFlow",
    "Polish",
    "Program",
    "Settings",
    "Survey",
    "most_hessians",
    "settle",
    "survey",
]
