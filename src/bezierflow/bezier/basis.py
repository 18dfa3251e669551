"""The Bernstein basis z(t) of degree D on the simplex, and the design matrix Z of many t."""

from functools import lru_cache, reduce
from operator import add

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..simplex import index_positions, multi_indices, multinomials
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
