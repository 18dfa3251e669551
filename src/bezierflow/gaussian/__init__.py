"""Gaussian processes on the unit cube, one for each of several functions: fitted, asked,
sampled."""

from .fitting import NOISE, Fit, fit, fit_from_dict, fit_to_dict
from .kernels import Numbers
from .objectives import PosteriorMean
from .paths import Paths, mean_path, sample_paths
from .posterior import (
    Parameters,
    Posterior,
    condition,
    covariances,
    describe_posterior,
    means,
    restore_posterior,
    stds,
)

__all__ = [
    "NOISE",
    "Fit",
    "Numbers",
    "Parameters",
    "Paths",
    "Posterior",
    "PosteriorMean",
    "condition",
    "covariances",
    "describe_posterior",
    "fit",
    "fit_from_dict",
    "fit_to_dict",
    "mean_path",
    "means",
    "restore_posterior",
    "sample_paths",
    "stds",
]
