"""Vertices that are not points: objectives whose minimizer is not unique, and how the tie is broken."""

import numpy as np

from .descent import Descent, start_descent
from .evaluator import Evaluator

SINGULAR = 1e-8
"""A smooth minimum whose Hessian has a smaller eigenvalue than this (over its norm) leaves its minimizer undetermined."""

TIE_WEIGHT = 1e-7
"""What the other objectives weigh, slope for slope, when they break a tie: the vertex misses the best of the tied points by
about this share of the diameter."""


def not_unique(descent: Descent) -> np.ndarray:
    """Which minimizations ended at a smooth minimum with a singular Hessian."""
    size = np.linalg.norm(np.nan_to_num(descent.slope), axis=1)
    smooth = size < 1e-6 * np.maximum(descent.first_slope, 1e-300)
    return descent.converged & smooth & (descent.flatness <= SINGULAR)


def break_ties(count: Evaluator, descent: Descent) -> Descent:
    """Minimizations from where the first ones ended, each tied objective now with a little of the others.

    The lexicographic choice: among the minimizers of f_m, one that is best for the sum of the others in units of their slopes.
    """
    tied = not_unique(descent)
    slopes = np.maximum(descent.first_slope, 1e-300)
    others = TIE_WEIGHT * slopes[:, None] / slopes[None, :]
    weights = np.where(tied[:, None] & ~np.eye(len(tied), dtype=bool), others, np.eye(len(tied)))
    again = start_descent(weights, descent.x)
    again.active[~tied] = False
    again.converged[~tied] = descent.converged[~tied]
    return again
