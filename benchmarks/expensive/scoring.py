"""Scores of points: hypervolume gap with its sampling floor, and IGD+, in units of the ranges of
the true front."""

import numpy as np

from .problems import Expensive


def volume(problem: Expensive, f: np.ndarray) -> float:
    """The hypervolume of points beyond the nadir by a tenth, in units of the ranges."""
    import moocore

    if len(f) == 0:  # nothing feasible
        return 0.0
    z = (f - problem.reference["ideal"]) / problem.span
    return float(moocore.hypervolume(z, ref=np.full(z.shape[1], 1.1)))


def gap(problem: Expensive, f: np.ndarray) -> float:
    """The share of the true front's hypervolume that points miss."""
    return 1 - volume(problem, f) / float(problem.reference["volume"])


def floor(problem: Expensive, n: int) -> float:
    """What n points spread evenly over the true front miss: no n points can be expected to miss
    much less."""
    front = problem.reference["front"]
    z = (front - problem.reference["ideal"]) / problem.span
    chosen = list(dict.fromkeys(int(i) for i in z.argmin(axis=0)))
    away = np.min([np.linalg.norm(z - z[i], axis=1) for i in chosen], axis=0)
    while len(chosen) < min(n, len(front)):
        chosen.append(int(away.argmax()))
        away = np.minimum(away, np.linalg.norm(z - z[chosen[-1]], axis=1))
    return gap(problem, front[chosen])


def igd_plus(problem: Expensive, f: np.ndarray) -> float:
    """The mean distance by which points fall short of the true front."""
    import moocore

    if len(f) == 0:
        return float("nan")
    ideal, span = problem.reference["ideal"], problem.span
    return float(
        moocore.igd_plus((f - ideal) / span, ref=(problem.reference["front"] - ideal) / span)
    )
