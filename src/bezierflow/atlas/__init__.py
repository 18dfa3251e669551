"""Pareto sets of any shape: one chart that covers every front, its regions, and an atlas of trimmed
Bézier simplices."""

from .atlas_flow import AtlasFlow
from .building import Settings, Survey, survey
from .polishing import settle

__all__ = [
    "AtlasFlow",
    "Settings",
    "Survey",
    "settle",
    "survey",
]
