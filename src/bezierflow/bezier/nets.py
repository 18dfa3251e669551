"""Operations on nets of control points, in NumPy or traced by JAX, as the net they are given.

A net has its control points along the last axis but one, in the canonical order of N^M_D; axes
before that are batch axes.
"""

from functools import partial
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..simplex import index_positions, multi_indices, raised_positions, tangent_basis
from .basis import design_matrix

T = TypeVar("T", np.ndarray, Array)
"""The kind of a net: NumPy in, NumPy out."""


def elevate(
    control_points: Float[T, "*batch n_controls width"], n_objectives: int, degree: int, target: int
) -> Float[T, "*batch n_above width"]:
    """The nets of the same maps in a higher degree, by steps of p'_d = Σ_m d_m/(D+1) p_{d−e_m}."""
    unit = np.eye(n_objectives, dtype=np.int64)
    for above in range(degree + 1, target + 1):
        indices = multi_indices(n_objectives, above)
        shares = (indices / above).astype(control_points.dtype)
        # any row where d_m = 0: its share is 0
        rows = np.where(indices > 0, index_positions(indices[:, None] - unit), 0)
        control_points = (shares[:, :, None] * control_points[..., rows, :]).sum(axis=-2)
    return control_points


def differentiate(
    control_points: Float[T, "*batch n_controls width"], n_objectives: int, degree: int
) -> Float[T, "*batch n_objectives n_below width"]:
    """The nets of ∂b/∂t_m = D Σ_{d ∈ N^M_{D−1}} B_d(t) p_{d+e_m}, along a new axis for m.

    They belong to b as a polynomial in all of t ∈ R^M; along the simplex only differences of them
    have a meaning. Of a constant, D = 0, they are zeros in degree 0.
    """
    if degree == 0:
        xp: Any = jnp if isinstance(control_points, jax.Array) else np
        shape = (*control_points.shape[:-2], n_objectives, *control_points.shape[-2:])
        return xp.zeros(shape, control_points.dtype)
    return degree * control_points[..., raised_positions(n_objectives, degree).T, :]


def partial_derivatives(
    control_points: Float[np.ndarray, "n_controls width"],
    t: Float[np.ndarray, "n n_objectives"],
    degree: int,
) -> Float[np.ndarray, "n n_objectives width"]:
    """∂b/∂t_m at each t."""
    slopes = differentiate(control_points, t.shape[1], degree)
    return (design_matrix(t, max(degree - 1, 0)) @ slopes).transpose(1, 0, 2)


def surface_tangents(
    control_points: Float[np.ndarray, "n_controls width"],
    t: Float[np.ndarray, "n n_objectives"],
    degree: int,
) -> Float[np.ndarray, "n width dimension"]:
    """The derivatives at each t along the columns of `tangent_basis`."""
    slopes = partial_derivatives(control_points, t, degree)
    return slopes.transpose(0, 2, 1) @ tangent_basis(t.shape[1])


@partial(jax.jit, static_argnums=(2, 3))
def subdivide(
    net: Float[Array, "n_controls width"],
    vertices: Float[Array, "n_corners n_objectives"],
    n_objectives: int,
    degree: int,
) -> Float[Array, "n_controls_new width"]:
    """The net over the sub-simplex with corners v_j: q_d is the blossom of b at d_j times each v_j.

    A blossom is D de Casteljau steps p'_d = Σ_m t_m p_{d+e_m}, each with a point t of its own and
    one degree lower. Blossoms that share their first steps share the work, and all of them take a
    step at once, so that the program grows with the degree and not with the number of control
    points.
    """
    n_corners, level = len(vertices), net[None]
    for steps in range(degree):
        indices = multi_indices(n_corners, steps + 1)
        # The last step of the blossom d is at its last corner, the others make d − e_corner.
        corners = np.array([int(np.flatnonzero(index)[-1]) for index in indices])
        before = index_positions(indices - np.eye(n_corners, dtype=int)[corners])
        raised = level[before][:, raised_positions(n_objectives, degree - steps)]
        level = jnp.einsum("niml,nm->nil", raised, vertices[corners])
    return level[:, 0]
