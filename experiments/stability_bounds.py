"""Bounds of the stability theory for lifted gradient descent: the paper's, mended, and sharper; and
the law of λ_min(ZᵀZ) with η(ε) and ζ(ε), which the paper's rest on.

First as formulas, then from a run: its step sizes, λ_min and residuals, and constants of f.
Derivations, and where they differ from the paper's text, are in `docs/stability.md`. Throughout,
U = 1. None of them is near what twins do: the smallest is 12 where another example of iteration 5
moves control points by 5e-8.
"""

from dataclasses import dataclass
from math import ceil, comb, e, log, log1p, sqrt
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy import stats

from bezierflow.arguments import read_count, read_probability
from bezierflow.bezier import basis, design_matrix
from bezierflow.compilation import compiled
from bezierflow.objectives import FlatObjectives
from bezierflow.precision import ROUNDING, double_precision
from bezierflow.problems import Fonseca
from bezierflow.scalarizations import Scalarized, WeightedSum
from bezierflow.simplex import multi_indices, n_controls, raised_positions
from bezierflow.stability import (
    Interval,
    Trace,
    check_samples,
    dense_points,
    gram_root,
    is_quadratic,
    known_curvature,
    mean_interval,
)

MEASURED, DENSE = 100, 500
"""Grid points and evenly spread points, so many of each, at which unknown constants of objectives
are measured besides the run's own t, and at which suprema over t are taken."""

CONFIDENCE = 0.95
"""Of intervals, where nothing else is said."""

MOST_DRAWS, BLOCK_NUMBERS = 2_000_000, 500_000
"""Draws of a sample, at most: a few minutes' work for ten control points; and entries of design
matrices held at a time, to bound memory."""

EIGENVALUE_NOISE = 16.0
"""Roundings of the largest eigenvalue that a smallest one must exceed."""

ADVICE = "0.05 asks for a statement that fails 5 % of the time"
"""On probabilities."""


def basis_norm_bound(n_objectives: int, degree: int) -> float:
    """U = max_t |z(t)|₂ (Lemma "sigma-bounded" only says that it exists): 1, at the vertices alone.

    The entries of z(t) are nonnegative and sum to (Σ t_m)^D = 1, so |z|₂² = Σ z_d² ≤ max_d z_d · Σ
    z_d ≤ 1. Equality needs one entry that is 1, and z_d(t) = 1 makes all others 0, which for D ≥ 1
    happens at t = e_m and nowhere else.
    """
    n_controls(n_objectives, degree)  # refuses sizes that make no surface
    return 1.0


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

    def probability(self, level: float, confidence: float = CONFIDENCE) -> Interval:
        """P(λ_min ≤ level), with its Clopper–Pearson interval."""
        read_probability(confidence, "confidence", ADVICE)
        n, below = len(self.draws), int(np.searchsorted(self.draws, level, side="right"))
        interval = stats.binomtest(below, n).proportion_ci(confidence, method="exact")
        return Interval(below / n, float(interval.low), float(interval.high))

    def quantile(self, p: float, confidence: float = CONFIDENCE) -> Interval:
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
    return ceil(log((1 - CONFIDENCE) / 2) / log1p(-p))


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
    if read_count(n_draws, "n_draws", 1) > MOST_DRAWS:
        raise ValueError(
            f"n_draws={n_draws:,} is above the {MOST_DRAWS:,} this library will make; take"
            " a larger epsilon"
        )
    generator = np.random.default_rng(seed)
    block = max(1, BLOCK_NUMBERS // (n_samples * n_controls(n_objectives, degree)))
    draws = []
    for start in range(0, n_draws, block):
        # exponentials over their sum are uniform on the simplex
        t = generator.standard_exponential((min(block, n_draws - start), n_samples, n_objectives))
        Z = design_matrices(t / t.sum(axis=-1, keepdims=True), degree)
        # By ZᵀZ, five times faster than by QR; a value lost in rounding counts as 0, which is on
        # the safe side.
        values = np.linalg.eigvalsh(np.swapaxes(Z, -1, -2) @ Z)
        noise = EIGENVALUE_NOISE * np.finfo(float).eps * values[:, -1]
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


@dataclass(frozen=True)
class Bound:
    """A number that something stays below, and what that assumes. float() gives the number.

    Attributes:
        value: the number.
        assumes: under which conditions it holds.
        proved: True where its constants hold for every t and every twin; False where they were
            measured on a grid: an estimate, which may lie below what a twin does.
    """

    value: float
    assumes: str
    proved: bool

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        return f"{self.value:.4g}{'' if self.proved else ' (an estimate)'} if {self.assumes}"


@dataclass(frozen=True)
class PaperBounds:
    """The paper's bounds, letters sorted out and lost factors restored.

    Attributes:
        mu: μ, a Lipschitz constant of the objectives where the run and its twins go (or, for
            another method without state, the largest |A_t(x) − x| over the step size).
        n_samples: N.
        eta: η, below which no λ_min(ZᵀZ) of the run and its twin lies.
        zeta: ζ = √|N^M_D| / η.
        proved: whether μ holds for every t and every twin.
        largest_step: what no step size exceeds; the paper has 1.
    """

    mu: float
    n_samples: int
    eta: float
    zeta: float
    proved: bool = False
    largest_step: float = 1.0

    def one_step(self) -> Bound:
        """|φ_T(P) − P|_F ≤ α ζ N U μ (Lemma "sigma-bounded", whose η is this ζ)."""
        return self._bound(self.largest_step * self.zeta * self.n_samples * self.mu)

    def growth(self) -> Bound:
        """|φ_T(P) − φ_T'(P)|_F ≤ 2 α μ U (ζ + (N+1)/η), T and T' differing in one example.

        (Lemma "growth" has half of it, and N.)
        """
        grown = 2 * self.mu * (self.zeta + (self.n_samples + 1) / self.eta)
        return self._bound(self.largest_step * grown)

    def divergence(self, n_iterations: int, k: int) -> Bound:
        """|P^(K+1) − P'^(K+1)|_F ≤ 2 α μ U { ζ + (N+1)/η + (K−k) ζ N }, exchanged at k (Lemma
        "P-gap")."""
        later = n_iterations - read_count(k, "k", 1, n_iterations)
        return self._bound(float(self.growth()) + 2 * later * float(self.one_step()))

    def stability(self, n_iterations: int) -> Bound:
        """δ: sup_t |ℓ(P; t) − ℓ(P'; t)| ≤ U |P − P'|_F ≤ δ; the worst exchange is at k = 1."""
        return self.divergence(n_iterations, 1)

    def _bound(self, value: float) -> Bound:
        assumes = (
            f"λ_min(ZᵀZ) > {self.eta:.4g} in each draw, objectives {self.mu:.4g}-Lipschitz where"
            f" the runs go, step sizes ≤ {self.largest_step:.4g}"
        )
        return Bound(value, assumes, self.proved)


@dataclass(frozen=True)
class SharperBounds:
    """Bounds from what a run really did: its λ_min in every draw and its step sizes.

    They rest on two facts that the paper's proofs leave aside. The refit is a projection:
    |(ZᵀZ)⁻¹Zᵀ|₂ = 1/√λ_min, so a step is at most α μ √(N/λ). And one more example moves a
    least-squares fit by (ZᵀZ)⁻¹ z r / (1 + zᵀ(ZᵀZ)⁻¹z) with its residual r alone, which makes the
    growth O(1/N) where the paper's stays O(1).

    Attributes:
        mu: μ, as in `PaperBounds`.
        n_samples: N.
        step_sizes: α^(1), …, α^(K).
        smallest: λ_min(ZᵀZ) of T_1, …, T_K.
        smallest_twin: λ_min of T'_k for an exchange at k = 1, …, K: of that twin, or a lower bound
            over all twins.
        proved: as in `PaperBounds`.
    """

    mu: float
    n_samples: int
    step_sizes: Float[np.ndarray, " K"]
    smallest: Float[np.ndarray, " K"]
    smallest_twin: Float[np.ndarray, " K"]
    proved: bool = False

    def one_step(self, k: int) -> Bound:
        """|φ_T(P) − P|_F ≤ α^(k) μ √(N/λ_k)."""
        return self._bound(self._steps()[read_count(k, "k", 1, len(self.step_sizes)) - 1])

    def growth(self, k: int) -> Bound:
        """|φ_T(P) − φ_T'(P)|_F ≤ α^(k) μ (ψ(λ_k) + ψ(λ'_k)).

        ψ(λ) = (1 + √(N/λ)) s/(1 + λs²) with s = min(1/λ, 1/√λ): `pull_of_one` for N values of size
        1 each and one more of that size, whose residual is at most 1 + √(N/λ).
        """
        i = read_count(k, "k", 1, len(self.step_sizes)) - 1
        smallest = np.array([self.smallest[i], self.smallest_twin[i]])
        # where λ = 0 the pull is infinite, whatever the residual is taken for
        residual = 1 + np.sqrt(self.n_samples / np.where(smallest > 0, smallest, 1.0))
        return self._bound(self.step_sizes[i] * self.mu * sum(residual * pull_of_one(smallest)))

    def divergence(self, k: int) -> Bound:
        """|P^(K+1) − P'^(K+1)|_F ≤ growth(k) + 2 Σ_{i>k} α^(i) μ √(N/λ_i)."""
        return self._bound(float(self.growth(k)) + 2 * np.sum(self._steps()[k:]))

    def stability(self) -> Bound:
        """sup_t |ℓ(P; t) − ℓ(P'; t)| for an exchange at any iteration: the largest `divergence`."""
        iterations = range(1, len(self.step_sizes) + 1)
        return self._bound(max(float(self.divergence(k)) for k in iterations))

    def _steps(self) -> np.ndarray:
        return self.step_sizes * self.mu * np.sqrt(self.n_samples / self.smallest)

    def _bound(self, value: float) -> Bound:
        assumes = (
            f"objectives {self.mu:.4g}-Lipschitz where the runs go; λ_min and step sizes are the"
            " run's own"
        )
        return Bound(float(value), assumes, self.proved)


@dataclass(frozen=True)
class CurvatureBounds:
    """Bounds from a run's own residuals and curvature: small differences, forgotten later.

    Measured in the RMS size |Δ|_Γ of surfaces. The growth at iteration k is that of a least-squares
    fit from which one example is taken and to which another is added, known from the residuals of
    the run's own gradient field. If all Hessians of f(·|t) where the run goes have eigenvalues in
    [m, β], iteration i multiplies a difference by at most |1 − α(m+β)/2| + α(β−m)/2 κ_i, where κ_i²
    is the ratio of the extreme eigenvalues of Γ^{-1/2}ZᵀZΓ^{-1/2}, which tends to 1 as N grows.

    Attributes:
        step_sizes: α^(1), …, α^(K).
        curvature: (m, β).
        grown: |φ_T(P) − φ_T'(P)|_Γ at most, for an exchange at k = 1, …, K.
        kappa: κ_1, …, κ_K.
        n_objectives: M.
        degree: D.
        proved: whether `curvature` and `grown` hold for every t and every twin.
    """

    step_sizes: Float[np.ndarray, " K"]
    curvature: tuple[float, float]
    grown: Float[np.ndarray, " K"]
    kappa: Float[np.ndarray, " K"]
    n_objectives: int
    degree: int
    proved: bool = False

    def factors(self) -> Float[np.ndarray, " K"]:
        """What each iteration multiplies a difference |Δ|_Γ by, at most."""
        (least, most), alpha = self.curvature, self.step_sizes
        return np.abs(1 - alpha * (least + most) / 2) + alpha * (most - least) / 2 * self.kappa

    def rms(self, k: int) -> Bound:
        """|P^(K+1) − P'^(K+1)|_Γ ≤ growth(k) Π_{i>k} factor_i: the RMS distance of two surfaces."""
        return self._bound(self._all_rms()[read_count(k, "k", 1, len(self.step_sizes)) - 1])

    def divergence(self, k: int) -> Bound:
        """|P^(K+1) − P'^(K+1)|_F ≤ |·|_Γ / √λ_min(Γ)."""
        smallest = expected_smallest_eigenvalue(self.n_objectives, self.degree)
        return self._bound(float(self.rms(k)) / sqrt(smallest))

    def stability(self) -> Bound:
        """sup_t |ℓ(P; t) − ℓ(P'; t)| ≤ √R |·|_Γ for an exchange at any iteration."""
        return self._bound(sqrt(coherence(self.n_objectives, self.degree)) * self._all_rms().max())

    def farthest(self) -> float:
        """√R max over k and i of |P^(i) − P'^(i)|_Γ: how far twins are at any iteration and t."""
        farthest = current = 0.0
        for grown, factor in zip(self.grown, self.factors(), strict=True):
            current = max(current * factor, grown)
            farthest = max(farthest, current)
        return sqrt(coherence(self.n_objectives, self.degree)) * farthest

    def _all_rms(self) -> np.ndarray:
        # backwards, so that an exchange at k is multiplied by the factors after it alone
        later = np.cumprod(np.append(self.factors(), 1.0)[::-1])[::-1][1:]
        return self.grown * later

    def _bound(self, value: float) -> Bound:
        least, most = self.curvature
        assumes = (
            f"Hessians of f(·|t) have eigenvalues in [{least:.4g}, {most:.4g}] where the runs go;"
            " all else is the run's own"
        )
        return Bound(float(value), assumes, self.proved)


def pull_of_one(
    smallest: Float[np.ndarray, "*batch"], norm: float = 1.0
) -> Float[np.ndarray, "*batch"]:
    """How far one more example, |z| ≤ `norm`, moves a least-squares fit with A = ZᵀZ ⪰ λ.

    For a residual of size 1, it moves by y/(1 + yᵀAy) with y = A⁻¹z. With r = |y| ≤ |z|/λ that is
    at most r/(1 + λr²), which is largest at r = 1/√λ. For λ = 0, a singular A, there is no bound.
    """
    positive = np.where(smallest > 0, smallest, 1.0)
    r = np.minimum(norm / positive, 1 / np.sqrt(positive))
    return np.where(smallest > 0, r / (1 + positive * r**2), np.inf)


class RunBounds(NamedTuple):
    """Bounds that hold for every twin of one run, whichever example is exchanged for whatever t.

    Attributes:
        sharper: from a Lipschitz constant.
        curvature: from curvature and residuals.
    """

    sharper: SharperBounds
    curvature: CurvatureBounds


def run_bounds(
    run: Trace,
    objectives: FlatObjectives,
    *,
    mu: float | None = None,
    curvature: tuple[float, float] | None = None,
) -> RunBounds:
    """The bounds of a run, proved where the constants of the objectives are known, else estimates.

    Known are those of quadratics (`Quadratic`, `ScaledMED`) and of `Fonseca`, and those that are
    given. Others are measured at the run's own samples and on a grid of t: a steep place between
    the points of the grid is not seen.

    Args:
        run: the run.
        objectives: of a flat vector.
        mu: a Lipschitz constant of every objective on all of R^L.
        curvature: (m, β) enclosing the eigenvalues of the Hessian of every objective on all of R^L.
    """
    quadratic = is_quadratic(objectives)
    if mu is None and type(objectives) is Fonseca:
        mu = sqrt(2 / e)  # of 1 − exp(−r²)
    slope_is_known = quadratic or mu is not None
    limits = known_curvature(objectives) if curvature is None else curvature
    proved = limits is not None and slope_is_known
    with double_precision():
        P, t = jnp.asarray(run.control_points[:-1]), jnp.asarray(_with_grid(run, MEASURED))
        if limits is None:
            least, most = _extreme_curvature(objectives, P, t, run.degree)
            limits = float(least), float(most)
        curved = _curvature_bounds(run, objectives, mu, limits, proved)
        if mu is None and quadratic:
            # Affine gradients are longest at a control point; those of a twin are longer by at most
            # β times how far it is from the run.
            at_controls = jnp.broadcast_to(jnp.eye(P.shape[1]), (*P.shape[:2], P.shape[1]))
            mu = float(_steepest(objectives, P, at_controls)) + limits[1] * curved.farthest()
        elif mu is None:
            mu = float(_steepest(objectives, P, basis(t, run.degree)))
            if not 0 < mu < np.inf:
                raise ValueError(
                    "objectives must have gradients where the run goes, finite and not all 0; the"
                    f" largest found is {mu}. Rounding and comparisons have none; where a gradient"
                    " is infinite, start elsewhere"
                )
    # λ'_k is bounded below over all twins by leaving each example out in turn: an example can only
    # add to ZᵀZ.
    smallest = smallest_eigenvalues(run.t, run.degree)
    without = np.array([_smallest_without_one(Z) for Z in design_matrices(run.t, run.degree)])
    twin = np.minimum(without, smallest)
    sharper = SharperBounds(mu, run.t.shape[1], run.step_sizes, smallest, twin, slope_is_known)
    return RunBounds(sharper, curved)


def _curvature_bounds(
    run: Trace,
    objectives: FlatObjectives,
    mu: float | None,
    limits: tuple[float, float],
    proved: bool,
) -> CurvatureBounds:
    """κ_k, and |φ_T(P^(k)) − φ_T'(P^(k))|_Γ at most, over all exchanges at iteration k.

    Taking example i out of a fit moves it by w_i r_i / (1 − h_i) exactly, with w_i = A⁻¹y_i and h_i
    = y_iᵀ w_i. Adding one then moves it by `pull_of_one` times a residual, at most sup_t |residual
    of the first fit| + √R |what taking out moved|.
    """
    M, degree = run.t.shape[-1], run.degree
    # sup_t |∇f(b(t|P^(k)) | t) − ĝ_k(t)|
    if is_quadratic(objectives):
        residual = residuals_of_quadratics(run, objectives)
    elif mu is not None:  # |∇f(x|t)| ≤ μ, and no point of ĝ_k is longer than its control points
        residual = mu + np.linalg.norm(run.fitted(), axis=-1).max(axis=1)
    else:
        residual = residuals(run, objectives, _with_grid(run, DENSE)).max(axis=1)
    y = design_matrices(run.t, degree) @ np.linalg.inv(gram_root(M, degree))
    A, root_R = y.transpose(0, 2, 1) @ y, sqrt(coherence(M, degree))
    w = y @ np.linalg.inv(A)
    left = 1 - np.sum(w * y, axis=-1)
    # A leverage h_i of 1 to rounding: nothing is left of the fit without that example.
    moved = np.linalg.norm(w, axis=-1) * residuals(run, objectives, run.t)
    moved = np.where(left > ROUNDING, moved / np.where(left > ROUNDING, left, 1.0), np.inf)
    taken = np.max(moved, axis=1)
    without = np.array([_smallest_without_one(rows) for rows in y])
    added = pull_of_one(without, root_R) * (residual + root_R * taken)
    values = np.linalg.eigvalsh(A)
    kappa = np.sqrt(values[:, -1] / values[:, 0])
    grown = run.step_sizes * (taken + added)
    return CurvatureBounds(run.step_sizes, limits, grown, kappa, M, degree, proved)


def _smallest_without_one(design: Float[np.ndarray, "n_samples n_controls"]) -> float:
    """min_i λ_min(ZᵀZ − z_i z_iᵀ); 0 where it is lost in rounding, which is on the safe side."""
    gram = design.T @ design
    values = np.linalg.eigvalsh(gram - design[:, :, None] * design[:, None, :])
    smallest = float(values[:, 0].min())
    return smallest if smallest > ROUNDING * float(values.max()) else 0.0


def residuals_of_quadratics(run: Trace, objectives: FlatObjectives) -> Float[np.ndarray, " K"]:
    """sup_t |∇f(b(t|P^(k)) | t) − ĝ_k(t)| at most, ĝ_k being the fitted gradient field.

    With affine ∇f_m the difference is a polynomial of degree D+1, whose Bernstein coefficients are
    Σ_m e_m/(D+1) (∇f_m(p_{e−e_m}) − ĝ_{e−e_m}). No point of a Bézier simplex is farther out than
    its farthest control point.
    """
    M, D, L = run.t.shape[-1], run.degree, run.control_points.shape[-1]
    raised, shares = raised_positions(M, D + 1), (multi_indices(M, D) + 1) / (D + 1)
    with double_precision():
        P = jnp.asarray(run.control_points[:-1])
        gradients = np.asarray(_jacobians(objectives, P.reshape(-1, L))).reshape(*P.shape[:2], M, L)
    parts = shares[:, :, None] * (gradients - run.fitted()[:, :, None, :])
    coefficients = np.zeros((len(P), n_controls(M, D + 1), L))
    for d, positions in enumerate(raised):
        coefficients[:, positions] += parts[:, d]
    return np.linalg.norm(coefficients, axis=-1).max(axis=1)


def residuals(
    run: Trace, objectives: FlatObjectives, t: Float[np.ndarray, "K n n_objectives"]
) -> Float[np.ndarray, "K n"]:
    """|∇f(b(t_n|P^(k)) | t_n) − ĝ_k(t_n)| for the t of each iteration."""
    with double_precision():
        P, fitted = jnp.asarray(run.control_points[:-1]), jnp.asarray(run.fitted())
        return np.asarray(_residual_sizes(objectives, P, fitted, jnp.asarray(t), run.degree))


def _with_grid(run: Trace, n: int) -> Float[np.ndarray, "K n_points n_objectives"]:
    """The run's own samples with n grid points and n evenly spread ones, in every iteration."""
    with double_precision():
        points = dense_points(run.t.shape[-1], n)
    return np.concatenate([run.t, np.broadcast_to(points, (len(run.t), *points.shape))], axis=1)


@compiled
def _jacobians(objectives: FlatObjectives, x: Array) -> Array:
    return jax.vmap(jax.jacrev(objectives))(x)


@compiled
def _steepest(
    objectives: FlatObjectives,
    control_points: Float[Array, "K n_controls n_variables"],
    Z: Float[Array, "K n n_controls"],
) -> Float[Array, ""]:
    """Max |∇f_m(x)| over m and the points x = ZP of all iterations (Assumption "mu")."""

    def in_iteration(Z_and_P: tuple[Array, Array]) -> Array:
        Z, P = Z_and_P
        return jnp.max(jnp.linalg.norm(jax.vmap(jax.jacrev(objectives))(Z @ P), axis=-1))

    return jnp.max(jax.lax.map(in_iteration, (Z, control_points)))


@compiled
def _residual_sizes(
    objectives: FlatObjectives,
    control_points: Float[Array, "K n_controls n_variables"],
    fitted: Float[Array, "K n_controls n_variables"],
    t: Float[Array, "K n n_objectives"],
    degree: int,
) -> Float[Array, "K n"]:
    def in_iteration(arrays: tuple[Array, Array, Array]) -> Array:
        P, fitted, t = arrays
        Z = basis(t, degree)
        gradient = jax.vmap(lambda t, x: Scalarized(objectives, WeightedSum(), t).gradient(x))
        return jnp.linalg.norm(gradient(t, Z @ P) - Z @ fitted, axis=-1)

    return jax.lax.map(in_iteration, (control_points, fitted, t))


@compiled
def _extreme_curvature(
    objectives: FlatObjectives,
    control_points: Float[Array, "K n_controls n_variables"],
    t: Float[Array, "K n n_objectives"],
    degree: int,
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    def eigenvalues(t: Array, x: Array) -> Array:
        return jnp.linalg.eigvalsh(jax.hessian(Scalarized(objectives, WeightedSum(), t))(x))

    def in_iteration(arrays: tuple[Array, Array]) -> tuple[Array, Array]:
        P, t = arrays
        values = jax.vmap(eigenvalues)(t, basis(t, degree) @ P)
        return jnp.min(values), jnp.max(values)

    least, most = jax.lax.map(in_iteration, (control_points, t))
    return jnp.min(least), jnp.max(most)
