"""Metrics: arrays in, number out. Errors in decision space, and quality of fronts."""

from .quality import (
    TwoSided,
    Volume,
    farthest_points,
    gd,
    hypervolume,
    igd,
    igd_plus,
    mse,
    nondominated,
    two_sided,
)

__all__ = [
    "TwoSided",
    "Volume",
    "farthest_points",
    "gd",
    "hypervolume",
    "igd",
    "igd_plus",
    "mse",
    "nondominated",
    "two_sided",
]
