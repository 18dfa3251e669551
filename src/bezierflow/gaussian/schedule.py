"""Tuned numbers of Gaussian processes."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Schedule:
    """Priors, bounds and sizes, for points of the unit cube and values of mean 0 and variance 1.

    Attributes:
        exact_nugget: mean of the log-normal prior of the nugget for deterministic values.
        noisy_nugget: the same for noisy values; noise of 2 % of a range is about −7.
        nugget_std: standard deviation of the log nugget around either mean. A smaller one makes
            searches begin better on functions that are flat but for a basin, or have poles, but
            overfits values that are half noise.
        exact_start: log nugget from which fits of deterministic values start.
        length_mean: prior mean of the log length scales, before log √L is added.
        length_variance: prior variance of the log length scales.
        length_start: length scale from which fits start, before it is multiplied by √L.
        variance_mean: prior mean of the log process variance.
        variance_variance: prior variance of the log process variance.
        level_variance: prior variance of the constant mean of the process, around 0.
        lengths: bounds of length scales.
        variance_bounds: bounds of the log process variance.
        nugget_bounds: bounds of the log nugget.
        level_bounds: bounds of the constant mean.
        most_steps: iterations of L-BFGS from each start.
        quick_steps: likewise of a fit that starts from an earlier one alone.
        not_definite: negative log density reported where the covariance has no Cholesky factor.
        jitter: share of the process variance added to the diagonal, so that factors exist.
        least_rows: arrays are filled up to so many rows, then to powers of two: few programs.
        least_variance: posterior variances below this share of the process variance are rounding.
        n_features: random Fourier features per path.
        rounded: values that cannot be negative are bent away from 0 within so many standard
            deviations of an objective's values.
    """

    exact_nugget: float = -17.0
    noisy_nugget: float = -6.0
    nugget_std: float = 3.0
    exact_start: float = -14.0
    length_mean: float = np.sqrt(2.0)
    length_variance: float = 3.0
    length_start: float = 0.5
    variance_mean: float = 1.0
    variance_variance: float = 9.0
    level_variance: float = 4.0
    lengths: tuple[float, float] = (0.02, 50.0)
    variance_bounds: tuple[float, float] = (-6.0, 12.0)
    nugget_bounds: tuple[float, float] = (-20.0, 0.0)
    level_bounds: tuple[float, float] = (-20.0, 20.0)
    most_steps: int = 80
    quick_steps: int = 10
    not_definite: float = 1e10
    jitter: float = 1e-9
    least_rows: int = 64
    least_variance: float = 1e-14
    n_features: int = 256
    rounded: float = 3e-4


SCHEDULE = Schedule()
