"""Minimizers of weighted sums without Hessian matrices: Newton's method with conjugate gradients
and a line search."""

from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..runs import kind
from .conjugate import Solved, Systems
from .layout import Layout
from .long_evaluator import LongEvaluator
from .schedule import Schedule
from .span import lengths

ENOUGH = 1e-4
"""A step must lower a value by this share of what its slope promises."""


@kind("normal.free_descent/1")
@dataclass(frozen=True)
class FreeDescent:
    """Where the minimizations stand, one row a weight vector.

    Attributes:
        weights: of the objectives.
        x: the points so far.
        scale: |x| at the start, at least 1.
        first_slope: |g| at the start.
        moved: the length of the last step.
        active: which rows go on.
        converged: which rows found their minimizer.
        n_steps: made so far.
        scales: diagonals of the Hessians at the start, if they are of use.
    """

    weights: Float[np.ndarray, "n n_objectives"]
    x: Float[Array, "n n_variables"]
    scale: Float[np.ndarray, " n"]
    first_slope: Float[np.ndarray, " n"]
    moved: Float[np.ndarray, " n"]
    active: Bool[np.ndarray, " n"]
    converged: Bool[np.ndarray, " n"]
    n_steps: int = 0
    scales: Array | None = None


def start_free_descent(
    weights: Float[np.ndarray, "n_weights n_objectives"],
    x: Float[Array, "n n_variables"],
    layout: Layout,
    scales: Array | None = None,
) -> FreeDescent:
    """Minimize Σ_m weights[i, m] f_m from x[i], for every row i of the weights; more rows of x fill
    up a batch and rest."""
    scale = np.maximum(1.0, lengths(layout, x))
    nothing, active = np.full(len(scale), np.nan), np.arange(len(scale)) < len(weights)
    weights = weights[np.minimum(np.arange(len(scale)), len(weights) - 1)]
    return FreeDescent(weights, x, scale, nothing, nothing, active, ~active, 0, scales)


def descend_freely(
    evaluator: LongEvaluator, descent: FreeDescent, schedule: Schedule, precision: float
) -> FreeDescent:
    """One step of Newton's method for every row that is still active."""
    layout, weights, numbers = evaluator.layout, descent.weights, schedule.free
    n = len(weights)
    values, gradients, gram = evaluator.look(descent.x, int(descent.active.sum()))
    value = np.sum(np.where(weights != 0, weights * values, 0.0), axis=1)
    slope = np.sqrt(np.maximum(np.einsum("ni,nij,nj->n", weights, gram, weights), 0.0))
    first = np.where(np.isfinite(descent.first_slope), descent.first_slope, slope)
    share = np.clip(slope / np.maximum(first, 1e-300), numbers.finest, numbers.newton)
    share = np.where(descent.active, share, 1.0)  # rows that rest are done before the first product
    nothing = np.zeros((n, evaluator.n_tangents, weights.shape[1]))
    systems = Systems(weights, -weights, nothing, np.zeros(n), np.zeros(n), np.zeros(n), share)
    scales = None if descent.scales is None else (descent.scales, weights)
    solved = evaluator.solve(descent.x, gradients, systems, scales, int(descent.active.sum()))
    d, fall, length = _direction(layout, solved, gradients, weights, slope, descent)
    trial, taken = _search(evaluator, descent, d, value, fall, numbers.search)
    moved = taken * length
    size = np.maximum(lengths(layout, trial), 1e-3 * descent.scale)
    left = np.maximum(solved.residual, 0.1 * share) * moved
    rest = max(precision, 4 * layout.rounding) * size
    found = descent.active & (
        (slope == 0) | ((taken == 1) & (left <= rest)) | ((taken == 0) & (length <= 1e3 * rest))
    )
    over = (
        ~np.isfinite(value)
        | (size > schedule.descent.runaway * descent.scale)
        | ((taken == 0) & ~found)
    )
    n_steps = descent.n_steps + 1
    active = descent.active & ~found & ~over & (n_steps < numbers.most_steps)
    return replace(
        descent,
        x=trial,
        first_slope=first,
        moved=moved,
        active=active,
        converged=descent.converged | found,
        n_steps=n_steps,
    )


def _direction(
    layout: Layout,
    solved: Solved,
    gradients: Array,
    weights: np.ndarray,
    slope: np.ndarray,
    descent: FreeDescent,
) -> tuple[Array, np.ndarray, np.ndarray]:
    """Steps, their slopes gᵀd and their lengths; downhill where conjugate gradients met negative
    curvature at once."""
    at_once = solved.negative & (solved.products <= 1)
    steepest = np.where(
        at_once, 1 / np.maximum(solved.largest, slope / descent.scale + 1e-300), 0.0
    )
    keep = (descent.active & (slope > 0)).astype(float)
    d, fall, square = _downhill(layout, solved.d, gradients, weights, steepest, keep)
    return d, np.asarray(fall, dtype=float), np.sqrt(np.asarray(square, dtype=float))


def _search(
    evaluator: LongEvaluator,
    descent: FreeDescent,
    d: Array,
    value: np.ndarray,
    fall: np.ndarray,
    most: int,
) -> tuple[Array, Float[np.ndarray, " n"]]:
    """The points after steps that improve, and the share of each step that was taken; 0 where none
    improves."""
    layout, weights = evaluator.layout, descent.weights
    taken, open_rows = np.where(descent.active, 1.0, 0.0), descent.active.copy()
    noise = 64 * layout.rounding * np.abs(value)
    for _ in range(most):
        trial = _moved(layout, descent.x, d, taken.astype(layout.dtype))
        values = evaluator.values(trial, int(open_rows.sum()))
        found = np.sum(np.where(weights != 0, weights * values, 0.0), axis=1)
        open_rows &= ~(found <= value + ENOUGH * taken * fall + noise)
        if not open_rows.any():
            return trial, taken
        taken = np.where(open_rows, 0.35 * taken, taken)
    taken = np.where(open_rows, 0.0, taken)
    return _moved(layout, descent.x, d, taken.astype(layout.dtype)), taken


def singular_minimizers(
    evaluator: LongEvaluator, x: Array, schedule: Schedule
) -> Bool[np.ndarray, " n_objectives"]:
    """Which f_m has a direction without curvature at its minimizer x[m] that some other objective
    changes along.

    Conjugate gradients with the other gradients as right-hand side meet such a direction.
    """
    M, n = evaluator.n_objectives, x.shape[0]
    if M == 1:
        return np.zeros(1, dtype=bool)
    _, gradients, gram = evaluator.look(x, M)
    size = np.sqrt(np.maximum(np.diagonal(gram, axis1=1, axis2=2), 1e-300))
    own = np.eye(M)[np.minimum(np.arange(n), M - 1)]
    zero, nothing = np.zeros(n), np.zeros((n, evaluator.n_tangents, M))
    systems = Systems(
        own, (1 - own) / size, nothing, zero, zero, zero, np.full(n, schedule.free.finest)
    )
    solved = evaluator.solve(x, gradients, systems, None, M, schedule.free.singular_products)
    return (
        solved.least
        <= max(schedule.descent.singular, 8 * evaluator.layout.rounding) * solved.largest
    )[:M]


@partial(jax.jit, static_argnums=0)
def _downhill(
    layout: Layout, d: Array, gradients: Array, weights: Array, steepest: Array, keep: Array
) -> tuple[Array, Array, Array]:
    slope = jnp.einsum("nm,nml->nl", jnp.asarray(weights, d.dtype), gradients)
    d = (d - jnp.asarray(steepest, d.dtype)[:, None] * slope) * jnp.asarray(keep, d.dtype)[:, None]
    d = layout.split(d)
    fall, square = (jnp.sum((a * b).astype(jnp.float64), axis=-1) for a, b in ((slope, d), (d, d)))
    return d, layout.whole(fall), layout.whole(square)


@partial(jax.jit, static_argnums=0)
def _moved(layout: Layout, x: Array, d: Array, share: Array) -> Array:
    return layout.split(x + share[:, None] * d)
