"""The calculus of `basis` and `nets` on the host: the same numbers in NumPy, for any t, degree and
net, with nothing to compile.

A net has its control points along the last axis but one, in the canonical order of N^M_D; axes
before that are batch axes.
"""

from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int

from ..simplex import (
    index_positions,
    multi_indices,
    multinomials,
    n_controls,
    raised_positions,
    tangent_basis,
)

MANY_POINTS = 2000
"""From this many t on, monomials are multiplied row by row in place: the temporary copies of a
gather would cost more."""


def design_matrix(
    t: Float[np.ndarray, "n n_objectives"], degree: int
) -> Float[np.ndarray, "n n_controls"]:
    """Z: row i is z(t_i), the Bernstein basis at t_i. Each column is contiguous.

    Each monomial of degree D is the product of two of half the degree, t^d = t^{d'} t^{d''}, so a
    design takes 2 log D multiplications of whole tables. Nothing cancels: an entry is accurate to
    about D + 1 roundings.
    """
    n, n_objectives = t.shape
    monomials = {0: np.ones((1, n)), 1: np.array(t.T, dtype=float, order="C")}
    for current, left, right in _ladder(n_objectives, degree):
        lower, upper = monomials[current // 2], monomials[current - current // 2]
        if n < MANY_POINTS:
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
def _ladder(
    n_objectives: int, degree: int
) -> list[tuple[int, Int[np.ndarray, " n"], Int[np.ndarray, " n"]]]:
    """The degrees above 1 on the way to this one, ascending; for each d of a degree the rows of its
    two halves d' + d'' = d."""
    needed, open_degrees = set(), [degree]
    while open_degrees:
        current = open_degrees.pop()
        if current > 1 and current not in needed:
            needed.add(current)
            open_degrees += [current // 2, current - current // 2]
    return [(current, *_halves(n_objectives, current)) for current in sorted(needed)]


def _halves(n_objectives: int, degree: int) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """For each d ∈ N^M_D the rows of d' ∈ N^M_{⌊D/2⌋}, filled from the first entries of d on, and
    of d − d'."""
    indices = multi_indices(n_objectives, degree)
    before = np.cumsum(indices, axis=1) - indices
    first = np.clip(degree // 2 - before, 0, indices)
    return index_positions(first), index_positions(indices - first)


def elevate(
    control_points: Float[np.ndarray, "*batch n_controls width"],
    n_objectives: int,
    degree: int,
    target: int,
) -> Float[np.ndarray, "*batch n_above width"]:
    """The nets of the same maps in a higher degree, one degree after the other: p'_d = Σ_m
    d_m/(D+1) p_{d−e_m}."""
    for current in range(degree, target):
        positions = raised_positions(n_objectives, current + 1)
        shares = (multi_indices(n_objectives, current) + 1) / (current + 1)
        above = np.zeros(
            (
                *control_points.shape[:-2],
                n_controls(n_objectives, current + 1),
                control_points.shape[-1],
            )
        )
        for m in range(n_objectives):
            above[..., positions[:, m], :] += shares[:, m : m + 1] * control_points
        control_points = above
    return control_points


@lru_cache(maxsize=256)
def elevation_matrix(n_objectives: int, degree: int) -> Float[np.ndarray, "n_above n_controls"]:
    """E with E P the control points of the same map one degree higher. Cached and read-only."""
    matrix = elevate(np.eye(n_controls(n_objectives, degree)), n_objectives, degree, degree + 1)
    matrix.setflags(write=False)
    return matrix


def differentiate(
    control_points: Float[np.ndarray, "*batch n_controls width"], n_objectives: int, degree: int
) -> Float[np.ndarray, "*batch n_objectives n_below width"]:
    """The nets of the partial derivatives: ∂b/∂t_m = D Σ_{d ∈ N^M_{D−1}} B_d(t) p_{d+e_m}, one an
    index m.

    They belong to b as a polynomial in all of t ∈ R^M; along the simplex only differences of them
    have a meaning. Of a constant, D = 0, they are zeros in degree 0.
    """
    if degree == 0:
        return np.zeros((*control_points.shape[:-2], n_objectives, *control_points.shape[-2:]))
    return degree * control_points[..., raised_positions(n_objectives, degree).T, :]


def simplex_derivatives(
    control_points: Float[np.ndarray, "*batch n_controls width"], n_objectives: int, degree: int
) -> Float[np.ndarray, "*batch dimension n_below width"]:
    """The nets of the derivatives along the columns of `tangent_basis`, one an index; applied
    again, second derivatives."""
    partials = differentiate(control_points, n_objectives, degree)
    return np.einsum("mk,...mcl->...kcl", tangent_basis(n_objectives), partials)


def partial_derivatives(
    control_points: Float[np.ndarray, "n_controls width"],
    t: Float[np.ndarray, "n n_objectives"],
    degree: int,
) -> Float[np.ndarray, "n n_objectives width"]:
    """∂b/∂t_m at each t."""
    n_objectives = t.shape[1]
    nets = differentiate(control_points, n_objectives, degree)
    values = design_matrix(t, max(degree - 1, 0)) @ nets
    return values.transpose(1, 0, 2)


def surface_tangents(
    control_points: Float[np.ndarray, "n_controls width"],
    t: Float[np.ndarray, "n n_objectives"],
    degree: int,
) -> Float[np.ndarray, "n width dimension"]:
    """The derivatives at each t along the columns of `tangent_basis`."""
    nets = simplex_derivatives(control_points, t.shape[1], degree)
    return (design_matrix(t, max(degree - 1, 0)) @ nets).transpose(1, 2, 0)
