"""The mean squared error of a surface against the exact Pareto map."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .point_set import as_points

BLOCK_POINTS = 100_000
"""Values of t evaluated at a time, to bound memory."""


def mse(surface: Callable[[np.ndarray], ArrayLike], problem: object, t: ArrayLike) -> float:
    """The mean over n of |b(t_n) − x*(t_n)|² (Section "Numerical Experiments").

    Args:
        surface: b, a `BezierSimplex` into R^L or any function over batches of t.
        problem: an object with `pareto_map(t)`, the minimizer of the t-weighted sum.
        t: points of the simplex, one a row.
    """
    pareto_map = getattr(problem, "pareto_map", None)
    if pareto_map is None:
        raise TypeError(
            f"problem must have a pareto_map(t) to compare with, and {type(problem).__name__} has"
            " none; compare sets instead, with gd, igd or the problem's distance(x)"
        )
    t = as_points(t, "t")
    total = 0.0
    for start in range(0, len(t), BLOCK_POINTS):
        block = t[start : start + BLOCK_POINTS]
        found, exact = (
            np.asarray(surface(block), dtype=float),
            np.asarray(pareto_map(block), dtype=float),
        )
        if found.shape != exact.shape:
            raise ValueError(
                f"surface must return shape {exact.shape} like the problem's pareto_map, got"
                f" {found.shape}"
            )
        total += float(np.sum((found - exact) ** 2))
    return total / len(t)
