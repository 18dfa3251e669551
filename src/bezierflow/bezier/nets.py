"""Operations on nets of control points, traceable by JAX; `numpy_nets` is their twin on the host.

A net has its control points along the last axis but one, in the canonical order of N^M_D; axes
before that are batch axes.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..simplex import multi_indices, n_controls, raised_positions


def differentiate(
    control_points: Float[Array, "*batch n_controls width"], n_objectives: int, degree: int
) -> Float[Array, "*batch n_objectives n_below width"]:
    """The nets of the partial derivatives: ∂b/∂t_m = D Σ_{d ∈ N^M_{D−1}} B_d(t) p_{d+e_m}, one an
    index m.

    They belong to b as a polynomial in all of t ∈ R^M; along the simplex only differences of them
    have a meaning. Of a constant, D = 0, they are zeros in degree 0.
    """
    if degree == 0:
        shape = (*control_points.shape[:-2], n_objectives, *control_points.shape[-2:])
        return jnp.zeros(shape, control_points.dtype)
    return degree * control_points[..., raised_positions(n_objectives, degree).T, :]


def elevate(
    control_points: Float[Array, "*batch n_controls width"],
    n_objectives: int,
    degree: int,
    target: int,
) -> Float[Array, "*batch n_above width"]:
    """The nets of the same maps in a higher degree, one degree after the other: p'_d = Σ_m
    d_m/(D+1) p_{d−e_m}."""
    *batch, _, width = control_points.shape
    for current in range(degree, target):
        positions = raised_positions(n_objectives, current + 1)
        shares = jnp.asarray(
            (multi_indices(n_objectives, current) + 1) / (current + 1), control_points.dtype
        )
        above = jnp.zeros(
            (*batch, n_controls(n_objectives, current + 1), width), control_points.dtype
        )
        for m in range(n_objectives):
            above = above.at[..., positions[:, m], :].add(shares[:, m : m + 1] * control_points)
        control_points = above
    return control_points


def contract(
    net: Float[Array, "n_controls width"],
    t: Float[Array, " n_objectives"],
    n_objectives: int,
    degree: int,
) -> Float[Array, "n_below width"]:
    """One de Casteljau step at t: p'_d = Σ_m t_m p_{d+e_m}, a net one degree lower. D of them end
    in b(t)."""
    raised = net[raised_positions(n_objectives, degree)]
    return jnp.einsum("iml,m->il", raised, t)


def subdivide(
    net: Float[Array, "n_controls width"],
    vertices: Float[Array, "n_corners n_objectives"],
    n_objectives: int,
    degree: int,
) -> Float[Array, "n_controls_new width"]:
    """The net over the sub-simplex with these corners v_j: q_d is the blossom of b at each v_j
    taken d_j times.

    A blossom is D de Casteljau steps, each with the point of its own; those that share their first
    steps share the work. All blossoms take a step at once, so that the program grows with the
    degree and not with the number of control points.
    """
    n_corners = len(vertices)
    level = net[None]
    for steps in range(degree):
        earlier = {
            tuple(index): row for row, index in enumerate(multi_indices(n_corners, steps).tolist())
        }
        indices = multi_indices(n_corners, steps + 1)
        corners = [int(np.flatnonzero(index)[-1]) for index in indices]
        before = [
            earlier[tuple(index)]
            for index in (indices - np.eye(n_corners, dtype=int)[corners]).tolist()
        ]
        step = jax.vmap(lambda net, t, left=degree - steps: contract(net, t, n_objectives, left))
        level = step(level[np.array(before)], vertices[np.array(corners)])
    return level[:, 0]
