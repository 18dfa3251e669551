"""The Gram matrix Γ of the basis; means and slopes with confidence intervals."""

from dataclasses import dataclass
from math import comb

import numpy as np
from jaxtyping import Float
from scipy import stats

from ..arguments import read_count, read_probability
from ..simplex import index_positions, multi_indices, multinomials, n_controls
from .schedule import SCHEDULE

ADVICE = "0.05 asks for a statement that fails 5 % of the time"
"""On probabilities."""


@dataclass(frozen=True)
class Interval:
    """An estimate with the ends of its confidence interval."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.4g} ({self.low:.4g} to {self.high:.4g})"


def mean_interval(
    values: Float[np.ndarray, " n"], confidence: float = SCHEDULE.confidence
) -> Interval:
    """The mean of independent values with Student's interval."""
    read_probability(confidence, "confidence", ADVICE)
    mean = float(np.mean(values))
    if np.ptp(values) == 0:  # SciPy's interval of equal values is NaN
        return Interval(mean, mean, mean)
    low, high = stats.ttest_1samp(values, 0.0).confidence_interval(confidence)
    return Interval(mean, float(low), float(high))


def slope(n: Float[np.ndarray, " n"], values: Float[np.ndarray, " n"]) -> Interval | None:
    """The exponent p of values ∝ n^p: a line through the logarithms, with Student's 95 % interval.

    None where a value is 0, negative, missing or infinite: leaving it out would make the line
    steeper or flatter than what was measured.
    """
    if not (np.isfinite(values) & (np.asarray(values) > 0)).all():
        return None
    line = np.asarray(stats.linregress(np.log(n), np.log(values)), dtype=float).tolist()
    exponent, error = line[0], line[4]  # the slope and its standard error
    half = float(stats.t.ppf((1 + SCHEDULE.confidence) / 2, len(n) - 2)) * error
    return Interval(exponent, exponent - half, exponent + half)


def check_samples(n_samples: int, n_objectives: int, degree: int) -> None:
    """An error where N is below the number of control points."""
    needed = n_controls(n_objectives, degree)
    if read_count(n_samples, "n_samples", 1) < needed:
        raise ValueError(
            f"n_samples={n_samples} is below the {needed} control points of degree {degree} with"
            f" {n_objectives} objectives, where ZᵀZ is singular and no refit is stable; draw at"
            f" least {needed} or lower the degree"
        )


def expected_gram(n_objectives: int, degree: int) -> Float[np.ndarray, "n_controls n_controls"]:
    """Γ = E[z(t) z(t)ᵀ] for uniform t, so that E[ZᵀZ] = N Γ.

    |Δ|_Γ² = tr(ΔᵀΓΔ) is the mean of |b(t|Δ)|² over the simplex. Moments of the uniform
    distribution, E[t^a] = (M−1)! a! / (|a|+M−1)!, give
    Γ_de = (D choose d)(D choose e) / ( (2D choose d+e) C(2D+M−1, M−1) ).
    """
    indices, coefficients = multi_indices(n_objectives, degree), multinomials(n_objectives, degree)
    sums = index_positions(indices[:, None] + indices[None])
    doubled = multinomials(n_objectives, 2 * degree)[sums]
    count = comb(2 * degree + n_objectives - 1, n_objectives - 1)
    return np.outer(coefficients, coefficients) / (doubled * count)


def gram_root(n_objectives: int, degree: int) -> Float[np.ndarray, "n_controls n_controls"]:
    """The symmetric Γ^{1/2}: |Γ^{1/2} Δ|_F is the RMS size of the surface with control points Δ."""
    values, vectors = np.linalg.eigh(expected_gram(n_objectives, degree))
    return (vectors * np.sqrt(values)) @ vectors.T
