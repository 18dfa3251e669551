"""The normal displacement: how far, and which way, a point lies from the Pareto-critical set of its
face.

At x, with gradient directions ĝ_m = g_m/|g_m|, curvatures Ĥ_m = H_m/|g_m| and the multipliers w of
the face J,

    ρ = Σ w_m ĝ_m,   H = Σ w_m Ĥ_m.

A nearby x + d is critical if some change of the multipliers v (Σ v_m = 0, in J) gives ρ + H d + Σ
v_m ĝ_m = 0 to first order. Let the rows of U be an orthonormal basis of span{ĝ_i − ĝ_j : i, j ∈ J}:
what v can absorb. Then H d + ρ ∈ span U, so

    tangent space of the set:  T = orthonormal basis of H⁻¹ Uᵀ
    displacement:              y = −(I − T Tᵀ) H⁻¹ ρ,

the shortest such d. Adding any multiple of UᵀU to H changes neither, since only H modulo span U was
asked for: with H̃ = H + κ UᵀU the system stays solvable where a monotone change of an objective (a
power, a logarithm) would make H singular. Only directions and curvature relative to slope enter:
scales and offsets of the objectives cancel.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..compilation import NO_NESTED_THREADS
from ..objectives import face_multipliers

DEPENDENT = 1e-8
"""Gradient directions that span less than this (they have length 1) count as dependent."""

CRITICAL = 1e-9
"""Below this residual |ρ| a point counts as critical, and zero multipliers are no sign that it lies
past the boundary."""


class Linearization(NamedTuple):
    """What a flow knows about one point: its multipliers, its residual, the way to the set and
    along it.

    The seam for other ways to move: whatever gives these six numbers at a point can be refitted and
    reported on.
    """

    multipliers: Float[Array | np.ndarray, "*batch n_objectives"]
    residual: Float[Array | np.ndarray, "*batch"]
    displacement: Float[Array | np.ndarray, "*batch n_variables"]
    tangents: Float[Array | np.ndarray, "*batch n_variables n_tangents"]
    minimal: Bool[Array | np.ndarray, "*batch"]
    valid: Bool[Array | np.ndarray, "*batch"]

    @property
    def distance(self) -> Array:
        """|y|, to first order the distance to the set."""
        return jnp.linalg.norm(self.displacement, axis=-1)

    def take(self, rows: np.ndarray) -> "Linearization":
        """Those of some of the points."""
        return Linearization(*[np.asarray(part)[rows] for part in self])


def linearize(
    gradients: Float[Array | np.ndarray, "n_objectives n_variables"],
    hessians: Float[Array | np.ndarray, "n_objectives n_variables n_variables"],
    face: Bool[Array | np.ndarray, " n_objectives"],
    support: Bool[Array | np.ndarray, ""] | bool = False,
) -> Linearization:
    """The linearization at one point; vmap it over points. Frozen Hessians are simply older ones.

    Args:
        gradients: g_m, one row an objective.
        hessians: H_m; from this point, or from one nearby.
        face: The objectives J that t asks for.
        support: Whether the face shrinks to the support of w where the point is not critical. Past
            the boundary of the set some w_m is 0 and ρ lies in the span of the differences, so
            without this the displacement would be blind to it.
    """
    size = jnp.linalg.norm(gradients, axis=1)
    usable = jnp.all(jnp.isfinite(gradients)) & jnp.all(jnp.isfinite(hessians))
    scale = jnp.where(usable & (size > 0), size, 1.0)[:, None]
    directions = jnp.where(usable, gradients, 0.0) / scale
    w = face_multipliers(directions, face)
    rho = w @ directions
    residual = jnp.linalg.norm(rho)
    members = jnp.where(support & (residual > CRITICAL), face & (w > 0), face)
    curvature = jnp.tensordot(w / scale[:, 0], jnp.where(usable, hessians, 0.0), 1)
    absorbed = _span(directions - rho, members)
    d, tangents, minimal = _solve(curvature, rho, absorbed)
    valid = usable & jnp.all(jnp.isfinite(d)) & jnp.all(jnp.isfinite(tangents))
    return Linearization(
        w,
        residual,
        jnp.where(valid, d, 0.0),
        jnp.where(valid, tangents, 0.0),
        minimal & valid,
        valid,
    )


def common_descent(
    gradients: Float[Array | np.ndarray, "n_objectives n_variables"],
    face: Bool[Array | np.ndarray, " n_objectives"],
    step_size: float,
) -> Linearization:
    """The first-order variant, without Hessians: y = −α ρ, the face-wise common descent direction.

    It takes every curvature for 1/α, so the tangents are the gradient differences themselves.
    Cheap, and many times slower.
    """
    n_objectives, n_variables = gradients.shape
    flat = jnp.broadcast_to(
        jnp.eye(n_variables) / step_size, (n_objectives, n_variables, n_variables)
    )
    return linearize(
        gradients, flat * jnp.linalg.norm(gradients, axis=1)[:, None, None], face, support=True
    )


def _span(differences: Array, members: Array) -> Array:
    """Orthonormal rows that span the members' differences, in order of importance, padded with zero
    rows."""
    _, singular, rows = jnp.linalg.svd(
        jnp.where(members[:, None], differences, 0.0), full_matrices=False
    )
    n_tangents = min(differences.shape[0] - 1, differences.shape[1])
    return jnp.where(singular > DEPENDENT, 1.0, 0.0)[:n_tangents, None] * rows[:n_tangents]


def _solve(curvature: Array, rho: Array, absorbed: Array) -> tuple[Array, Array, Array]:
    """y, T and whether the second-order condition holds: the curvature is positive across the
    absorbed directions.

    Where it is not, it is bent along ρ, as a monotone change of the objectives would do (to H it
    adds multiples of ĝ_m ĝ_mᵀ, which is ρρᵀ modulo span U): a power below 1 of a convex function is
    met as the convex function. On the set ρ = 0, and nothing is changed.
    """
    strength = jnp.linalg.norm(curvature)
    strength = jnp.where(strength > 0, strength, 1.0)
    convexifier = absorbed.T @ absorbed
    across = jnp.eye(len(rho)) - convexifier
    curvature = curvature / strength
    length = jnp.linalg.norm(rho)
    bend = jnp.outer(rho, rho) / jnp.where(length > 0, length, 1.0) ** 2
    curvature = curvature + jnp.where(
        _positive(across @ curvature @ across + convexifier), 0.0, bend
    )
    minimal = _positive(across @ curvature @ across + convexifier)
    solved = jnp.linalg.solve(
        curvature + convexifier, jnp.column_stack([-rho / strength, absorbed.T])
    )
    kept = jnp.any(absorbed != 0, axis=1)
    tangents = jnp.linalg.qr(solved[:, 1:])[0] * kept
    d = solved[:, 0] - tangents @ (tangents.T @ solved[:, 0])
    # Twice is enough: the second pass removes what rounding left of the tangents in the first.
    return d - tangents @ (tangents.T @ d), tangents, minimal


def _positive(matrix: Array) -> Array:
    """Whether a symmetric matrix with entries of order 1 is positive definite beyond rounding."""
    return jnp.all(jnp.isfinite(jnp.linalg.cholesky(matrix - 1e-12 * jnp.eye(len(matrix)))))


linearize_points = jax.jit(
    jax.vmap(linearize, in_axes=(0, 0, 0, None)), compiler_options=NO_NESTED_THREADS
)
"""`linearize` at a batch of points, compiled: gradients, hessians and faces with the batch axis
first."""
