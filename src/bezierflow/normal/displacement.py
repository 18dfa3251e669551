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

the shortest such d. Only H modulo span U was asked for: H restricted by P = I − UᵀU stays solvable
where a monotone change of an objective (a power, a logarithm) would make H singular. So with

    B = P H P + UᵀU = C Cᵀ,    d = −B⁻¹ P ρ,    T = orth(Uᵀ − B⁻¹ P H Uᵀ),    y = (I − T Tᵀ) d

one Cholesky factor gives all: d is across U with P(H d + ρ) = 0, every column v of T has P H v = 0,
and that the factor exists is the second-order condition. Only directions and curvature relative to
slope enter: scales and offsets of the objectives cancel.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy.linalg import cho_factor, cho_solve

from ..objectives import Derivatives, find_multipliers, replace_rows
from ..precision import ROUNDING

Values = Float[np.ndarray, "n n_objectives"]
"""A number per objective at each of n points."""

Faces = Bool[np.ndarray, "n n_objectives"]
"""The objectives that take part at each of n points."""

Column = Float[np.ndarray, " n"]
"""A number at each of n points."""

DEPENDENT = 1e-8
"""Gradient directions that span less than this (they have length 1) count as dependent."""

CRITICAL = 1e-9
"""Below this residual |ρ| a point counts as critical, and zero multipliers are no sign that it lies
past the boundary."""


class Linearization(NamedTuple):
    """What a flow knows about points: multipliers, residual |ρ|, the way y to the set and T along
    it, whether the second-order condition holds, and whether all of that is valid."""

    multipliers: Values
    residual: Column
    displacement: Float[np.ndarray, "n n_variables"]
    tangents: Float[np.ndarray, "n n_variables n_tangents"]
    minimal: Bool[np.ndarray, " n"]
    valid: Bool[np.ndarray, " n"]

    def take(self, rows: np.ndarray) -> "Linearization":
        """Those of some of the points."""
        return Linearization(*[part[rows] for part in self])

    def with_rows(self, rows: np.ndarray, others: "Linearization") -> "Linearization":
        """With some of the points replaced."""
        parts = zip(self, others, strict=True)
        return Linearization(*[replace_rows(part, rows, new) for part, new in parts])

    def beyond(self, faces: Faces) -> Bool[np.ndarray, " n"]:
        """Which points lie past the boundary of the set: a multiplier of the face is 0 off the
        set."""
        unused = np.any((self.multipliers == 0) & faces, axis=1)
        return self.valid & unused & (self.residual > CRITICAL)


def linearize(derivatives: Derivatives, faces: Faces, support: bool = False) -> Linearization:
    """The linearizations at n points.

    Args:
        derivatives: Gradients at the points, and Hessians from there or from others nearby.
        faces: The objectives J that t asks for.
        support: Whether the face shrinks to the support of w where the point is not critical. Past
            the boundary of the set some w_m is 0 and ρ lies in the span of the differences, so
            without this the displacement would be blind to it.
    """
    gradients, hessians = derivatives.gradients, derivatives.hessians
    assert hessians is not None
    n_tangents = min(gradients.shape[1] - 1, gradients.shape[2])
    usable = np.isfinite(gradients).all(axis=(1, 2))
    usable = np.asarray(usable & np.isfinite(hessians).all(axis=(1, 2, 3)))
    g = np.where(usable[:, None, None], gradients, 0.0)
    size = np.linalg.norm(g, axis=2)
    size = np.where(size > 0, size, 1.0)
    directions = g / size[:, :, None]
    w = find_multipliers(directions @ np.swapaxes(directions, 1, 2), faces)
    rho = np.einsum("nm,nml->nl", w, directions)
    residual = np.linalg.norm(rho, axis=1)
    members = np.where((support & (residual > CRITICAL))[:, None], faces & (w > 0), faces)
    apart = np.where(members[:, :, None], directions - rho[:, None], 0.0)
    # differences to ρ span what differences of the ĝ span, since ρ is their convex combination
    _, singular, rows = np.linalg.svd(apart, full_matrices=False)
    U = np.where(singular > DEPENDENT, 1.0, 0.0)[:, :n_tangents, None] * rows[:, :n_tangents]
    h = np.where(usable[:, None, None, None], hessians, 0.0)
    d, tangents, minimal = _solve(np.einsum("nm,nmij->nij", w / size, h), rho, U)
    valid = usable & np.isfinite(d).all(axis=1) & np.isfinite(tangents).all(axis=(1, 2))
    y, T = np.where(valid[:, None], d, 0.0), np.where(valid[:, None, None], tangents, 0.0)
    return Linearization(w, residual, y, T, minimal & valid, np.asarray(valid))


def _solve(
    h: np.ndarray, rho: np.ndarray, U: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """y, T and whether the curvature is positive across U, at each point.

    Where it is not, it is bent along ρ, as a monotone change of the objectives would do (to H it
    adds multiples of ĝ_m ĝ_mᵀ, which is ρρᵀ modulo span U): a power below 1 of a convex function is
    met as the convex function. On the set ρ = 0, and nothing is changed.
    """
    strength, length = np.linalg.norm(h, axis=(1, 2)), np.linalg.norm(rho, axis=1)
    strength = np.where(strength > 0, strength, 1.0)
    h, along = h / strength[:, None, None], rho / np.where(length > 0, length, 1.0)[:, None]
    factors, systems = _factored(h, U)
    bent = np.array([factor is None for factor in factors], dtype=bool)
    if bent.any():
        h[bent] += along[bent, :, None] * along[bent, None, :]
        again, systems[bent] = _factored(h[bent], U[bent])
        for i, factor in zip(np.flatnonzero(bent), again, strict=True):
            factors[i] = factor
    Ut = np.swapaxes(U, 1, 2)
    right = np.concatenate([(-rho / strength[:, None])[:, :, None], -h @ Ut], axis=2)
    right -= Ut @ (U @ right)
    solved = np.empty_like(right)
    for i, factor in enumerate(factors):
        try:
            solved[i] = (
                np.linalg.solve(systems[i], right[i])
                if factor is None
                else cho_solve((factor, True), right[i], check_finite=False)
            )
        except np.linalg.LinAlgError:
            solved[i] = np.nan
    solved -= Ut @ (U @ solved)
    finite = np.isfinite(solved).all(axis=(1, 2), keepdims=True)
    tangents = np.linalg.qr(Ut + np.where(finite, solved[:, :, 1:], 0.0))[0]
    tangents = tangents * np.any(U != 0, axis=2)[:, None, :]
    y = solved[:, :, :1]
    for _ in range(2):  # the second pass removes what rounding left of the tangents in the first
        y = y - tangents @ (np.swapaxes(tangents, 1, 2) @ y)
    return y[:, :, 0], tangents, np.array([factor is not None for factor in factors], dtype=bool)


def _factored(h: np.ndarray, U: np.ndarray) -> tuple[list[np.ndarray | None], np.ndarray]:
    """Cholesky factors of B = P h P + UᵀU, None where it is not positive definite beyond rounding;
    and B."""
    Ut = np.swapaxes(U, 1, 2)
    hU = h @ Ut
    across = hU @ U
    # P h P without forming P: a few products with the thin U instead of two with L × L matrices
    systems = h - across - np.swapaxes(across, 1, 2) + Ut @ (U @ hU) @ U + Ut @ U
    factors: list[np.ndarray | None] = []
    for system in systems - ROUNDING * np.eye(h.shape[1]):
        try:
            factors.append(cho_factor(system, lower=True, overwrite_a=True, check_finite=False)[0])
        except np.linalg.LinAlgError:
            factors.append(None)
    return factors, systems
