"""Metrics: arrays in, number out. Errors in decision space, and quality of fronts."""

from .distances import TwoSided, gd, igd, mse, two_sided
from .fronts import Volume, farthest_points, hypervolume, igd_plus, nondominated

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
