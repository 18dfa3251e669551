"""Constants of the theory: U, the Gram matrix Γ, the law of λ_min(ZᵀZ) with η(ε) and ζ(ε).

What is estimated from draws comes with a confidence interval.
"""

from dataclasses import dataclass
from math import ceil, comb, log, log1p, sqrt

import numpy as np
from jaxtyping import Float
from scipy import stats

from ..arguments import read_count, read_probability
from ..bezier import design_matrix
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


def check_samples(n_samples: int, n_objectives: int, degree: int) -> int:
    """N, at least the number of control points."""
    needed = n_controls(n_objectives, degree)
    if read_count(n_samples, "n_samples", 1) < needed:
        raise ValueError(
            f"n_samples={n_samples} is below the {needed} control points of degree {degree} with"
            f" {n_objectives} objectives, where ZᵀZ is singular and no refit is stable; draw at"
            f" least {needed} or lower the degree"
        )
    return int(n_samples)


def basis_norm_bound(n_objectives: int, degree: int) -> float:
    """U = max_t |z(t)|₂ (Lemma "sigma-bounded" only says that it exists): 1, at the vertices alone.

    The entries of z(t) are nonnegative and sum to (Σ t_m)^D = 1, so |z|₂² = Σ z_d² ≤ max_d z_d · Σ
    z_d ≤ 1. Equality needs one entry that is 1, and z_d(t) = 1 makes all others 0, which for D ≥ 1
    happens at t = e_m and nowhere else.
    """
    n_controls(n_objectives, degree)  # refuses sizes that make no surface
    return 1.0


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


def expected_smallest_eigenvalue(n_objectives: int, degree: int) -> float:
    """λ_min(Γ) = 1 / ( C(D+M−1, D) C(2D+M−1, D) ): what λ_min(ZᵀZ)/N tends to as N grows.

    |N^M_D| Γ is the matrix of the Bernstein–Durrmeyer operator, whose eigenvalue on polynomials of
    degree j is D!(D+M−1)! / ((D−j)!(D+j+M−1)!) (Derriennic, "On multivariate approximation by
    Bernstein-type polynomials", J. Approx. Theory 45, 1985); the smallest belongs to j = D.
    """
    M, D = n_objectives, degree
    return 1.0 / (comb(D + M - 1, D) * comb(2 * D + M - 1, D))


def coherence(n_objectives: int, degree: int) -> float:
    """R = max_t z(t)ᵀ Γ⁻¹ z(t) = |N^M_D|², attained at the vertices: sup_t |b(t|Δ)| ≤ √R |Δ|_Γ.

    It is the diagonal of the reproducing kernel of polynomials of degree D on the simplex with the
    uniform measure.
    """
    return float(n_controls(n_objectives, degree)) ** 2


def design_matrices(
    t: Float[np.ndarray, "*batch n_samples n_objectives"], degree: int
) -> Float[np.ndarray, "*batch n_samples n_controls"]:
    """Z of each draw of a batch."""
    return design_matrix(t.reshape(-1, t.shape[-1]), degree).reshape(*t.shape[:-1], -1)


def smallest_eigenvalues(
    t: Float[np.ndarray, "*batch n_samples n_objectives"], degree: int
) -> Float[np.ndarray, "*batch"]:
    """λ_min(Z(T)ᵀZ(T)) of each sample T."""
    # as the square of the least singular value of Z: no digit is lost to squaring Z
    triangle = np.linalg.qr(design_matrices(np.asarray(t), degree), mode="r")
    return np.linalg.svd(triangle, compute_uv=False)[..., -1] ** 2


@dataclass(frozen=True)
class SmallestEigenvalueLaw:
    """The law of λ_min(ZᵀZ) for N i.i.d. uniform t. Made by `smallest_eigenvalue_law`.

    Attributes:
        draws: independent draws of it, sorted.
        n_objectives: M.
        degree: D.
        n_samples: N.
    """

    draws: Float[np.ndarray, " n_draws"]
    n_objectives: int
    degree: int
    n_samples: int

    def probability(self, level: float, confidence: float = SCHEDULE.confidence) -> Interval:
        """P(λ_min ≤ level), with its Clopper–Pearson interval."""
        read_probability(confidence, "confidence", ADVICE)
        n, below = len(self.draws), int(np.searchsorted(self.draws, level, side="right"))
        interval = stats.binomtest(below, n).proportion_ci(confidence, method="exact")
        return Interval(below / n, float(interval.low), float(interval.high))

    def quantile(self, p: float, confidence: float = SCHEDULE.confidence) -> Interval:
        """The level with P(λ_min ≤ level) = p, with its exact interval from order statistics.

        Its low end is 0 and its high end infinite where the outermost draw cannot be trusted.
        """
        read_probability(p, "p", ADVICE)
        read_probability(confidence, "confidence", ADVICE)
        interval = stats.quantile_test(self.draws, p=p).confidence_interval(confidence)
        low, high = np.nan_to_num(interval.low, nan=0.0), np.nan_to_num(interval.high, nan=np.inf)
        return Interval(float(np.quantile(self.draws, p)), float(low), float(high))

    def inverse_root_moment(self) -> Interval:
        """E[λ_min^{−1/2}], the mean over the draws: the expected length of a step grows with it.

        It is finite for N > D |N^M_D| (see `docs/stability.md`, the theorem on the expected gap).
        """
        return mean_interval(self.draws**-0.5)

    def eta(self, epsilon: float, n_iterations: int) -> float:
        """η(ε) with P( min_i λ_min(Z(T_i)ᵀZ(T_i)) > η ) ≥ 1 − ε over K + 1 draws (Lemma "lammin").

        A lower confidence bound. The draws are T_1, …, T_K of a run and T'_k of its twin. The last
        shares N − 1 examples with T_k, so they are not independent as the lemma has it; the union
        bound P(λ_min ≤ η) ≤ ε/(K+1) does not need that.
        """
        read_probability(epsilon, "epsilon", ADVICE)
        p = epsilon / (read_count(n_iterations, "n_iterations", 1) + 1)
        eta = self.quantile(p).low
        if eta <= 0:
            raise ValueError(
                f"n_draws={len(self.draws)} draws say nothing sure about a quantile at {p:.3g} ="
                f" epsilon/(n_iterations + 1); take n_draws={draws_for(p)}, a larger epsilon or"
                " fewer iterations"
            )
        return eta

    def zeta(self, epsilon: float, n_iterations: int) -> float:
        """ζ(ε) = √|N^M_D| / η(ε), with P( max_i |(Z(T_i)ᵀZ(T_i))⁻¹|_F < ζ ) ≥ 1 − ε.

        (Lemma "ZZ-bounded", inverse restored.)
        """
        return sqrt(n_controls(self.n_objectives, self.degree)) / self.eta(epsilon, n_iterations)


def draws_for(p: float) -> int:
    """How many draws make the smallest of them a lower confidence bound on the quantile at p."""
    return ceil(log((1 - SCHEDULE.confidence) / 2) / log1p(-p))


def smallest_eigenvalue_law(
    n_objectives: int, degree: int, n_samples: int, n_draws: int = 10_000, seed: int = 0
) -> SmallestEigenvalueLaw:
    """Draws λ_min(ZᵀZ) for N uniform t, n_draws times.

    Args:
        n_objectives: M.
        degree: D.
        n_samples: N; at least the number of control points, below which λ_min is 0.
        n_draws: `draws_for(epsilon / (n_iterations + 1))` is enough to ask for η(ε).
        seed: the same seed gives the same draws.
    """
    check_samples(n_samples, n_objectives, degree)
    if read_count(n_draws, "n_draws", 1) > SCHEDULE.most_draws:
        raise ValueError(
            f"n_draws={n_draws:,} is above the {SCHEDULE.most_draws:,} this library will make; take"
            " a larger epsilon"
        )
    generator = np.random.default_rng(seed)
    block = max(1, SCHEDULE.block_numbers // (n_samples * n_controls(n_objectives, degree)))
    draws = []
    for start in range(0, n_draws, block):
        # exponentials over their sum are uniform on the simplex
        t = generator.standard_exponential((min(block, n_draws - start), n_samples, n_objectives))
        Z = design_matrices(t / t.sum(axis=-1, keepdims=True), degree)
        # By ZᵀZ, five times faster than by QR; a value lost in rounding counts as 0, which is on
        # the safe side.
        values = np.linalg.eigvalsh(np.swapaxes(Z, -1, -2) @ Z)
        noise = SCHEDULE.eigenvalue_noise * np.finfo(float).eps * values[:, -1]
        draws.append(np.where(values[:, 0] > noise, values[:, 0] - noise, 0.0))
    return SmallestEigenvalueLaw(np.sort(np.concatenate(draws)), n_objectives, degree, n_samples)


def eta_chernoff(
    n_objectives: int, degree: int, n_samples: int, n_iterations: int, epsilon: float
) -> float:
    """η(ε) in closed form by a matrix Chernoff bound; 0 where N is too small for it.

    With y(t) = Γ^{-1/2} z(t), |y|² ≤ R and E[yyᵀ] = I, so P( λ_min(Σ y yᵀ) ≤ (1−s)N ) ≤ |N^M_D|
    exp(−s² N / 2R) (Tropp, "User-friendly tail bounds for sums of random matrices", 2012). Since
    ZᵀZ ⪰ λ_min(Γ) Σ y yᵀ, asking for ε/(K+1) on the right gives η = (1−s) N λ_min(Γ): it grows with
    N in proportion, for all N above a threshold.
    """
    read_probability(epsilon, "epsilon", ADVICE)
    check_samples(n_samples, n_objectives, degree)
    n_draws = read_count(n_iterations, "n_iterations", 1) + 1
    failures = n_controls(n_objectives, degree) * n_draws / epsilon
    s = sqrt(2 * coherence(n_objectives, degree) * log(failures) / n_samples)
    return max(0.0, 1 - s) * n_samples * expected_smallest_eigenvalue(n_objectives, degree)
