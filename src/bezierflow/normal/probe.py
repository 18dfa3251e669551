"""Looking at a surface: its distances to the set at given t, and the points of the set that are learned on the way."""

import numpy as np

from .cloud import Cloud, observe
from .evaluations import Evaluations

FAR = 0.02
"""Points farther from the set than this share of the diameter are followed towards it before they join the cloud."""

CORRECTIONS = 2
"""How often a far point is followed."""


def probe(count: Evaluations, t: np.ndarray, x: np.ndarray, diameter: float) -> tuple[Cloud, np.ndarray]:
    """The cloud seen from x = b(t), and the distance of each x from the set (the diameter where it cannot be told)."""
    cloud, distance, valid = _look(count, t, x, diameter)
    parts, rows = [cloud], np.flatnonzero(valid)
    for _ in range(CORRECTIONS):
        # The last part holds the latest points; those that were far are looked at again from where they went.
        far = np.flatnonzero(parts[-1].miss > _miss_of(FAR, diameter))
        if len(far) == 0 or len(far) > count.left:
            break
        latest = parts.pop()
        parts.append(latest.take(np.setdiff1d(np.arange(len(latest)), far)))
        followed, _, kept = _look(count, t[rows[far]], latest.points[far], diameter)
        parts.append(followed)
        rows = rows[far][kept]
    joined = parts[0]
    for part in parts[1:]:
        joined = joined.join(part)
    return joined, distance


def _look(count: Evaluations, t: np.ndarray, x: np.ndarray, diameter: float) -> tuple[Cloud, np.ndarray, np.ndarray]:
    lin = count.linearize(count.at(x), t > 0)
    distance = np.where(lin.valid, np.linalg.norm(lin.displacement, axis=1), diameter)
    return observe(t, x, lin, diameter), np.minimum(distance, diameter), np.asarray(lin.valid)


def _miss_of(share: float, diameter: float) -> float:
    from .cloud import CURVED

    return CURVED * share**2 * diameter
