"""Convex quadratic programs, many at once: Mehrotra's predictor-corrector method in NumPy.

The programs of a batch have the same shape, so that each iteration is a few operations on whole
stacks. SciPy has no solver of quadratic programs, and one call for each of some hundred small
programs would cost more than the solution.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .schedule import SCHEDULE


class Optimum(NamedTuple):
    """The minimizers of a batch of programs with their slacks and multipliers: of the rows, then of
    the upper and of the lower bounds."""

    y: Float[np.ndarray, "n n_unknowns"]
    slack: Float[np.ndarray, "n n_conditions"]
    multiplier: Float[np.ndarray, "n n_conditions"]


def solve_programs(
    Q: Float[np.ndarray, "n n_unknowns n_unknowns"],
    q: Float[np.ndarray, "n n_unknowns"],
    G: Float[np.ndarray, "n n_rows n_unknowns"],
    b: Float[np.ndarray, "n n_rows"],
    bounds: tuple[Float[np.ndarray, "n n_bounded"], Float[np.ndarray, "n n_bounded"]],
    start: Float[np.ndarray, "n n_unknowns"],
) -> Optimum:
    """Min ½ yᵀQy + qᵀy subject to G y ≤ b, and to lower and upper bounds of the first unknowns, for
    positive definite Q."""
    length = np.maximum(np.linalg.norm(G, axis=2), 1e-12)
    G, b = G / length[:, :, None], b / length
    low, high = bounds
    b = np.concatenate([b, high, -low], axis=1)
    y = start.copy()
    s = np.maximum(b - _rows(G, y, low.shape[1]), 1e-2)
    multiplier = np.ones_like(b)
    todo = np.arange(len(y))
    for _ in range(SCHEDULE.program_iterations):
        if len(todo) == 0:
            break
        with np.errstate(all="ignore"):  # a program that overflows stays where it is
            step = _step(
                Q[todo], q[todo], G[todo], b[todo], Optimum(y[todo], s[todo], multiplier[todo])
            )
        fine = np.isfinite(step.y).all(axis=1) & np.isfinite(step.multiplier).all(axis=1)
        now = todo[fine]
        y[now], s[now], multiplier[now] = step.y[fine], step.slack[fine], step.multiplier[fine]
        primal = np.abs(_rows(G[now], y[now], low.shape[1]) + s[now] - b[now]).max(axis=1)
        todo = now[
            ((s[now] * multiplier[now]).mean(axis=1) > SCHEDULE.program_gap) | (primal > 1e-10)
        ]
    unit = np.concatenate([length, np.ones((len(y), 2 * low.shape[1]))], axis=1)
    return Optimum(y, s * unit, multiplier / unit)


def _rows(G: np.ndarray, y: np.ndarray, n_bounded: int) -> np.ndarray:
    """What the conditions limit: rows, bounded unknowns, and their negatives."""
    return np.concatenate([(G @ y[..., None])[..., 0], y[:, :n_bounded], -y[:, :n_bounded]], axis=1)


def _columns(G: np.ndarray, multiplier: np.ndarray) -> np.ndarray:
    """The transpose of that."""
    m = G.shape[1]
    out = (np.swapaxes(G, 1, 2) @ multiplier[:, :m, None])[..., 0]
    upper, lower = np.split(multiplier[:, m:], 2, axis=1)
    out[:, : upper.shape[1]] += upper - lower
    return out


def _step(Q: np.ndarray, q: np.ndarray, G: np.ndarray, b: np.ndarray, at: Optimum) -> Optimum:
    """One predictor-corrector step."""
    y, s, multiplier = at
    n, m = y.shape[1], G.shape[1]
    k = (b.shape[1] - m) // 2
    dual = (Q @ y[..., None])[..., 0] + q + _columns(G, multiplier)
    primal = _rows(G, y, k) + s - b
    gap = (s * multiplier).mean(axis=1, keepdims=True)
    weight = multiplier / s
    K = Q + np.swapaxes(G * weight[:, :m, None], 1, 2) @ G
    # Bounds add to the diagonal alone.
    K[:, np.arange(k), np.arange(k)] += weight[:, m : m + k] + weight[:, m + k :]
    ridge = 1e-13 * np.trace(K, axis1=1, axis2=2) / n
    K[:, np.arange(n), np.arange(n)] += ridge[:, None]
    predicted = _direction(K, G, at, dual, primal, s * multiplier)
    reach = _longest(at, predicted)
    centering = (
        ((s + reach * predicted.slack) * (multiplier + reach * predicted.multiplier)).mean(
            axis=1, keepdims=True
        )
        / gap
    ) ** 3
    right = s * multiplier + predicted.slack * predicted.multiplier - centering * gap
    step = _direction(K, G, at, dual, primal, right)
    reach = _longest(at, step)
    reach = np.where(reach < 1, 0.99 * reach, 1.0)
    return Optimum(y + reach * step.y, s + reach * step.slack, multiplier + reach * step.multiplier)


def _direction(
    K: np.ndarray,
    G: np.ndarray,
    at: Optimum,
    dual: np.ndarray,
    primal: np.ndarray,
    complementarity: np.ndarray,
) -> Optimum:
    """The Newton step that takes residuals and slack times multiplier to 0."""
    _, s, multiplier = at
    dy = _solved(K, -dual - _columns(G, (multiplier * primal - complementarity) / s))
    ds = -primal - _rows(G, dy, (s.shape[1] - G.shape[1]) // 2)
    return Optimum(dy, ds, -(complementarity + multiplier * ds) / s)


def _longest(at: Optimum, step: Optimum) -> Float[np.ndarray, "n 1"]:
    """How much of a step keeps slacks and multipliers nonnegative, 1 at most."""
    _, s, multiplier = at
    with np.errstate(divide="ignore", invalid="ignore"):
        slack = np.where(step.slack < 0, -s / step.slack, np.inf)
        other = np.where(step.multiplier < 0, -multiplier / step.multiplier, np.inf)
    return np.minimum(1.0, np.concatenate([slack, other], axis=1).min(axis=1, keepdims=True))


def _solved(K: np.ndarray, right: np.ndarray) -> np.ndarray:
    """K⁻¹ right for a stack; by pseudo-inverses where one is singular to the last bit."""
    try:
        return np.linalg.solve(K, right[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.einsum("nij,nj->ni", invert(K), right)


def invert(K: Float[np.ndarray, "n k k"]) -> Float[np.ndarray, "n k k"]:
    """Inverses of a stack; pseudo-inverses where one is singular to the last bit, NaN where a
    number is not finite."""
    try:
        return np.linalg.inv(K)
    except np.linalg.LinAlgError:
        finite = np.isfinite(K).all(axis=(1, 2))
        inverse = np.full_like(K, np.nan)
        inverse[finite] = np.linalg.pinv(K[finite], rcond=1e-14)
        return inverse
