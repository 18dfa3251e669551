"""Minimizers of weighted sums: a safeguarded Newton method for many weight vectors at once, at ease with cusps and bad scales.

For f ≈ f* + a|A(x − x*)|^p near its minimizer, gradients are homogeneous, H(x)(x − x*) = (p−1) g(x), hence

    x* = x − β d(x),      d = H⁻¹g,   β = p − 1.

Newton's method is β = 1. Any two points give β, from x₁ − β d₁ = x₂ − β d₂ in the least-squares sense, and with it the minimizer
of a cusp (p < 1), a norm (p = 1) or a flat bottom (p > 2) as fast as that of a quadratic. Where H is not positive definite, it is
bent along the gradient, H + c|H| ĝĝᵀ, which is what a monotone change of f would do and leaves the minimizer where it is.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from .derivatives import put_rows
from .evaluator import Evaluator

MOST_ITERATIONS = 60
"""A minimizer not found after so many trial points is reported as not found."""

BEND = 2.0
BARELY = 0.1
"""An indefinite Hessian H, in units of its norm, gets ĝĝᵀ added, and BEND of it more if that leaves an eigenvalue below BARELY:
together enough for any power of a convex quadratic, and no shorter steps than need be."""

PRECISION = 1e-11
"""The descent ends when the way that is left is below this share of the way made so far (or of |x|)."""

RUNAWAY = 1e8
"""An x that grows beyond this many times its first scale is taken as a sign of an objective without a minimizer."""


@dataclass(frozen=True)
class Descent:
    """Where the minimizations stand: one row a weight vector. `x` is the best point so far, `trial` the next to be looked at."""

    weights: Float[np.ndarray, "n n_objectives"]
    x: Float[np.ndarray, "n n_variables"]
    trial: Float[np.ndarray, "n n_variables"]
    value: Float[np.ndarray, " n"]
    flatness: Float[np.ndarray, " n"]
    slope: Float[np.ndarray, "n n_variables"]
    first_slope: Float[np.ndarray, " n"]
    newton: Float[np.ndarray, "n n_variables"]
    seen: Float[np.ndarray, "n n_variables"]
    seen_newton: Float[np.ndarray, "n n_variables"]
    factor: Float[np.ndarray, " n"]
    shrink: Float[np.ndarray, " n"]
    scale: Float[np.ndarray, " n"]
    kinks: Int[np.ndarray, " n"]
    active: Bool[np.ndarray, " n"]
    converged: Bool[np.ndarray, " n"]
    n_iterations: int = 0


def start_descent(weights: Float[np.ndarray, "n n_objectives"], x: Float[np.ndarray, "n n_variables"]) -> Descent:
    """Minimize Σ_m weights[i, m] f_m from x[i], for every row i."""
    n = len(weights)
    unknown = np.full(x.shape, np.nan)
    return Descent(
        weights=np.asarray(weights, dtype=float),
        x=np.array(x, dtype=float),
        trial=np.array(x, dtype=float),
        value=np.full(n, np.inf),
        flatness=np.ones(n),
        slope=unknown,
        first_slope=np.full(n, np.nan),
        newton=unknown,
        seen=unknown,
        seen_newton=unknown,
        factor=np.ones(n),
        shrink=np.ones(n),
        scale=np.maximum(1.0, np.linalg.norm(x, axis=1)),
        kinks=np.zeros(n, dtype=int),
        active=np.ones(n, dtype=bool),
        converged=np.zeros(n, dtype=bool),
    )


def descend(count: Evaluator, state: Descent) -> Descent:
    """One trial point for every row that is still active: evaluate, accept or shorten, and choose the next."""
    rows = np.flatnonzero(state.active)
    value, slope, newton, flatness = _weighted(count, state.trial[rows], state.weights[rows])
    old = [part[rows] for part in (state.x, state.value, state.slope, state.newton)]
    better = _improves(value, slope, newton, old)
    factor = _factor(state.trial[rows], newton, state.seen[rows], state.seen_newton[rows], state.factor[rows])
    known = np.asarray(np.isfinite(newton).all(axis=1))
    x, value, slope, newton_at = (
        np.where(better if part.ndim == 1 else better[:, None], part, kept)
        for part, kept in zip((state.trial[rows], value, slope, newton), old, strict=True)
    )
    shrink = np.where(better, 1.0, state.shrink[rows] * 0.35)
    step = factor[:, None] * newton_at
    length = np.linalg.norm(step, axis=1)
    # A changed factor is a new idea and deserves its full length before it is shortened.
    fresh = ~better & (np.abs(factor / state.factor[rows] - 1) > 0.05) & known & (state.shrink[rows] == 1)
    shrink = np.where(fresh, 0.999, shrink)
    reach = 10 * np.maximum(state.scale[rows], np.linalg.norm(x, axis=1))
    step = step * np.minimum(1, reach / np.maximum(length, 1e-300))[:, None] * shrink[:, None]
    # A kink hit exactly has a value but no gradient, perhaps because another objective has none there. The first time, the next
    # trial is a point beside it; a descent that comes back to it has found its minimizer.
    kink = better & ~known
    step = np.where((kink | ~np.isfinite(step).all(axis=1))[:, None], _aside(x, state.scale[rows]), step)
    done, found = _finished(state, rows, x, value, slope, step, length, shrink, kink & (state.kinks[rows] > 0))
    return replace(
        state,
        x=put_rows(state.x, rows, x),
        trial=put_rows(state.trial, rows, x - step),
        value=put_rows(state.value, rows, np.where(kink & ~done, np.inf, value)),
        kinks=put_rows(state.kinks, rows, state.kinks[rows] + kink),
        flatness=put_rows(state.flatness, rows, np.where(better & known, flatness, state.flatness[rows])),
        slope=put_rows(state.slope, rows, slope),
        first_slope=put_rows(state.first_slope, rows, _first(state.first_slope[rows], slope)),
        newton=put_rows(state.newton, rows, newton_at),
        seen=put_rows(state.seen, rows, np.where(known[:, None], state.trial[rows], state.seen[rows])),
        seen_newton=put_rows(state.seen_newton, rows, np.where(known[:, None], newton, state.seen_newton[rows])),
        factor=put_rows(state.factor, rows, factor),
        shrink=put_rows(state.shrink, rows, shrink),
        active=put_rows(state.active, rows, ~done),
        converged=put_rows(state.converged, rows, found),
        n_iterations=state.n_iterations + 1,
    )


def _weighted(count: Evaluator, x: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
    """Value, gradient, Newton step d and flatness of each row's own weighted sum at its own point."""
    at = count.at(x)
    assert at.hessians is not None
    used = np.asarray(weights != 0)

    def combined(part: np.ndarray) -> np.ndarray:
        # An objective without weight may be undefined here (0 · nan is nan): it is left out, not multiplied by 0.
        shape = (*weights.shape, *[1] * (part.ndim - 2))
        return np.sum(np.where(used.reshape(shape), part * weights.reshape(shape), 0.0), axis=1)

    with np.errstate(invalid="ignore"):
        value, slope, hessian = combined(at.values), combined(at.gradients), combined(at.hessians)
    return value, slope, *_newton_step(slope, hessian)


def _newton_step(slope: np.ndarray, hessian: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """H⁻¹g with a positive definite stand-in for H (not a number without derivatives); the smallest |eigenvalue| of H/|H|."""
    usable = np.asarray(np.isfinite(slope).all(axis=1) & np.isfinite(hessian).all(axis=(1, 2)))
    g = np.where(usable[:, None], slope, 0.0)
    h = np.where(usable[:, None, None], hessian, np.eye(slope.shape[1]))
    size, strength = np.linalg.norm(g, axis=1), np.linalg.norm(h, axis=(1, 2))
    # In units where the gradient and the Hessian have length 1, so that no scale of f can over- or underflow.
    direction = g / np.where(size > 0, size, 1.0)[:, None]
    h = h / np.where(strength > 0, strength, 1.0)[:, None, None]
    values = np.linalg.eigvalsh(h)
    # A Hessian of zeros says nothing: it is what a function with a kink at its minimizer may be made to return there.
    flatness = np.where(strength > 0, np.abs(values).min(axis=1), 1.0)
    along = direction[:, :, None] * direction[:, None, :]
    indefinite = values[:, 0] <= 1e-10
    bent = h + np.where(indefinite, 1.0, 0.0)[:, None, None] * along
    bent += np.where(indefinite & (np.linalg.eigvalsh(bent)[:, 0] < BARELY), BEND, 0.0)[:, None, None] * along
    values, vectors = np.linalg.eigh(bent)
    values = np.maximum(np.abs(values), 1e-12)
    step = np.einsum("nij,nj->ni", vectors, np.einsum("nji,nj->ni", vectors, direction) / values)
    step = step * (size / np.where(strength > 0, strength, 1.0))[:, None]
    return np.where(usable[:, None], step, np.nan), flatness


def _improves(value: np.ndarray, slope: np.ndarray, newton: np.ndarray, old: list[np.ndarray]) -> np.ndarray:
    """Lower, or, where values differ by rounding only, nearer to the minimizer by its own Newton step."""
    _, old_value, old_slope, old_newton = old
    first = ~np.isfinite(old_value)
    with np.errstate(invalid="ignore"):
        noise = 16 * np.finfo(float).eps * np.maximum(np.abs(value), np.abs(old_value))
        lower = value < old_value - noise
        level = np.abs(value - old_value) <= noise
        nearer = np.linalg.norm(newton, axis=1) < np.linalg.norm(old_newton, axis=1)
        flatter = np.linalg.norm(slope, axis=1) <= np.linalg.norm(old_slope, axis=1)
    return first | lower | (level & nearer & flatter)


def _factor(x: np.ndarray, d: np.ndarray, seen: np.ndarray, seen_d: np.ndarray, before: np.ndarray) -> np.ndarray:
    """β from the last two points looked at; 1 where they do not tell, or tell nearly that."""
    change = d - seen_d
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        beta = np.sum((x - seen) * change, axis=1) / np.sum(change**2, axis=1)
        # It is a law of points on a ray: the two ways to say where the minimizer is must agree.
        missed = np.linalg.norm(x - seen - beta[:, None] * change, axis=1) / np.linalg.norm(x - seen, axis=1)
    told = np.isfinite(beta) & (beta > 0.02) & (beta < 50) & (missed < 0.3)
    plain = np.abs(np.where(told, beta, 1.0) - 1) < 0.05
    return np.where(told & ~plain, beta, np.where(told, 1.0, np.where(np.isfinite(beta), 1.0, before)))


def _finished(state: Descent, rows: np.ndarray, x, value, slope, step, length, shrink, kink) -> tuple[np.ndarray, np.ndarray]:
    """Whether each row is done, and whether it is because the minimizer was found."""
    made = np.maximum(np.linalg.norm(x, axis=1), np.linalg.norm(x - state.trial[rows], axis=1))
    still = PRECISION * np.maximum(made, 1e-3 * state.scale[rows])
    found = kink | (length <= still) | (np.linalg.norm(slope, axis=1) == 0)
    # Where rounding hides any further gain, shortening a step that is already short cannot help.
    found |= (shrink < 0.02) & (length <= 1e-6 * np.maximum(made, state.scale[rows]))
    away = (np.isnan(value) & ~kink) | (np.linalg.norm(x, axis=1) > RUNAWAY * state.scale[rows])
    stuck = (np.linalg.norm(step, axis=1) <= 1e-15 * made) | (shrink < 1e-12)
    done = found | away | stuck | (state.n_iterations + 1 >= MOST_ITERATIONS)
    return done, found & ~away


def _aside(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """A small step in a direction that no problem is likely to be symmetric in."""
    uneven = np.cos(1 + np.arange(x.shape[1]) ** 2)
    return 1e-6 * scale[:, None] * uneven / np.linalg.norm(uneven)


def _first(first: np.ndarray, slope: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(first), first, np.linalg.norm(slope, axis=1))
