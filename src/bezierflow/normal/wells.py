"""Wells that probes hint at: a probe lower than its neighbors, behind a barrier, is followed
downhill.

The bottom of a narrow well may be met by no probe although several lie on its slopes, higher than
the surface. Such a probe is lower than its neighbors, and on the straight way from it to the
surface the objective rises before it falls: in one basin of a convex function it does not, so that
nothing is followed there.
"""

import numpy as np
from jaxtyping import Bool, Float

from .descent import find_minimizers
from .exploration import MOST_EVEN, Seen, gains
from .schedule import ExploreSchedule
from .survey import Survey

ROUNDING = 1e-9
"""A rise along the way of less than this, of an objective's range or its size at the probe, is
none."""


def deepest_rival(
    survey: Survey, seen: Seen, numbers: ExploreSchedule
) -> Float[np.ndarray, " n_variables"] | None:
    """The bottom of a well that beats the surface clearly; None if the wells that probes hint at
    are no better.

    Wells are looked for in each objective, and in the sum of all in units of their ranges.
    """
    M, L = seen.values.shape[1], seen.probes.shape[1]
    if L > MOST_EVEN:  # neighbors say nothing where all points are equally far from each other
        return None
    weights = np.concatenate([np.eye(M), np.ones((1, M))]) if M > 1 else np.eye(1)
    lower = _lower_than_neighbors(seen, weights, numbers)
    rows, columns = np.nonzero(lower)
    starts, chosen = seen.probes[rows], weights[columns]
    behind = _behind_barriers(
        survey, seen, starts, chosen, (seen.values[rows] * chosen).sum(axis=1), numbers.steps
    )
    heights = (seen.values[rows] * chosen).sum(axis=1) - (seen.on_surface @ weights.T).min(axis=0)[
        columns
    ]
    order = np.flatnonzero(behind)[np.argsort(heights[behind])][: numbers.wells]
    if (
        len(order) == 0
        or len(order) * survey.schedule.descent.most_evaluations > survey.evaluator.left
    ):
        return None
    found = find_minimizers(survey.look, chosen[order] / seen.scale, starts[order])
    values = survey.evaluator.values(found.x) / seen.scale
    corner, dominates = gains(np.where(np.isfinite(values), values, np.inf), seen.on_surface)
    gain = np.maximum(corner, dominates.max(axis=1))
    best = int(np.argmax(gain))
    return found.x[best] if gain[best] > numbers.clear else None


def _lower_than_neighbors(
    seen: Seen, weights: np.ndarray, numbers: ExploreSchedule
) -> Bool[np.ndarray, "n n_weights"]:
    """Which probes have a lower weighted sum than all of their nearest ones of the same box."""
    k = numbers.neighbors * seen.probes.shape[1]
    parts = []
    for first in range(0, len(seen.probes), numbers.probes):
        x, f = (
            seen.probes[first : first + numbers.probes],
            seen.values[first : first + numbers.probes],
        )
        usable = np.asarray(np.isfinite(f).all(axis=1))
        sums = np.where(usable[:, None], np.where(usable[:, None], f, 0.0) @ weights.T, np.inf)
        squared = (x**2).sum(axis=1)
        apart = squared[:, None] + squared[None] - 2 * x @ x.T
        near = np.argpartition(apart, min(k, len(x) - 1), axis=1)[:, : k + 1]
        itself = np.asarray(near == np.arange(len(x))[:, None])
        others = np.where(itself[..., None], np.inf, sums[near])
        parts.append((sums < others.min(axis=1)) & usable[:, None])
    return np.concatenate(parts)


def _behind_barriers(
    survey: Survey,
    seen: Seen,
    starts: np.ndarray,
    weights: np.ndarray,
    heights: np.ndarray,
    n_steps: int,
) -> Bool[np.ndarray, " n"]:
    """Whether a weighted sum rises on the straight way from each start to the point of the surface
    where it is least."""
    if len(starts) == 0 or len(starts) * n_steps > survey.evaluator.left:
        return np.zeros(len(starts), dtype=bool)
    goals = seen.surface[(seen.on_surface @ weights.T).argmin(axis=0)]
    share = np.linspace(0, 1, n_steps + 1)[1:, None, None]
    x = (1 - share) * starts + share * goals
    f = survey.evaluator.values(x.reshape(-1, x.shape[-1])) / seen.scale
    sums = (f.reshape(*x.shape[:2], -1) * weights).sum(axis=2)
    path = np.concatenate([heights[None], sums])
    rise = np.where(np.isfinite(path[1:]), np.diff(path, axis=0), np.inf)
    return np.asarray((rise > ROUNDING * (1 + np.abs(heights))).any(axis=0))
