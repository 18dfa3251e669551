"""The Bernstein basis z(t) of degree D, the design matrix Z of many t, and operations on nets.

A net has its control points along the last axis but one, in the canonical order of N^M_D; axes
before that are batch axes. Operations are in NumPy or traced by JAX, as the net they are given.
"""

from functools import lru_cache, partial, reduce
from operator import add
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..simplex import index_positions, multi_indices, multinomials, raised_positions, tangent_basis
from .schedule import SCHEDULE


def _powers(
    t: Float[Array, "*batch n_objectives"], degree: int
) -> list[Float[Array, "*batch n_objectives"]]:
    """[t⁰, t¹, …, t^D] by repeated products: t⁰ is exactly 1, derivatives are clean at t_m = 0."""
    table = [jnp.ones_like(t)]
    for _ in range(degree):
        table.append(table[-1] * t)
    return table


def basis(t: Float[Array, "*batch n_objectives"], degree: int) -> Float[Array, "*batch n_controls"]:
    """z(t) = [ (D choose d) t^d ] over d ∈ N^M_D in the canonical order (Section 2.3); a row of Z.

    A product of nonnegative numbers: nothing cancels, so each entry is accurate to about D + M
    roundings at any degree.
    """
    n_objectives = t.shape[-1]
    table = jnp.stack(_powers(t, degree), axis=-1)
    exponents = multi_indices(n_objectives, degree)
    monomials = jnp.prod(table[..., np.arange(n_objectives), exponents], axis=-1)
    return jnp.asarray(multinomials(n_objectives, degree), t.dtype) * monomials


def combine(
    t: Float[Array, "*batch n_objectives"],
    control_points: Float[Array, "n_controls width"],
    degree: int,
) -> Float[Array, "*batch width"]:
    """b(t|P) = Pᵀ z(t), for control points that are vectors."""
    n_objectives = t.shape[-1]
    if max(control_points.shape) > SCHEDULE.fused:
        return basis(t, degree) @ control_points
    # Few and short control points: the compiler fuses one sum, and no design matrix is ever stored.
    table, columns = _powers(t, degree), []
    indices, coefficients = multi_indices(n_objectives, degree), multinomials(n_objectives, degree)
    for index, coefficient in zip(indices, coefficients, strict=True):
        column = jnp.full(t.shape[:-1], coefficient, t.dtype)
        for m in np.flatnonzero(index):
            column = column * table[index[m]][..., m]
        columns.append(column)
    return reduce(add, (z[..., None] * p for z, p in zip(columns, control_points, strict=True)))


def design_matrix(
    t: Float[np.ndarray, "n n_objectives"], degree: int
) -> Float[np.ndarray, "n n_controls"]:
    """Z: row i is z(t_i). In NumPy, so nothing is compiled; each column is contiguous.

    Each monomial of degree D is the product of two of half the degree, t^d = t^{d'} t^{d''}, so a
    design takes 2 log D multiplications of whole tables. Nothing cancels: an entry is accurate to
    about D + 1 roundings.
    """
    n, n_objectives = t.shape
    monomials = {0: np.ones((1, n)), 1: np.array(t.T, dtype=float, order="C")}
    for current, left, right in _halvings(n_objectives, degree):
        lower, upper = monomials[current // 2], monomials[current - current // 2]
        if n < SCHEDULE.many_points:
            monomials[current] = lower.take(left, axis=0)
            monomials[current] *= upper.take(right, axis=0)
        else:
            product = monomials[current] = np.empty((len(left), n))
            for row, (i, j) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
                np.multiply(lower[i], upper[j], out=product[row])
    design = monomials[degree]
    design *= multinomials(n_objectives, degree)[:, None]
    return design.T


@lru_cache(maxsize=256)
def _halvings(
    n_objectives: int, degree: int
) -> list[tuple[int, Int[np.ndarray, " n"], Int[np.ndarray, " n"]]]:
    """The degrees above 1 on the way to this one, ascending, each with the rows of d' and d''.

    d' ∈ N^M_{⌊D/2⌋} is filled from the first entries of d on, and d'' = d − d'.
    """
    needed, waiting = set(), [degree]
    while waiting:
        current = waiting.pop()
        if current > 1 and current not in needed:
            needed.add(current)
            waiting += [current // 2, current - current // 2]
    halvings = []
    for current in sorted(needed):
        indices = multi_indices(n_objectives, current)
        before = np.cumsum(indices, axis=1) - indices
        first = np.clip(current // 2 - before, 0, indices)
        halvings.append((current, index_positions(first), index_positions(indices - first)))
    return halvings


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
