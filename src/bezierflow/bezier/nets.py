"""Operations on a net of control points: arrays whose rows follow the canonical order of N^M_D."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..simplex import multi_indices, n_controls, raised_positions


def differentiate(net: Float[Array, "n_controls *value"], n_objectives: int, degree: int) -> Float[Array, "M below *value"]:
    """The nets of the partial derivatives: ∂b/∂t_m = D Σ_{d ∈ N^M_{D−1}} B_d(t) p_{d+e_m}, one a leading index m.

    They belong to b as a polynomial in all of t ∈ R^M; along the simplex only differences of them have a meaning.
    """
    positions = raised_positions(n_objectives, degree)
    return degree * net[positions.T]


def elevate(net: Float[Array, "n_controls *value"], n_objectives: int, degree: int) -> Float[Array, "n_above *value"]:
    """The net of the same map one degree higher: p'_d = Σ_m d_m/(D+1) p_{d−e_m}."""
    positions = raised_positions(n_objectives, degree + 1)
    share = (multi_indices(n_objectives, degree) + 1) / (degree + 1)
    share = share.reshape(*share.shape, *[1] * (net.ndim - 1))
    above = jnp.zeros((n_controls(n_objectives, degree + 1), *net.shape[1:]), net.dtype)
    for m in range(n_objectives):
        above = above.at[positions[:, m]].add(share[:, m] * net)
    return above


def contract(
    net: Float[Array, "n_controls *value"], t: Float[Array, " n_objectives"], n_objectives: int, degree: int
) -> Float[Array, "n_below *value"]:
    """One de Casteljau step at t: p'_d = Σ_m t_m p_{d+e_m}, a net one degree lower. D of them end in b(t)."""
    raised = net[raised_positions(n_objectives, degree)]
    return jnp.einsum("im...,m->i...", raised, t)


def subdivide(
    net: Float[Array, "n_controls *value"],
    vertices: Float[Array, "n_corners n_objectives"],
    n_objectives: int,
    degree: int,
) -> Float[Array, "n_controls_new *value"]:
    """The net over the sub-simplex with these corners v_j: q_d is the blossom of b at each v_j taken d_j times.

    A blossom is D de Casteljau steps, each with the point of its own; those that share their first steps share the work.
    """
    n_corners = len(vertices)
    level = {(0,) * n_corners: net}
    for steps in range(degree):
        following = {}
        for index in map(tuple, multi_indices(n_corners, steps + 1).tolist()):
            corner = max(j for j in range(n_corners) if index[j])
            before = (*index[:corner], index[corner] - 1, *index[corner + 1 :])
            following[index] = contract(level[before], vertices[corner], n_objectives, degree - steps)
        level = following
    return jnp.concatenate([level[tuple(index)] for index in multi_indices(n_corners, degree).tolist()])
