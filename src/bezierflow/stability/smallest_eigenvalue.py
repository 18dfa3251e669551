"""The law of λ_min(ZᵀZ) for N uniform t, by Monte Carlo with confidence: η(ε) and ζ(ε) of the
paper's lemmas."""

from dataclasses import dataclass
from math import ceil, log, log1p, sqrt

import numpy as np
from jaxtyping import Float
from scipy import stats

from ..bezier import design_matrix
from ..simplex import n_controls
from .checks import check_count, check_probability, check_samples
from .gram import coherence, expected_smallest_eigenvalue
from .intervals import CONFIDENCE, Interval, mean_interval

LARGEST_DRAWS = 2_000_000
"""More draws than this are refused; a few minutes' work for ten control points."""

BLOCK_NUMBERS = 500_000
"""Entries of design matrices held at a time, to bound memory."""


def design_matrices(
    t: Float[np.ndarray, "*batch n_samples n_objectives"], degree: int
) -> Float[np.ndarray, "*batch n_samples n_controls"]:
    """Z of each draw of a batch."""
    columns = design_matrix(t.reshape(-1, t.shape[-1]), degree).T
    return np.moveaxis(columns.reshape(-1, *t.shape[:-1]), 0, -1)


def smallest_eigenvalues(
    t: Float[np.ndarray, "*batch n_samples n_objectives"], degree: int
) -> Float[np.ndarray, "*batch"]:
    """λ_min(Z(T)ᵀZ(T)) of each sample T, as the square of the least singular value of Z: no digit
    is lost to squaring Z."""
    design = design_matrices(np.asarray(t), degree)
    triangle = np.linalg.qr(design, mode="r")
    return np.linalg.svd(triangle, compute_uv=False)[..., -1] ** 2


@dataclass(frozen=True)
class SmallestEigenvalueLaw:
    """The law of λ_min(ZᵀZ), for N i.i.d. uniform t: independent draws of it, sorted. Made by
    `smallest_eigenvalue_law`.

    Attributes:
        draws: the sorted draws.
        n_objectives: M.
        degree: D.
        n_samples: N.
    """

    draws: Float[np.ndarray, " n_draws"]
    n_objectives: int
    degree: int
    n_samples: int

    def probability(self, level: float, confidence: float = CONFIDENCE) -> Interval:
        """P(λ_min ≤ level), with its Clopper–Pearson interval."""
        check_probability(confidence, "confidence")
        n, below = len(self.draws), int(np.searchsorted(self.draws, level, side="right"))
        interval = stats.binomtest(below, n).proportion_ci(confidence, method="exact")
        return Interval(below / n, float(interval.low), float(interval.high))

    def quantile(self, p: float, confidence: float = CONFIDENCE) -> Interval:
        """The level with P(λ_min ≤ level) = p, with its exact interval from order statistics,
        whatever the law is.

        The low end is 0 and the high end infinite where not even the outermost draw can be trusted
        that far.
        """
        check_probability(p, "p")
        check_probability(confidence, "confidence")
        interval = stats.quantile_test(self.draws, p=p).confidence_interval(confidence)
        low, high = np.nan_to_num(interval.low, nan=0.0), np.nan_to_num(interval.high, nan=np.inf)
        return Interval(float(np.quantile(self.draws, p)), float(low), float(high))

    def inverse_root_moment(self) -> Interval:
        """E[λ_min^{−1/2}], the mean over the draws: what the expected length of a step is
        proportional to.

        It is finite for N > D |N^M_D| (see `docs/stability.md`, the theorem on the expected gap).
        """
        return mean_interval(self.draws**-0.5)

    def eta(self, epsilon: float, n_iterations: int, confidence: float = CONFIDENCE) -> float:
        """η(ε) with P( min_i λ_min(Z(T_i)ᵀZ(T_i)) > η ) ≥ 1 − ε over K + 1 draws (Lemma "lammin"),
        a lower confidence bound.

        The K + 1 draws are those of a run and of its twin, T_1, …, T_K and T'_k. The last shares N
        − 1 examples with T_k, so they are not independent as the lemma has it; the union bound
        P(λ_min ≤ η) ≤ ε/(K+1) does not need that.
        """
        check_probability(epsilon, "epsilon")
        p = epsilon / (check_count(n_iterations, "n_iterations") + 1)
        eta = self.quantile(p, confidence).low
        if eta <= 0:
            needed = draws_for(p, confidence)
            raise ValueError(
                f"n_draws={len(self.draws)} draws say nothing sure about a quantile at {p:.3g} ="
                f" epsilon/(n_iterations + 1); take n_draws={needed}, a larger epsilon or fewer"
                " iterations"
            )
        return eta

    def zeta(self, epsilon: float, n_iterations: int, confidence: float = CONFIDENCE) -> float:
        """ζ(ε) = √|N^M_D| / η(ε), with P( max_i |(Z(T_i)ᵀZ(T_i))⁻¹|_F < ζ ) ≥ 1 − ε (Lemma
        "ZZ-bounded", inverse restored)."""
        return sqrt(n_controls(self.n_objectives, self.degree)) / self.eta(
            epsilon, n_iterations, confidence
        )


def draws_for(p: float, confidence: float = CONFIDENCE) -> int:
    """How many draws it takes for the smallest of them to be a lower confidence bound on the
    quantile at p."""
    return ceil(log((1 - confidence) / 2) / log1p(-p))


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
    if check_count(n_draws, "n_draws") > LARGEST_DRAWS:
        raise ValueError(
            f"n_draws={n_draws:,} is above the {LARGEST_DRAWS:,} this library will make; take a"
            " larger epsilon"
        )
    generator = np.random.default_rng(seed)
    block = max(1, BLOCK_NUMBERS // (n_samples * n_controls(n_objectives, degree)))
    draws = []
    for start in range(0, n_draws, block):
        t = generator.standard_exponential((min(block, n_draws - start), n_samples, n_objectives))
        draws.append(_gram_eigenvalue(design_matrices(t / t.sum(axis=-1, keepdims=True), degree)))
    return SmallestEigenvalueLaw(np.sort(np.concatenate(draws)), n_objectives, degree, n_samples)


def _gram_eigenvalue(
    design: Float[np.ndarray, "n_draws n_samples n_controls"],
) -> Float[np.ndarray, " n_draws"]:
    """λ_min by ZᵀZ, five times faster than by QR; a value lost in rounding counts as 0, which is on
    the safe side."""
    values = np.linalg.eigvalsh(np.swapaxes(design, -1, -2) @ design)
    noise = 16 * np.finfo(float).eps * values[:, -1]
    return np.where(values[:, 0] > noise, values[:, 0] - noise, 0.0)


def eta_chernoff(
    n_objectives: int, degree: int, n_samples: int, n_iterations: int, epsilon: float
) -> float:
    """η(ε) in closed form, no simulation: a matrix Chernoff bound. 0 where N is too small for it to
    say anything.

    With y(t) = Γ^{-1/2} z(t), |y|² ≤ R and E[yyᵀ] = I, so P( λ_min(Σ y yᵀ) ≤ (1−s)N ) ≤ |N^M_D|
    exp(−s² N / 2R) (Tropp, "User-friendly tail bounds for sums of random matrices", 2012). Since
    ZᵀZ ⪰ λ_min(Γ) Σ y yᵀ, asking for ε/(K+1) on the right gives η = (1−s) N λ_min(Γ): it grows with
    N in proportion, for all N above a threshold.
    """
    check_probability(epsilon, "epsilon")
    check_samples(n_samples, n_objectives, degree)
    failures = (
        n_controls(n_objectives, degree) * (check_count(n_iterations, "n_iterations") + 1) / epsilon
    )
    s = sqrt(2 * coherence(n_objectives, degree) * log(failures) / n_samples)
    return max(0.0, 1 - s) * n_samples * expected_smallest_eigenvalue(n_objectives, degree)
