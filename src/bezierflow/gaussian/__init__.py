"""Gaussian processes on the unit cube, one for each of several functions: fitted, asked, sampled."""

from .fitting import NOISE, Fit, fit, fit_from_dict, fit_to_dict
from .paths import Paths, sample_paths
from .posterior import Posterior, condition, covariances, means, stds

__all__ = [
    "NOISE",
    "Fit",
    "Paths",
    "Posterior",
    "condition",
    "covariances",
    "fit",
    "fit_from_dict",
    "fit_to_dict",
    "means",
    "sample_paths",
    "stds",
]
