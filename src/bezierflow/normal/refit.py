"""The slide refit: move the control points so that the surface meets its nodes' targets in the
normal directions alone.

    dP = argmin Σ_i ω_i² ( |(I − T_i T_iᵀ)(z_i dP − y_i)|² + μ_i |z_i dP|² )

Charging only for the normal part is the same as letting each target slide along its tangents, |(I −
TTᵀ)(z dP − y)|² = min over s of |z dP − y − T s|². For given slides, dP is an ordinary
least-squares fit; putting that in leaves one small dense system in the slides, of n·(M−1) unknowns
whatever the number of variables L is:

    A = diag(ω √(1+μ)) Z,   S = AᵀA,   σ = 1/√(1+μ),   Π = σ A S⁻¹ Aᵀ σ,   s̃ = ω s,   ỹ = ω y
    (I − Π ∘ [T_iᵀ T_j]) s̃ = −Tᵀ(ỹ − Π ỹ),            dP = S⁻¹ Aᵀ σ (ỹ + T s̃).
"""

import numpy as np
from jaxtyping import Float
from scipy.linalg import cho_factor, cho_solve

MANY_SLIDES = 300
"""From so many unknowns on the system of the slides, symmetric and positive definite, is factored
as such: half the work."""


def slide_refit(
    design: Float[np.ndarray, "n n_free"],
    displacements: Float[np.ndarray, "n n_variables"],
    tangents: Float[np.ndarray, "n n_variables n_tangents"],
    weights: Float[np.ndarray, " n"],
    damping: Float[np.ndarray, " n"],
    gram: Float[np.ndarray, "n_slides n_slides"] | None = None,
) -> Float[np.ndarray, "n_free n_variables"]:
    """The change of the free control points; pinned ones are columns left out of the design.

    Args:
        design: Z, the basis at the nodes, a column a free control point.
        displacements: y_i; only their normal parts count.
        tangents: T_i with orthonormal columns; zero columns for directions that do not exist at a
            node.
        weights: ω_i.
        damping: μ_i; above 0, since sliding the whole surface along itself costs nothing else.
        gram: `tangent_products(tangents)`, where it is at hand.
    """
    share = 1 / np.sqrt(1 + damping)
    factor, projection = _projections(design * (weights / share)[:, None])
    factor, projection = factor * share, projection * share[:, None] * share[None, :]
    y = weights[:, None] * displacements
    n, _, k = tangents.shape
    gram = tangent_products(tangents) if gram is None else gram
    coupling = gram * np.repeat(np.repeat(projection, k, axis=0), k, axis=1)
    right = -np.einsum("iax,ia->ix", tangents, y - projection @ y).ravel()
    system = np.eye(n * k) - coupling
    slides = np.linalg.solve(system, right) if n * k < MANY_SLIDES else _solve_lower(system, right)
    return factor @ (y + np.einsum("iax,ix->ia", tangents, slides.reshape(n, k)))


def tangent_products(
    tangents: Float[np.ndarray, "n n_variables n_tangents"],
) -> Float[np.ndarray, "n_slides n_slides"]:
    """T_iᵀ T_j of all nodes: the same in every step of a fit, and most of what a refit costs where
    there are many variables."""
    n, n_variables, k = tangents.shape
    flat = np.swapaxes(tangents, 1, 2).reshape(n * k, n_variables)
    return flat @ flat.T


def dense_refit(
    design: Float[np.ndarray, "n n_free"],
    displacements: Float[np.ndarray, "n n_variables"],
    tangents: Float[np.ndarray, "n n_variables n_tangents"],
    weights: Float[np.ndarray, " n"],
    damping: Float[np.ndarray, " n"],
) -> Float[np.ndarray, "n_free n_variables"]:
    """The same by the normal equations in all n_free·L unknowns: cheaper where variables are few
    and nodes many.

    The block of two variables a and b is Zᵀ diag(ω² (I − TTᵀ + μ)_ab) Z; those with b ≤ a make the
    lower triangle.
    """
    n_free, n_variables = design.shape[1], displacements.shape[1]
    weighted, identity = design * weights[:, None], np.eye(n_variables)
    across = identity - tangents @ np.swapaxes(tangents, 1, 2)
    costs = across + damping[:, None, None] * identity
    system = np.zeros((n_variables, n_free, n_variables, n_free))
    for a in range(n_variables):
        for b in range(a + 1):
            system[a, :, b] = (weighted * costs[:, a, b, None]).T @ weighted
    target = weighted.T @ (weights[:, None] * np.einsum("nab,nb->na", across, displacements))
    return (
        _solve_lower(system.reshape(n_variables * n_free, -1), target.T.ravel())
        .reshape(n_variables, n_free)
        .T
    )


def _solve_lower(triangle: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution for the symmetric matrix with this lower triangle; the shortest one where
    rounding makes it singular."""
    try:
        return cho_solve(
            cho_factor(triangle, lower=True, check_finite=False), right, check_finite=False
        )
    except np.linalg.LinAlgError:
        if not np.isfinite(triangle).all():
            return np.full_like(right, np.nan)
        return np.linalg.lstsq(np.tril(triangle) + np.tril(triangle, -1).T, right)[0]


def _projections(weighted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """S⁻¹Aᵀ and A S⁻¹ Aᵀ, through the singular values of A: squaring its condition number would
    cost half the digits."""
    left, singular, right = np.linalg.svd(weighted, full_matrices=False)
    inverse = np.where(singular > 1e-13 * singular[0], 1 / np.maximum(singular, 1e-300), 0.0)
    return (right.T * inverse) @ left.T, (left * (inverse > 0)) @ left.T
