"""Minimizers of weighted sums: a safeguarded Newton method for many weight vectors at once, also
for cusps and bad scales.

For f ≈ f* + a|A(x − x*)|^p near its minimizer, gradients are homogeneous, H(x)(x − x*) = (p−1)
g(x), hence

    x* = x − β d(x),      d = H⁻¹g,   β = p − 1.

Newton's method is β = 1. Any two points give β, from x₁ − β d₁ = x₂ − β d₂ in the least-squares
sense, and with it the minimizer of a cusp (p < 1), a norm (p = 1) or a flat bottom (p > 2) as fast
as that of a quadratic. Where H is not positive definite, it is bent along the gradient, H + c|H|
ĝĝᵀ, which is what a monotone change of f would do and leaves the minimizer where it is.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TypeVar

import numpy as np
from jaxtyping import Bool, Float, Int

from ..objectives import Derivatives, replace_rows
from ..runs import kind
from .schedule import DescentSchedule

Look = Callable[[Float[np.ndarray, "n n_variables"]], Derivatives]
"""Derivatives with Hessians at points."""

TINY = 1e-300
"""Keeps a division by a length of 0 finite."""


@kind("normal.sample/1")
@dataclass(frozen=True)
class Sample:
    """Each row's weighted sum at one point of its own: value, gradient g, Newton step d and
    smallest |eigenvalue| of H/|H|."""

    x: Float[np.ndarray, "n n_variables"]
    value: Float[np.ndarray, " n"]
    slope: Float[np.ndarray, "n n_variables"]
    newton: Float[np.ndarray, "n n_variables"]
    flatness: Float[np.ndarray, " n"]

    @property
    def differentiable(self) -> Bool[np.ndarray, " n"]:
        """Which rows have derivatives there; a kink hit exactly has a value but none."""
        return np.asarray(np.isfinite(self.newton).all(axis=1))


@kind("normal.descent/1")
@dataclass(frozen=True)
class Descent:
    """Where the minimizations stand, one row a weight vector.

    Attributes:
        weights: of the objectives.
        best: the best point of each row so far.
        last: the last point with derivatives.
        trial: the next point to look at.
        factor: β.
        shrink: share of the step that the trial takes.
        restarted: whether the trial takes the full step again because β changed.
        kinks: how often a kink was hit exactly.
        scale: |x| at the start, at least 1.
        first_slope: |g| at the first point with a gradient.
        active: which rows go on.
        converged: which rows found their minimizer.
        n_evaluations: trial points looked at.
    """

    weights: Float[np.ndarray, "n n_objectives"]
    best: Sample
    last: Sample
    trial: Float[np.ndarray, "n n_variables"]
    factor: Float[np.ndarray, " n"]
    shrink: Float[np.ndarray, " n"]
    restarted: Bool[np.ndarray, " n"]
    kinks: Int[np.ndarray, " n"]
    scale: Float[np.ndarray, " n"]
    first_slope: Float[np.ndarray, " n"]
    active: Bool[np.ndarray, " n"]
    converged: Bool[np.ndarray, " n"]
    n_evaluations: int = 0

    @property
    def x(self) -> Float[np.ndarray, "n n_variables"]:
        """The best points so far."""
        return self.best.x


def start_descent(
    weights: Float[np.ndarray, "n n_objectives"], x: Float[np.ndarray, "n n_variables"]
) -> Descent:
    """Minimize Σ_m weights[i, m] f_m from x[i], for every row i."""
    n, x = len(weights), np.array(x, dtype=float)
    nothing = np.full(x.shape, np.nan)
    unseen = Sample(x, np.full(n, np.inf), nothing, nothing, np.ones(n))
    return Descent(
        weights=np.asarray(weights, dtype=float),
        best=unseen,
        last=replace(unseen, x=nothing),
        trial=x,
        factor=np.ones(n),
        shrink=np.ones(n),
        restarted=np.zeros(n, dtype=bool),
        kinks=np.zeros(n, dtype=int),
        scale=np.maximum(1.0, np.linalg.norm(x, axis=1)),
        first_slope=np.full(n, np.nan),
        active=np.ones(n, dtype=bool),
        converged=np.zeros(n, dtype=bool),
    )


def find_minimizers(
    look: Look, weights: Float[np.ndarray, "n n_objectives"], x: Float[np.ndarray, "n n_variables"]
) -> Descent:
    """The minimizations of all weighted sums, run to their ends."""
    descent = start_descent(weights, x)
    while descent.active.any():
        descent = descend(look, descent)
    return descent


def descend(look: Look, descent: Descent, schedule: DescentSchedule | None = None) -> Descent:
    """One trial point for every row that is still active: evaluate, accept or shorten, and choose
    the next."""
    rows = np.flatnonzero(descent.active)
    step = _next(look, _take(descent, rows), schedule or DescentSchedule())
    return replace(_put(descent, rows, step), n_evaluations=descent.n_evaluations + 1)


def _next(look: Look, state: Descent, schedule: DescentSchedule) -> Descent:
    """The state of active rows after one more trial point."""
    sample = _sample(look(state.trial), state.weights, schedule)
    differentiable, better = sample.differentiable, _improves(sample, state.best, schedule)
    factor = _factor(sample, state.last, state.factor, schedule)
    best = _where(better, sample, state.best)
    best = replace(
        best, flatness=np.where(better & differentiable, sample.flatness, state.best.flatness)
    )
    # A changed factor changes the step, which is tried at full length once before it is shortened.
    changed = np.abs(factor / state.factor - 1) > schedule.factor_change
    restarted = ~better & changed & differentiable & (state.shrink == 1) & ~state.restarted
    shrink = np.where(better | restarted, 1.0, state.shrink * schedule.shorten)
    newton = factor[:, None] * best.newton
    length = np.linalg.norm(newton, axis=1)
    reach = schedule.longest_step * np.maximum(state.scale, np.linalg.norm(best.x, axis=1))
    step = newton * (np.minimum(1, reach / np.maximum(length, TINY)) * shrink)[:, None]
    # A kink hit exactly has no gradient, perhaps because of another objective. The first time, the
    # next trial is a point beside it; a row that comes back to it has found its minimizer.
    kink = better & ~differentiable
    step = np.where(
        (kink | ~np.isfinite(step).all(axis=1))[:, None], _aside(best.x, state.scale), step
    )
    proposal = replace(
        state,
        best=best,
        last=_where(differentiable, sample, state.last),
        trial=best.x - step,
        factor=factor,
        shrink=shrink,
        restarted=restarted,
        kinks=state.kinks + kink,
        first_slope=np.where(
            np.isfinite(state.first_slope), state.first_slope, np.linalg.norm(best.slope, axis=1)
        ),
    )
    found = _converged(
        proposal, kink, length, np.linalg.norm(best.x - state.trial, axis=1), schedule
    )
    over = _diverged(proposal, kink, schedule)
    done = found | over | _stuck(proposal) | (state.n_evaluations + 1 >= schedule.most_evaluations)
    # The value at a kink may not be compared with: the point beside it is higher, and yet the way
    # to go on.
    best = replace(best, value=np.where(kink & ~done, np.inf, best.value))
    return replace(proposal, best=best, active=~done, converged=found & ~over)


def _sample(derivatives: Derivatives, weights: np.ndarray, schedule: DescentSchedule) -> Sample:
    """Value, gradient, Newton step and flatness of each row's own weighted sum at its own point."""
    assert derivatives.hessians is not None
    used = np.asarray(weights != 0)

    def combined(part: np.ndarray) -> np.ndarray:
        # An objective without weight may be undefined here (0 · nan is nan): it is left out, not
        # multiplied by 0.
        shape = (*weights.shape, *[1] * (part.ndim - 2))
        return np.sum(np.where(used.reshape(shape), part * weights.reshape(shape), 0.0), axis=1)

    with np.errstate(invalid="ignore"):
        value, slope, hessian = map(
            combined, (derivatives.values, derivatives.gradients, derivatives.hessians)
        )
    return Sample(derivatives.points, value, slope, *_newton_step(slope, hessian, schedule))


def _newton_step(
    slope: np.ndarray, hessian: np.ndarray, schedule: DescentSchedule
) -> tuple[np.ndarray, np.ndarray]:
    """H⁻¹g with a positive definite stand-in for H (not a number without derivatives); the smallest
    |eigenvalue| of H/|H|."""
    usable = np.asarray(np.isfinite(slope).all(axis=1) & np.isfinite(hessian).all(axis=(1, 2)))
    g = np.where(usable[:, None], slope, 0.0)
    h = np.where(usable[:, None, None], hessian, np.eye(slope.shape[1]))
    size, strength = np.linalg.norm(g, axis=1), np.linalg.norm(h, axis=(1, 2))
    # In units where the gradient and the Hessian have length 1, so that no scale of f can over- or
    # underflow.
    direction = g / np.where(size > 0, size, 1.0)[:, None]
    h = h / np.where(strength > 0, strength, 1.0)[:, None, None]
    values = np.linalg.eigvalsh(h)
    # A Hessian of zeros says nothing: it is what a function with a kink at its minimizer may be
    # made to return there.
    flatness = np.where(strength > 0, np.abs(values).min(axis=1), 1.0)
    along = direction[:, :, None] * direction[:, None, :]
    indefinite = values[:, 0] <= 1e-10
    bent = h + np.where(indefinite, 1.0, 0.0)[:, None, None] * along
    barely = indefinite & (np.linalg.eigvalsh(bent)[:, 0] < schedule.barely)
    bent += np.where(barely, schedule.bend, 0.0)[:, None, None] * along
    values, vectors = np.linalg.eigh(bent)
    values = np.maximum(np.abs(values), 1e-12)
    step = np.einsum("nij,nj->ni", vectors, np.einsum("nji,nj->ni", vectors, direction) / values)
    step = step * (size / np.where(strength > 0, strength, 1.0))[:, None]
    return np.where(usable[:, None], step, np.nan), flatness


def _improves(sample: Sample, best: Sample, schedule: DescentSchedule) -> np.ndarray:
    """Lower, or, where values differ by rounding only, nearer to the minimizer by its own Newton
    step."""
    with np.errstate(invalid="ignore"):
        noise = max(16 * np.finfo(float).eps, 4 * schedule.noise) * np.maximum(
            np.abs(sample.value), np.abs(best.value)
        )
        lower = sample.value < best.value - noise
        level = np.abs(sample.value - best.value) <= noise
        nearer = np.linalg.norm(sample.newton, axis=1) < np.linalg.norm(best.newton, axis=1)
        flatter = np.linalg.norm(sample.slope, axis=1) <= np.linalg.norm(best.slope, axis=1)
    return ~np.isfinite(best.value) | lower | (level & nearer & flatter)


def _factor(
    sample: Sample, last: Sample, before: np.ndarray, schedule: DescentSchedule
) -> np.ndarray:
    """β from the last two points; 1 where they disagree or give nearly that, the one before where
    there are no two points."""
    apart, change = sample.x - last.x, sample.newton - last.newton
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        beta = np.sum(apart * change, axis=1) / np.sum(change**2, axis=1)
        # It is a law of points on a ray: the two predictions of the minimizer must agree.
        missed = np.linalg.norm(apart - beta[:, None] * change, axis=1) / np.linalg.norm(
            apart, axis=1
        )
    agree = np.isfinite(beta) & (beta > 0.02) & (beta < 50) & (missed < schedule.factor_agreement)
    newton = np.abs(np.where(agree, beta, 1.0) - 1) < schedule.factor_change
    return np.where(np.isfinite(beta), np.where(agree & ~newton, beta, 1.0), before)


def _converged(
    state: Descent,
    kink: np.ndarray,
    length: np.ndarray,
    moved: np.ndarray,
    schedule: DescentSchedule,
) -> np.ndarray:
    """Whether the Newton step is negligible beside x (or beside the last move), or a kink was hit a
    second time."""
    size = np.maximum(np.linalg.norm(state.best.x, axis=1), moved)
    negligible = length <= np.maximum(
        schedule.precision * np.maximum(size, 1e-3 * state.scale), schedule.blur * state.scale
    )
    # Where rounding hides any further gain, shortening a step that is already short cannot help.
    exhausted = (state.shrink < 0.02) & (
        length <= max(1e-6, 10 * schedule.blur) * np.maximum(size, state.scale)
    )
    flat = np.linalg.norm(state.best.slope, axis=1) == 0
    return (kink & (state.kinks > 1)) | negligible | exhausted | flat


def _diverged(state: Descent, kink: np.ndarray, schedule: DescentSchedule) -> np.ndarray:
    """Whether x ran away, or the value is not a number."""
    return (np.isnan(state.best.value) & ~kink) | (
        np.linalg.norm(state.best.x, axis=1) > schedule.runaway * state.scale
    )


def _stuck(state: Descent) -> np.ndarray:
    """Whether the next trial cannot be told from the best point."""
    step = np.linalg.norm(state.trial - state.best.x, axis=1)
    return (step <= 1e-15 * np.linalg.norm(state.best.x, axis=1)) | (state.shrink < 1e-12)


def _aside(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """A small step in a direction that no problem is likely to be symmetric in."""
    uneven = np.cos(1 + np.arange(x.shape[1]) ** 2)
    return 1e-6 * scale[:, None] * uneven / np.linalg.norm(uneven)


Record = TypeVar("Record", Sample, Descent)


def _take(record: Record, rows: np.ndarray) -> Record:
    """The record of some rows."""
    parts = {part.name: getattr(record, part.name) for part in fields(record)}
    taken = {
        name: _take(part, rows) if isinstance(part, Sample) else part[rows]
        for name, part in parts.items()
        if name != COUNT
    }
    return replace(record, **taken)


def _put(record: Record, rows: np.ndarray, new: Record) -> Record:
    """The record with some rows replaced."""
    parts = {
        part.name: (getattr(record, part.name), getattr(new, part.name))
        for part in fields(record)
        if part.name != COUNT
    }
    put = {
        name: _put(old, rows, fresh) if isinstance(old, Sample) else replace_rows(old, rows, fresh)
        for name, (old, fresh) in parts.items()
    }
    return replace(record, **put)


COUNT = "n_evaluations"
"""The one field of a `Descent` that has no rows."""


def _where(condition: np.ndarray, yes: Sample, no: Sample) -> Sample:
    """The sample of rows from one or the other."""
    pairs = ((getattr(yes, part.name), getattr(no, part.name)) for part in fields(Sample))
    return Sample(
        *[np.where(condition if a.ndim == 1 else condition[:, None], a, b) for a, b in pairs]
    )
