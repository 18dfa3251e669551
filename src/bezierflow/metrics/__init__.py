"""Metrics: arrays in, number out. Errors in decision space (MSE, GD, IGD) and quality of fronts (IGD+, hypervolume)."""

from .distances import TwoSided, gd, igd, two_sided
from .fronts import hypervolume, igd_plus
from .mse import mse

__all__ = ["TwoSided", "gd", "hypervolume", "igd", "igd_plus", "mse", "two_sided"]
