"""Estimates with confidence intervals: of means and of exponents."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import stats

from .checks import check_probability

CONFIDENCE = 0.95
"""The confidence of an interval where nothing else is said."""


@dataclass(frozen=True)
class Interval:
    """An estimate with the ends of its confidence interval."""

    estimate: float
    low: float
    high: float

    @property
    def holds_zero(self) -> bool:
        """Whether the estimate cannot be told from 0."""
        return self.low <= 0 <= self.high

    def __str__(self) -> str:
        return f"{self.estimate:.4g} ({self.low:.4g} to {self.high:.4g})"


def mean_interval(values: Float[np.ndarray, " n"], confidence: float = CONFIDENCE) -> Interval:
    """The mean of independent values with Student's interval."""
    check_probability(confidence, "confidence")
    mean = float(np.mean(values))
    if np.ptp(values) == 0:  # SciPy's interval of equal values is NaN
        return Interval(mean, mean, mean)
    low, high = stats.ttest_1samp(values, 0.0).confidence_interval(confidence)
    return Interval(mean, float(low), float(high))


def slope(
    n: Float[np.ndarray, " n"], values: Float[np.ndarray, " n"], confidence: float = CONFIDENCE
) -> Interval | None:
    """The exponent p of values ∝ n^p: a straight line through the logarithms, with Student's
    interval.

    None where a value is 0, negative, missing or infinite: such a value has no logarithm, and
    leaving it out would make the line steeper or flatter than what was measured.
    """
    check_probability(confidence, "confidence")
    if not (np.isfinite(values) & (np.asarray(values) > 0)).all():
        return None
    exponent, _, _, _, error = np.asarray(
        stats.linregress(np.log(n), np.log(values)), dtype=float
    ).tolist()
    half = float(stats.t.ppf((1 + confidence) / 2, len(n) - 2)) * error
    return Interval(exponent, exponent - half, exponent + half)
