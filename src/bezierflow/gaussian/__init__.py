"""Gaussian processes on the unit cube, one per function: fit, posterior, paths drawn from it."""

from .fitting import (
    NOISE,
    Fit,
    Numbers,
    correlation,
    correlation_and_slope,
    fit,
    negative_log_density,
)
from .posterior import (
    Paths,
    Posterior,
    PosteriorMean,
    above_zero,
    condition,
    covariances,
    fit_posterior,
    mean_path,
    means,
    sample_paths,
    stds,
)

__all__ = [
    "NOISE",
    "Fit",
    "Numbers",
    "Paths",
    "Posterior",
    "PosteriorMean",
    "above_zero",
    "condition",
    "correlation",
    "correlation_and_slope",
    "covariances",
    "fit",
    "fit_posterior",
    "mean_path",
    "means",
    "negative_log_density",
    "sample_paths",
    "stds",
]
