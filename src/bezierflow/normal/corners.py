"""Corners of the set: minimizers of the single objectives, and ties between minimizers that are not
unique."""

from dataclasses import replace

import numpy as np

from .descent import TINY, Descent, start_descent
from .schedule import DescentSchedule

SMOOTH = 1e-6
"""A gradient below this share of the first one belongs to a smooth minimum; a larger one to a
kink."""


def not_unique(descent: Descent, schedule: DescentSchedule) -> np.ndarray:
    """Which minimizations ended at a smooth minimum with a singular Hessian. A kink hit exactly has
    no slope."""
    slope = np.linalg.norm(descent.best.slope, axis=1)
    smooth = slope < SMOOTH * np.maximum(descent.first_slope, TINY)
    return descent.converged & smooth & (descent.best.flatness <= schedule.singular)


def break_ties(descent: Descent, schedule: DescentSchedule) -> Descent:
    """Minimizations from where the first ones ended, each tied objective now with a small weight on
    the others.

    The lexicographic choice: among the minimizers of f_m, one that is best for the sum of the
    others in units of their slopes.
    """
    tied = not_unique(descent, schedule)
    slopes = np.maximum(descent.first_slope, TINY)
    others = schedule.tie_weight * slopes[:, None] / slopes[None, :]
    weights = np.where(tied[:, None] & ~np.eye(len(tied), dtype=bool), others, np.eye(len(tied)))
    return replace(
        start_descent(weights, descent.x), active=tied, converged=descent.converged & ~tied
    )
