"""Foot points: for each x the nearest point of a surface, argmin_{t ∈ Δ^{M−1}} ‖b(t) − x‖²."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..precision import double_precision
from ..simplex import grid, n_controls
from . import nets
from .basis import basis
from .model import BezierSimplex
from .values import pack

LARGEST_GRID = 256
"""Points of the grid from which the search starts, at most: the finest regular grid of the simplex that is no larger."""

N_STARTS = 3
"""From so many of the nearest grid points the search starts for each x; the best end counts."""

MOST_STEPS = 60
"""Newton steps at most for a foot point. Most take 4 to 8, those that slide along a boundary some more."""


def project(surface: BezierSimplex, x: PyTree) -> tuple[Float[np.ndarray, "n n_objectives"], Float[np.ndarray, " n"]]:
    """The foot point of each x on the surface, and the distance to it.

    Newton's method on the simplex with an active set, for all x at once, from the nearest points of a regular grid. The
    result satisfies the first-order conditions to rounding; that no other part of the surface is nearer is as certain as
    the grid is fine (256 points), which for surfaces without narrow folds is certain enough.

    Args:
        surface: The surface.
        x: One value a row: an array (N, L), or a pytree built like the surface's values with a leading axis N.

    Returns:
        `(t, distance)`: t of shape (N, M), and ‖b(t) − x‖ of shape (N,), the norm taken over all leaves.
    """
    points, layout = pack(surface.control_points, "control_points")
    rows, found = pack(x)
    if found != layout:
        raise ValueError(
            f"x must be built like the surface's values ({layout.structure} with shapes {list(layout.shapes)}), "
            f"got {found.structure} with shapes {list(found.shapes)}"
        )
    if not len(rows):
        return np.zeros((0, surface.n_objectives)), np.zeros(0)
    with double_precision():
        t, squared = _project(points, pad_rows(rows), surface.n_objectives, surface.degree)
        return np.asarray(t)[: len(rows)], np.sqrt(np.asarray(squared)[: len(rows)])


def pad_rows(rows: Float[np.ndarray, "n *width"], least: int = 1) -> Float[np.ndarray, "padded *width"]:
    """The rows and copies of the last one, up to the next power of two: batches of similar size share a compiled program."""
    size = max(least, 1 << (len(rows) - 1).bit_length())
    return rows.take(np.minimum(np.arange(size), len(rows) - 1), axis=0)


@partial(jax.jit, static_argnums=(2, 3))
def _project(points: Array, x: Array, n_objectives: int, degree: int) -> tuple[Array, Array]:
    starts = nearest_starts(points, x, n_objectives, degree, N_STARTS)
    ends, squared = _descend(points, jnp.tile(x, (len(starts), 1)), starts.reshape(-1, n_objectives), degree)
    ends, squared = ends.reshape(starts.shape), squared.reshape(starts.shape[:2])
    best, rows = jnp.argmin(squared, axis=0), jnp.arange(len(x))
    return ends[best, rows], squared[best, rows]


def nearest_starts(points: Array, x: Array, n_objectives: int, degree: int, n_starts: int) -> Float[Array, "n_starts n M"]:
    """The t of the grid whose images are nearest to each x, best first."""
    t = jnp.asarray(grid(n_objectives, _resolution(n_objectives)))
    images = basis(t, degree) @ points
    squared = jnp.sum(images**2, axis=1) - 2 * x @ images.T  # ‖b(t) − x‖² up to ‖x‖², which does not change the order
    starts = []
    for _ in range(min(n_starts, len(t))):
        nearest = jnp.argmin(squared, axis=1)
        starts.append(t[nearest])
        squared = jnp.where(jnp.arange(len(t)) == nearest[:, None], jnp.inf, squared)
    return jnp.stack(starts)


def _resolution(n_objectives: int) -> int:
    if n_objectives == 1:
        return 1
    resolution = 1
    while n_controls(n_objectives, resolution + 1) <= LARGEST_GRID:
        resolution += 1
    return resolution


def _descend(points: Array, x: Array, t: Array, degree: int) -> tuple[Array, Array]:
    """Steps until no t moves any more, or `MOST_STEPS`."""

    def proceed(carry: tuple) -> Array:
        _, _, moved, steps = carry
        return (moved > 1e-13) & (steps < MOST_STEPS)

    def advance(carry: tuple) -> tuple:
        t, _, _, steps = carry
        moved_to, squared = step(points, x, t, degree)
        return moved_to, squared, jnp.max(jnp.abs(moved_to - t), initial=0), steps + 1

    t, squared, _, _ = jax.lax.while_loop(proceed, advance, (t, jnp.zeros(len(t)), jnp.inf, 0))
    return t, squared


def step(points: Array, x: Array, t: Array, degree: int) -> tuple[Float[Array, "n M"], Float[Array, " n"]]:
    """One step of each t toward its foot point, and the squared distance there. Never a step that leads away.

    With g the gradient of ½‖b(t) − x‖² and H its Hessian, Newton's direction is taken within the face of the simplex that
    the step may not leave: coordinates at 0 that g would push below. Beside it a Gauss–Newton direction (H without the
    curvature of b, so never an ascent) and the gradient are tried, both cut off at the boundary and projected onto the
    simplex; the nearest of these and t itself is kept.
    """
    gradient, jacobian, bending = _derivatives(points, x, t, degree)
    within, slopes = _within_face(t, gradient, jacobian)
    slope = jnp.einsum("nij,nj->ni", within, gradient)
    gauss_newton = jnp.einsum("nml,nkl->nmk", slopes, slopes)
    newton = gauss_newton + jnp.einsum("nij,njk,nkl->nil", within, bending, within)
    matrices = jnp.stack([newton, gauss_newton]) + _filler(gauss_newton, within)
    directions = -jnp.einsum("nij,hnj->hni", within, _solve(matrices, slope[..., None])[..., 0])
    along = jnp.einsum("ni,nij,nj->n", slope, gauss_newton, slope)
    downhill = -slope * (jnp.sum(slope**2, axis=1) / (along + jnp.finfo(t.dtype).tiny))[:, None]
    cut = directions * _room(t, directions)[..., None]
    ahead = jnp.concatenate([directions, cut, jnp.stack([cut[1] / 4, downhill, downhill / 8, jnp.zeros_like(t)])])
    # A matrix that is not positive definite may give directions without end, or none: cut those to the simplex's size.
    ahead = jnp.where(jnp.isfinite(ahead).all(axis=-1, keepdims=True), ahead, 0)
    trials = onto_simplex(t + ahead / jnp.maximum(jnp.max(jnp.abs(ahead), axis=-1, keepdims=True), 1))
    squared = jnp.sum((basis(trials, degree) @ points - x) ** 2, axis=-1)
    # Close to the end Newton's step is right where distances cannot tell any more, so it wins ties within rounding.
    favor = jnp.ones(len(trials)).at[0].set(1 - 8 * jnp.finfo(t.dtype).eps)
    best = jnp.argmin(squared * favor[:, None], axis=0)
    rows = jnp.arange(len(t))
    return trials[best, rows], squared[best, rows]


def tangent_frames(points: Array, x: Array, t: Array, degree: int) -> tuple[Float[Array, "n M L"], Float[Array, "n M L"]]:
    """Two frames S and C of the surface's tangent space at each t, such that SᵀC is the orthogonal projector onto it.

    Where t lies on the boundary and x pulls it outward, of the tangent space of that face alone: t cannot leave it.
    """
    gradient, jacobian, _ = _derivatives(points, x, t, degree)
    within, slopes = _within_face(t, gradient, jacobian)
    gauss_newton = jnp.einsum("nml,nkl->nmk", slopes, slopes)
    return slopes, _solve(gauss_newton + _filler(gauss_newton, within), slopes)


def _derivatives(points: Array, x: Array, t: Array, degree: int) -> tuple[Array, Array, Array]:
    """Of ½‖b(t) − x‖² in R^M: the gradient, the Jacobian J of b (n, M, L), and what the Hessian has beside JJᵀ."""
    residual = basis(t, degree) @ points - x
    slopes = nets.differentiate(points, t.shape[1], degree)
    bends = nets.differentiate(slopes, t.shape[1], max(degree - 1, 0))
    jacobian = jnp.einsum("ni,mil->nml", basis(t, max(degree - 1, 0)), slopes)
    bent = jnp.einsum("ni,mkil->nmkl", basis(t, max(degree - 2, 0)), bends)
    return jnp.einsum("nml,nl->nm", jacobian, residual), jacobian, jnp.einsum("nmkl,nl->nmk", bent, residual)


def _within_face(t: Array, gradient: Array, jacobian: Array) -> tuple[Float[Array, "n M M"], Float[Array, "n M L"]]:
    """The projector onto directions a step may take, and the Jacobian along them.

    They sum to 0 and leave coordinates alone that are 0 and would fall below: those whose slope exceeds the mean over t.
    """
    level = jnp.sum(gradient * t, axis=1, keepdims=True)
    free = ((t > 0) | (gradient < level)).astype(t.dtype)
    within = jnp.eye(t.shape[1]) * free[:, None] - free[:, :, None] * free[:, None, :] / jnp.sum(free, axis=1)[:, None, None]
    return within, jnp.einsum("nij,njl->nil", within, jacobian)


def _filler(gauss_newton: Array, within: Array) -> Float[Array, "n M M"]:
    """What makes a Hessian invertible: off the tangent space anything, along it a trace that a singular one may need."""
    scale = jnp.trace(gauss_newton, axis1=1, axis2=2)[:, None, None] + jnp.finfo(within.dtype).tiny
    return scale * (jnp.eye(within.shape[1]) - (1 - 1e-13) * within)


def _room(t: Array, directions: Array) -> Array:
    """How much of each direction, up to all of it, can be gone before a coordinate falls below 0."""
    return jnp.min(jnp.where(directions < 0, t / -jnp.where(directions < 0, directions, -1), 1), axis=-1, initial=1)


def _solve(matrices: Float[Array, "*batch M M"], right: Float[Array, "*#batch M k"]) -> Float[Array, "*batch M k"]:
    """Gauss–Jordan elimination without pivoting, sound for positive definite matrices; others may give anything.

    M passes over the whole batch, each a few fused operations: for thousands of tiny systems far ahead of a call for each.
    """

    def eliminate(k: Array, system: Array) -> Array:
        row = system[..., k, :] / system[..., k, k, None]
        reduced = system - system[..., :, k, None] * row[..., None, :]
        return reduced.at[..., k, :].set(row)

    size = matrices.shape[-1]
    right = jnp.broadcast_to(right, (*matrices.shape[:-1], right.shape[-1]))
    return jax.lax.fori_loop(0, size, eliminate, jnp.concatenate([matrices, right], axis=-1))[..., size:]


def onto_simplex(v: Float[Array, "*batch M"]) -> Float[Array, "*batch M"]:
    """The point of the simplex nearest to v: max(v − τ, 0) with τ such that it sums to 1.

    Coordinates that fall below 0 are dropped and τ is found anew from the others, at most M − 1 times (Michelot, "A finite
    algorithm for finding the projection of a point onto the canonical simplex of Rⁿ", J. Optim. Theory Appl. 50, 1986).
    """

    def threshold(kept: Array) -> Array:
        return (jnp.sum(jnp.where(kept, v, 0), axis=-1, keepdims=True) - 1) / jnp.sum(kept, axis=-1, keepdims=True)

    kept = jax.lax.fori_loop(0, v.shape[-1] - 1, lambda _, kept: kept & (v > threshold(kept)), jnp.ones(v.shape, bool))
    return jnp.where(kept, jnp.maximum(v - threshold(kept), 0), 0)
