"""The Bernstein basis z(t) of degree D on the simplex, and the design matrix Z of many t."""

from functools import reduce
from operator import add

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..simplex import multi_indices, multinomials


def powers(
    t: Float[Array, "*batch n_objectives"], degree: int
) -> list[Float[Array, "*batch n_objectives"]]:
    """[t⁰, t¹, …, t^D] by repeated products: exact ones at exponent 0 and clean derivatives where
    t_m = 0."""
    table = [jnp.ones_like(t)]
    for _ in range(degree):
        table.append(table[-1] * t)
    return table


def basis(t: Float[Array, "*batch n_objectives"], degree: int) -> Float[Array, "*batch n_controls"]:
    """z(t) = [ (D choose d) t^d ] over d ∈ N^M_D in the canonical order (Section 2.3); the rows of
    a design matrix Z.

    A product of nonnegative numbers: nothing cancels, so each entry is accurate to about D + M
    roundings at any degree.
    """
    n_objectives = t.shape[-1]
    indices = multi_indices(n_objectives, degree)
    table = jnp.stack(powers(t, degree), axis=-1)
    return jnp.asarray(multinomials(n_objectives, degree), t.dtype) * jnp.prod(
        table[..., np.arange(n_objectives), indices], axis=-1
    )


def monomial_columns(
    t: Float[Array, "*batch n_objectives"], degree: int
) -> list[Float[Array, "*batch"]]:
    """The columns of z(t) one by one, for a compiler to fuse with what follows: no design matrix is
    ever stored."""
    n_objectives = t.shape[-1]
    table = powers(t, degree)
    columns = []
    for index, coefficient in zip(
        multi_indices(n_objectives, degree), multinomials(n_objectives, degree), strict=True
    ):
        column = jnp.full(t.shape[:-1], coefficient, t.dtype)
        for m in np.flatnonzero(index):
            column = column * table[index[m]][..., m]
        columns.append(column)
    return columns


FUSED_CONTROLS = 64
"""Up to this many control points, b(t|P) is one fused sum: 8 times faster than a stored Z for D = 3
into R³."""

FUSED_WIDTH = 32
"""Up to this many values a control point; wider ones are better served by a matrix product."""


def combine(
    t: Float[Array, "*batch n_objectives"],
    control_points: Float[Array, "n_controls width"],
    degree: int,
) -> Float[Array, "*batch width"]:
    """b(t|P) = Pᵀ z(t), for control points that are vectors."""
    size, width = control_points.shape
    if size <= FUSED_CONTROLS and width <= FUSED_WIDTH:
        columns = monomial_columns(t, degree)
        return reduce(
            add,
            (
                column[..., None] * point
                for column, point in zip(columns, control_points, strict=True)
            ),
        )
    return basis(t, degree) @ control_points
