"""Bounds of the stability theory for lifted gradient descent: the paper's, mended, and sharper.

Derivations, and where they differ from the paper's text, are in `docs/stability.md`. Throughout, U
= 1.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from jaxtyping import Float

from ..arguments import read_count
from .eigenvalues import coherence, expected_smallest_eigenvalue


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
    """The paper's bounds, letters sorted out and lost factors restored. Step sizes count as 1.

    Attributes:
        mu: μ, a Lipschitz constant of the objectives where the run and its twins go (or, for
            another method without state, the largest |A_t(x) − x| over the step size).
        n_samples: N.
        eta: η, below which no λ_min(ZᵀZ) of the run and its twin lies.
        zeta: ζ = √|N^M_D| / η.
        proved: whether μ holds for every t and every twin.
    """

    mu: float
    n_samples: int
    eta: float
    zeta: float
    proved: bool = False

    def one_step(self) -> Bound:
        """|φ_T(P) − P|_F ≤ ζ N U μ (Lemma "sigma-bounded", whose η is this ζ)."""
        return self._bound(self.zeta * self.n_samples * self.mu)

    def growth(self) -> Bound:
        """|φ_T(P) − φ_T'(P)|_F ≤ 2 μ U (ζ + (N+1)/η), T and T' differing in one example.

        (Lemma "growth" has half of it, and N.)
        """
        return self._bound(2 * self.mu * (self.zeta + (self.n_samples + 1) / self.eta))

    def divergence(self, n_iterations: int, k: int) -> Bound:
        """|P^(K+1) − P'^(K+1)|_F ≤ 2 μ U { ζ + (N+1)/η + (K−k) ζ N }, exchanged at k ("P-gap")."""
        later = n_iterations - read_count(k, "k", 1, n_iterations)
        return self._bound(float(self.growth()) + 2 * later * float(self.one_step()))

    def stability(self, n_iterations: int) -> Bound:
        """δ: sup_t |ℓ(P; t) − ℓ(P'; t)| ≤ U |P − P'|_F ≤ δ; the worst exchange is at k = 1."""
        return self.divergence(n_iterations, 1)

    def _bound(self, value: float) -> Bound:
        assumes = (
            f"λ_min(ZᵀZ) > {self.eta:.4g} in each draw, objectives {self.mu:.4g}-Lipschitz where"
            " the runs go, step sizes ≤ 1"
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
