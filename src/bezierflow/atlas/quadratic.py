"""Convex quadratic programs, many at once: Mehrotra's predictor-corrector method in NumPy.

The programs of a batch have the same shape, so that each iteration is a few operations on whole
stacks. SciPy has no solver of quadratic programs, and one call for each of some hundred small
programs would cost more than the solution.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

MOST_ITERATIONS = 30
GAP = 1e-13
"""The mean of slack times multiplier at which a program counts as solved."""


class Optimum(NamedTuple):
    """The minimizers of a batch of programs with their slacks and multipliers."""

    y: Float[np.ndarray, "n n_unknowns"]
    slack: Float[np.ndarray, "n n_rows"]
    multiplier: Float[np.ndarray, "n n_rows"]


def solve_programs(
    Q: Float[np.ndarray, "n n_unknowns n_unknowns"],
    q: Float[np.ndarray, "n n_unknowns"],
    G: Float[np.ndarray, "n n_rows n_unknowns"],
    b: Float[np.ndarray, "n n_rows"],
    start: Float[np.ndarray, "n n_unknowns"],
) -> Optimum:
    """Min ½ yᵀQy + qᵀy subject to G y ≤ b, for positive definite Q."""
    length = np.maximum(np.linalg.norm(G, axis=2), 1e-12)
    G, b = G / length[:, :, None], b / length
    y = start.copy()
    s = np.maximum(b - np.einsum("nij,nj->ni", G, y), 1e-2)
    multiplier = np.ones_like(b)
    todo = np.arange(len(y))
    for _ in range(MOST_ITERATIONS):
        if len(todo) == 0:
            break
        with np.errstate(all="ignore"):  # a program that overflows stays where it is
            step = _step(
                Q[todo], q[todo], G[todo], b[todo], Optimum(y[todo], s[todo], multiplier[todo])
            )
        fine = np.isfinite(step.y).all(axis=1) & np.isfinite(step.multiplier).all(axis=1)
        now = todo[fine]
        y[now], s[now], multiplier[now] = step.y[fine], step.slack[fine], step.multiplier[fine]
        primal = np.abs(np.einsum("nij,nj->ni", G[now], y[now]) + s[now] - b[now]).max(axis=1)
        todo = now[((s[now] * multiplier[now]).mean(axis=1) > GAP) | (primal > 1e-10)]
    return Optimum(y, s * length, multiplier / length)


def _step(Q: np.ndarray, q: np.ndarray, G: np.ndarray, b: np.ndarray, at: Optimum) -> Optimum:
    """One predictor-corrector step."""
    y, s, multiplier = at
    n = y.shape[1]
    dual = np.einsum("nij,nj->ni", Q, y) + q + np.einsum("nij,ni->nj", G, multiplier)
    primal = np.einsum("nij,nj->ni", G, y) + s - b
    gap = (s * multiplier).mean(axis=1, keepdims=True)
    K = Q + np.swapaxes(G * (multiplier / s)[:, :, None], 1, 2) @ G
    ridge = 1e-13 * np.trace(K, axis1=1, axis2=2) / n
    K = K + ridge[:, None, None] * np.eye(n)
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
    dy = _solved(K, -dual - np.einsum("nij,ni->nj", G, (multiplier * primal - complementarity) / s))
    ds = -primal - np.einsum("nij,nj->ni", G, dy)
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
