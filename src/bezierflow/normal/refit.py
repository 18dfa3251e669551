"""The slide refit: move the control points so that the surface meets its nodes' targets in the normal directions alone.

    dP = argmin Σ_i ω_i² ( |(I − T_i T_iᵀ)(z_i dP − y_i)|² + μ_i |z_i dP|² )

Charging only for the normal part is the same as letting each target slide along its tangents,
|(I − TTᵀ)(z dP − y)|² = min over s of |z dP − y − T s|². For given slides, dP is an ordinary least-squares fit; putting that
in leaves one small dense system in the slides, of n·(M−1) unknowns whatever the number of variables L is:

    A = diag(ω √(1+μ)) Z,   S = AᵀA,   σ = 1/√(1+μ),   Π = σ A S⁻¹ Aᵀ σ,   s̃ = ω s,   ỹ = ω y
    (I − Π ∘ [T_iᵀ T_j]) s̃ = −Tᵀ(ỹ − Π ỹ),            dP = S⁻¹ Aᵀ σ (ỹ + T s̃).
"""

from types import ModuleType
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


def slide_refit(
    design: Float[Array | np.ndarray, "n n_free"],
    displacements: Float[Array | np.ndarray, "*batch n n_variables"],
    tangents: Float[Array | np.ndarray, "*batch n n_variables n_tangents"],
    weights: Float[Array | np.ndarray, " n"],
    damping: Float[Array | np.ndarray, "#n"] | Float[Array, ""] | float,
    xp: ModuleType = jnp,
) -> Float[Array | np.ndarray, "*batch n_free n_variables"]:
    """The change of the free control points; pinned ones are columns left out of the design.

    Args:
        design: Z, the basis at the nodes, a column a free control point.
        displacements: y_i; only their normal parts count.
        tangents: T_i with orthonormal columns; zero columns for directions that do not exist at a node.
        weights: ω_i.
        damping: μ_i, or one for all; above 0, since sliding the whole surface along itself costs nothing else.
        xp: `jax.numpy` for use inside a compiled flow; `numpy` where shapes change from call to call and compiling would cost
            more than it saves.
    """
    share = 1 / xp.sqrt(1 + damping * xp.ones(len(weights)))
    factor, projection = _projections(design * (weights / share)[:, None], xp)
    factor, projection = factor * share, projection * share[:, None] * share[None, :]
    y = weights[:, None] * displacements
    *batch, n, n_variables, k = tangents.shape
    flat = xp.swapaxes(tangents, -1, -2).reshape(*batch, n * k, n_variables)
    overlap = flat @ xp.swapaxes(flat, -1, -2)
    coupling = overlap * xp.repeat(xp.repeat(projection, k, axis=0), k, axis=1)
    right = -xp.einsum("...iax,...ia->...ix", tangents, y - projection @ y)
    slides = xp.linalg.solve(xp.eye(n * k) - coupling, right.reshape(*right.shape[:-2], n * k, 1)).reshape(right.shape)
    return factor @ (y + xp.einsum("...iax,...ix->...ia", tangents, slides))


def dense_refit(
    design: Float[Array | np.ndarray, "n n_free"],
    displacements: Float[Array | np.ndarray, "n n_variables"],
    tangents: Float[Array | np.ndarray, "n n_variables n_tangents"],
    weights: Float[Array | np.ndarray, " n"],
    damping: Float[Array | np.ndarray, "#n"] | Float[Array, ""] | float,
    xp: ModuleType = jnp,
) -> Float[Array | np.ndarray, "n_free n_variables"]:
    """The same by the normal equations in all n_free·L unknowns: cheaper where variables are few and nodes many."""
    n_free, n_variables = design.shape[1], displacements.shape[1]
    weighted = design * weights[:, None]
    across = xp.eye(n_variables) - xp.einsum("nlk,nmk->nlm", tangents, tangents)
    pairs = (weighted[:, :, None] * weighted[:, None, :]).reshape(len(design), -1)
    blocks = pairs.T @ (across + (damping * xp.ones(len(design)))[:, None, None] * xp.eye(n_variables)).reshape(len(design), -1)
    system = blocks.reshape(n_free, n_free, n_variables, n_variables)
    system = xp.swapaxes(system, 1, 2).reshape(n_free * n_variables, n_free * n_variables)
    target = weights[:, None] * xp.einsum("nlm,nm->nl", across, displacements)
    return xp.linalg.solve(system, (weighted.T @ target).reshape(-1, 1)).reshape(n_free, n_variables)


def _projections(weighted: Any, xp: ModuleType) -> tuple[Any, Any]:
    """S⁻¹Aᵀ and A S⁻¹ Aᵀ, through the singular values of A: squaring its condition number would cost half the digits."""
    left, singular, right = xp.linalg.svd(weighted, full_matrices=False)
    inverse = xp.where(singular > 1e-13 * singular[0], 1 / xp.maximum(singular, 1e-300), 0.0)
    return (right.T * inverse) @ left.T, (left * (inverse > 0)) @ left.T
