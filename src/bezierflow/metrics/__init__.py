"""Metrics: arrays in, number out. Errors in decision space (MSE, GD, IGD) and quality of fronts
(IGD+, hypervolume)."""

from .distances import TwoSided, gd, igd, two_sided
from .fronts import igd_plus
from .mse import mse
from .volume import Volume, hypervolume

__all__ = ["TwoSided", "Volume", "gd", "hypervolume", "igd", "igd_plus", "mse", "two_sided"]
