"""Multipliers of a face: the convex combination of gradient directions nearest to zero.

A point is Pareto critical for the objectives J exactly if some w ∈ Δ_J has Σ w_m ĝ_m = 0. The best
w at any other point is the solution of a small quadratic program over the simplex: exactly, by
trying every support, for few objectives, and by an active-set method for many.
"""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from .schedule import SCHEDULE


def face_multipliers(
    directions: Float[Array | np.ndarray, "n_objectives n_variables"],
    face: Bool[Array | np.ndarray, " n_objectives"],
) -> Float[Array, " n_objectives"]:
    """The w that minimizes |Σ w_m ĝ_m| over w ≥ 0, Σ w_m = 1, w_m = 0 outside the face. Traceable;
    vmap it over points.

    With w = u/Σu it is the same as min |Σ u_m ĝ_m|² + (1 − Σ u_m)² over u ≥ 0 (for a fixed
    direction of u the best length gives |ρ|²/(1 + |ρ|²), which grows with |ρ|): no equality
    constraint, and on a support S the linear system (ĝĝᵀ + 11ᵀ)_S u = 1, positive definite as long
    as the directions in S are affinely independent.
    """
    few = directions.shape[0] <= SCHEDULE.most_enumerated
    return (_by_enumeration if few else _by_active_set)(jnp.asarray(directions), jnp.asarray(face))


def _on_support(gram: Array, members: Array) -> Array:
    """The u with (gram u)_S = 1 and u = 0 outside S; not a number where the directions in S are
    affinely dependent."""
    inside = members.astype(gram.dtype)
    system = gram * inside[:, None] * inside[None, :] + jnp.diag(1 - inside)
    return jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(system), True), inside) * inside


def _by_enumeration(directions: Array, face: Array) -> Array:
    n_objectives = len(directions)
    gram = directions @ directions.T + 1
    supports = jnp.asarray(
        np.array([s for s in product([True, False], repeat=n_objectives) if any(s)])
    )
    u = jax.vmap(_on_support, in_axes=(None, 0))(gram, supports)
    w = u / jnp.sum(u, axis=1, keepdims=True)
    # A support that leaves the face, has a negative weight or is degenerate cannot be the answer: a
    # smaller one then is.
    feasible = jnp.all(jnp.where(supports, w > 0, True), axis=1) & jnp.all(~supports | face, axis=1)
    w = jnp.where(feasible[:, None], w, 0.0)
    length = jnp.where(feasible, jnp.linalg.norm(w @ directions, axis=1), jnp.inf)
    # A feasible larger support is never worse: rounding must not let a smaller one win a tie on the
    # set itself.
    size = jnp.sum(supports, axis=1)
    return w[jnp.argmin(length - SCHEDULE.multiplier_rounding * size)]


def _by_active_set(directions: Array, face: Array) -> Array:
    """Lawson and Hanson's active-set method for nonnegative least squares (Solving Least Squares
    Problems, 1974)."""
    n_objectives = len(directions)
    gram = directions @ directions.T + 1 + SCHEDULE.multiplier_ridge * jnp.eye(n_objectives)

    def more(carry: tuple) -> Array:
        _, _, _, going, count = carry
        return going & (count < SCHEDULE.multiplier_rounds * n_objectives)

    def advance(carry: tuple) -> tuple:
        u, passive, inner, _, count = carry
        slope = jnp.where(face & ~passive, 1 - gram @ u, -jnp.inf)
        entering = jnp.arange(n_objectives) == jnp.argmax(slope)
        finished = ~inner & (jnp.max(slope) <= SCHEDULE.multiplier_rounding)
        passive = jnp.where(inner | finished, passive, passive | entering)
        s = _on_support(gram, passive)
        blocked = passive & (s <= 0)
        # Walk from u towards s until the first weight reaches 0; that one leaves the passive set.
        share = jnp.where(blocked, u / jnp.where(blocked, u - s, 1.0), jnp.inf)
        step = jnp.minimum(1.0, jnp.min(share))
        walked = jnp.where(passive, u + step * (s - u), 0.0)
        leaving = blocked & (share <= step)
        u_next = jnp.where(leaving, 0.0, walked)
        usable = jnp.all(jnp.isfinite(s))
        going = ~finished & usable
        u = jnp.where(going, u_next, u)
        return u, jnp.where(going, passive & ~leaving, passive), jnp.any(blocked), going, count + 1

    start = jnp.argmax(face)
    u = jnp.zeros(n_objectives, directions.dtype).at[start].set(1 / gram[start, start])
    passive = jnp.arange(n_objectives) == start
    u, *_ = jax.lax.while_loop(
        more, advance, (u, passive, jnp.asarray(False), jnp.asarray(True), 0)
    )
    return u / jnp.sum(u)
