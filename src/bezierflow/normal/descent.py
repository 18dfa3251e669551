"""Minimizers of weighted sums: a safeguarded Newton method for many weight vectors at once, also
for cusps and bad scales; and ties between minimizers that are not unique.

For f ≈ f* + a|A(x − x*)|^p near its minimizer, gradients are homogeneous, H(x)(x − x*) = (p−1)
g(x), hence

    x* = x − β d(x),      d = H⁻¹g,   β = p − 1.

Newton's method is β = 1. Any two points give β, from x₁ − β d₁ = x₂ − β d₂ in the least-squares
sense, and with it the minimizer of a cusp (p < 1), a norm (p = 1) or a flat bottom (p > 2) as fast
as that of a quadratic. Where H is not positive definite, it is bent along the gradient, H + c|H|
ĝĝᵀ, which is what a monotone change of f would do and leaves the minimizer where it is.
"""

from dataclasses import replace

import jax
import numpy as np
from jaxtyping import Bool, Float

from ..objectives import replace_rows
from ..precision import ROUNDING
from .curvature import Curvature, Descent, Record, Rows, Sample, at_width

TINY = 1e-300
"""Keeps a division by a length of 0 finite."""

INDISTINCT = 5
"""Points this many roundings of |x| apart cannot be told from each other."""


def start_descent(weights: Float[np.ndarray, "n n_objectives"], x: Rows) -> Descent:
    """Minimize Σ_m weights[i, m] f_m from x[i], for every row i."""
    n, x, weights = len(weights), np.array(x, dtype=float), np.asarray(weights, dtype=float)
    nothing, one = np.full(x.shape, np.nan), np.ones(n)
    unknown = np.full(weights.shape, np.nan)
    unseen = Sample(x, unknown, np.inf * one, np.nan * one, nothing, one, one)
    return Descent(
        weights=weights,
        best=unseen,
        last=replace(unseen, x=nothing),
        trial=x,
        factor=one,
        shrink=one,
        restarted=np.zeros(n, dtype=bool),
        kinks=np.zeros(n, dtype=int),
        scale=np.maximum(1.0, np.linalg.norm(x, axis=1)),
        first_slope=np.full(n, np.nan),
        active=np.ones(n, dtype=bool),
        converged=np.zeros(n, dtype=bool),
        n_trials=np.zeros(n, dtype=int),
    )


def find_minimizers(
    curvature: Curvature, weights: Float[np.ndarray, "n n_objectives"], x: Rows
) -> Descent:
    """The minimizations of all weighted sums, run to their ends."""
    descent = start_descent(weights, x)
    while descent.active.any():
        descent = descend(curvature, descent)
    return descent


def descend(curvature: Curvature, descent: Descent) -> Descent:
    """One trial point for every row that is still active: evaluate, accept or shorten, and choose
    the next."""
    rows, numbers = np.flatnonzero(descent.active), curvature.schedule
    descent = at_width(descent, curvature.reserve(len(rows)))
    state = descent.take(rows)
    sample = curvature.sample(state)
    state = at_width(state, sample.x.shape[1])
    differentiable = np.asarray(np.isfinite(sample.newton).all(axis=1))
    better, factor = _improves(curvature, sample, state.best), _factor(curvature, sample, state)
    tip = ~better & _at_tip(curvature, sample, state)
    best = _where(better, sample, state.best)
    # a point without derivatives says nothing about the curvature there
    known = _where(better & differentiable, sample, state.best)
    best = replace(best, flatness=known.flatness, strength=known.strength)
    # A changed factor changes the step, which is tried at full length once before it is shortened.
    changed = np.abs(factor / state.factor - 1) > numbers.factor_change
    restarted = ~better & changed & differentiable & (state.shrink == 1) & ~state.restarted
    shrink = np.where(better | restarted, 1.0, state.shrink * numbers.shorten)
    newton = factor[:, None] * best.newton
    length = np.linalg.norm(newton, axis=1)
    reach = numbers.longest_step * np.maximum(state.scale, np.linalg.norm(best.x, axis=1))
    step = newton * (np.minimum(1, reach / np.maximum(length, TINY)) * shrink)[:, None]
    # A kink hit exactly has no gradient, perhaps because of another objective. The first time, the
    # next trial is a point beside it; a row that comes back to it has found its minimizer.
    kink = better & ~differentiable
    lost = kink | ~np.isfinite(step).all(axis=1)
    if lost.any():
        aside = numbers.negligible * state.scale[:, None] * curvature.directions(1)
        step = np.where(lost[:, None], aside, step)
    proposal = replace(
        state,
        best=best,
        last=_where(differentiable, sample, state.last),
        trial=best.x - step,
        factor=factor,
        shrink=shrink,
        restarted=restarted,
        kinks=state.kinks + kink,
        first_slope=np.where(np.isfinite(state.first_slope), state.first_slope, best.slope),
        n_trials=state.n_trials + 1,
    )
    moved = np.linalg.norm(best.x - state.trial, axis=1)
    found = tip | _converged(curvature, proposal, kink, length, moved)
    # x ran away, or the value is not a number
    over = (np.isnan(best.value) & ~kink) | (
        np.linalg.norm(best.x, axis=1) > numbers.runaway * state.scale
    )
    # the next trial cannot be told from the best point
    apart = np.linalg.norm(proposal.trial - best.x, axis=1)
    stuck = apart <= INDISTINCT * curvature.rounding * np.linalg.norm(best.x, axis=1)
    stuck |= shrink < ROUNDING
    done = found | over | stuck | (proposal.n_trials >= numbers.descent_trials)
    # The value at a kink may not be compared with: the point beside it is higher, and yet the way
    # to go on.
    best = replace(best, value=np.where(kink & ~done, np.inf, best.value))
    after = replace(proposal, best=best, active=~done, converged=found & ~over)
    return jax.tree.map(lambda old, new: replace_rows(old, rows, new), descent, after)


def not_unique(curvature: Curvature, descent: Descent) -> Bool[np.ndarray, " n"]:
    """Which minimizations ended at a smooth minimum with a singular Hessian. A kink hit exactly has
    no slope."""
    numbers = curvature.schedule
    smooth = descent.best.slope < numbers.negligible * np.maximum(descent.first_slope, TINY)
    if not (descent.converged & smooth).any() or descent.weights.shape[1] == 1:
        return np.zeros(len(descent.weights), dtype=bool)
    flatness, _ = curvature.flatness(descent.best, descent.weights)
    return descent.converged & smooth & (flatness <= curvature.singular)


def break_ties(
    curvature: Curvature, descent: Descent, tied: Bool[np.ndarray, " n_objectives"]
) -> Descent:
    """Minimizations from where the first ones ended, each tied objective now with a small weight on
    the others.

    The lexicographic choice: among the minimizers of f_m, one that is best for the sum of the
    others in units of their slopes.
    """
    numbers, own = curvature.schedule, np.eye(len(tied), dtype=bool)
    slopes = np.maximum(descent.first_slope, TINY)
    # above the error of products, or the Hessians of the others would drown in it
    weight = max(numbers.tie_weight, 8 * curvature.product_rounding)
    others = weight * slopes[:, None] / slopes[None, :]
    weights = np.where(tied[:, None] & ~own, others, own)
    return replace(
        start_descent(weights, descent.x), active=tied, converged=descent.converged & ~tied
    )


def _at_tip(curvature: Curvature, sample: Sample, state: Descent) -> Bool[np.ndarray, " n"]:
    """Whether the best point is a tip: a negligible step against its gradient the gradient is the
    opposite one.

    Seen in the value, which rises by the whole slope of the trial point times the step. Beside a
    crease, which is not a minimizer, the gradients on both sides have a part in common.
    """
    numbers, best = curvature.schedule, state.best
    apart = np.linalg.norm(sample.x - best.x, axis=1)
    steep = sample.slope > numbers.negligible * state.first_slope
    with np.errstate(invalid="ignore"):
        bent = np.abs(sample.value - best.value - sample.slope * apart)
    straight = bent < numbers.singular * sample.slope * apart
    return straight & steep & (apart < numbers.negligible * state.scale)


def _improves(curvature: Curvature, sample: Sample, best: Sample) -> Bool[np.ndarray, " n"]:
    """Lower, or, where values differ by rounding only, nearer to the minimizer by its own Newton
    step."""
    with np.errstate(invalid="ignore"):
        noise = max(16 * curvature.rounding, 4 * curvature.noise) * np.maximum(
            np.abs(sample.value), np.abs(best.value)
        )
        lower = sample.value < best.value - noise
        level = np.abs(sample.value - best.value) <= noise
        nearer = np.linalg.norm(sample.newton, axis=1) < np.linalg.norm(best.newton, axis=1)
        flatter = sample.slope <= best.slope
    return ~np.isfinite(best.value) | lower | (level & nearer & flatter)


def _factor(curvature: Curvature, sample: Sample, state: Descent) -> Float[np.ndarray, " n"]:
    """β from the last two points; 1 where they disagree or give nearly that, the one before where
    there are no two points."""
    numbers = curvature.schedule
    apart, change = sample.x - state.last.x, sample.newton - state.last.newton
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        beta = np.sum(apart * change, axis=1) / np.sum(change**2, axis=1)
        # It is a law of points on a ray: the two predictions of the minimizer must agree.
        missed = np.linalg.norm(apart - beta[:, None] * change, axis=1)
        missed /= np.linalg.norm(apart, axis=1)
    most = numbers.largest_factor
    agree = (beta > 1 / most) & (beta < most) & (missed < numbers.factor_agreement)
    newton = np.abs(np.where(agree, beta, 1.0) - 1) < numbers.factor_change
    return np.where(np.isfinite(beta), np.where(agree & ~newton, beta, 1.0), state.factor)


def _converged(
    curvature: Curvature, state: Descent, kink: np.ndarray, length: np.ndarray, moved: np.ndarray
) -> Bool[np.ndarray, " n"]:
    """Whether the Newton step is negligible beside x (or beside the last move), or a kink was hit a
    second time."""
    numbers, blur = curvature.schedule, 3 * curvature.noise ** (2 / 3)
    size = np.maximum(np.linalg.norm(state.best.x, axis=1), moved)
    least = np.maximum(size, numbers.descent_share * state.scale)
    # A whole Newton step that cannot be told from none has nowhere to go.
    precision = max(curvature.precision, INDISTINCT * curvature.rounding)
    negligible = length <= np.maximum(precision * least, blur * state.scale)
    # Where rounding hides any further gain, shortening a step that is already short cannot help.
    short = max(numbers.negligible, 10 * blur, 1e3 * curvature.rounding)
    exhausted = (state.shrink < numbers.shortest) & (
        length <= short * np.maximum(size, state.scale)
    )
    return (kink & (state.kinks > 1)) | negligible | exhausted | (state.best.slope == 0)


def _where(condition: np.ndarray, yes: Record, no: Record) -> Record:
    """The sample of rows from one or the other."""
    return jax.tree.map(
        lambda a, b: np.where(condition if a.ndim == 1 else condition[:, None], a, b), yes, no
    )
