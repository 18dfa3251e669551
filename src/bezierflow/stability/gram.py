"""The Gram matrix of the Bernstein basis: its expectation in closed form, and the constants that
follow from it."""

from math import comb

import numpy as np
from jaxtyping import Float

from ..simplex import index_positions, multi_indices, multinomials, n_controls


def basis_norm_bound(n_objectives: int, degree: int) -> float:
    """U = max_t |z(t)|₂ (Lemma "sigma-bounded" only says that it exists). It is 1, attained exactly
    at the vertices.

    The entries of z(t) are nonnegative and sum to (Σ t_m)^D = 1, so |z|₂² = Σ z_d² ≤ max_d z_d · Σ
    z_d ≤ 1. Equality needs one entry that is 1, and z_d(t) = 1 makes all others 0, which for D ≥ 1
    happens at t = e_m and nowhere else.
    """
    n_controls(n_objectives, degree)  # refuses sizes that make no surface
    return 1.0


def expected_gram(n_objectives: int, degree: int) -> Float[np.ndarray, "n_controls n_controls"]:
    """Γ = E[z(t) z(t)ᵀ] for uniform t, so that E[ZᵀZ] = N Γ; |Δ|_Γ² = tr(ΔᵀΓΔ) is the mean of
    |b(t|Δ)|² over the simplex.

    Moments of the uniform distribution, E[t^a] = (M−1)! a! / (|a|+M−1)!, give
    Γ_de = (D choose d)(D choose e) / ( (2D choose d+e) C(2D+M−1, M−1) ).
    """
    indices, coefficients = multi_indices(n_objectives, degree), multinomials(n_objectives, degree)
    doubled = multinomials(n_objectives, 2 * degree)[
        index_positions(indices[:, None] + indices[None])
    ]
    return np.outer(coefficients, coefficients) / (
        doubled * comb(2 * degree + n_objectives - 1, n_objectives - 1)
    )


def expected_smallest_eigenvalue(n_objectives: int, degree: int) -> float:
    """λ_min(Γ) = 1 / ( C(D+M−1, D) C(2D+M−1, D) ): what λ_min(ZᵀZ)/N tends to as N grows.

    |N^M_D| Γ is the matrix of the Bernstein–Durrmeyer operator, whose eigenvalue on polynomials of
    degree j is D!(D+M−1)! / ((D−j)!(D+j+M−1)!) (Derriennic, "On multivariate approximation by
    Bernstein-type polynomials", J. Approx. Theory 45, 1985); the smallest belongs to j = D.
    """
    return 1.0 / (
        comb(degree + n_objectives - 1, degree) * comb(2 * degree + n_objectives - 1, degree)
    )


def coherence(n_objectives: int, degree: int) -> float:
    """R = max_t z(t)ᵀ Γ⁻¹ z(t) = |N^M_D|², attained at the vertices: sup_t |b(t|Δ)| ≤ √R |Δ|_Γ.

    It is the diagonal of the reproducing kernel of polynomials of degree D on the simplex with the
    uniform measure.
    """
    return float(n_controls(n_objectives, degree)) ** 2


def gram_root(n_objectives: int, degree: int) -> Float[np.ndarray, "n_controls n_controls"]:
    """The symmetric Γ^{1/2}: |Γ^{1/2} Δ|_F is the RMS size of the surface with control points Δ."""
    values, vectors = np.linalg.eigh(expected_gram(n_objectives, degree))
    return (vectors * np.sqrt(values)) @ vectors.T
