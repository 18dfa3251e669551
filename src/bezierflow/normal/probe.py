"""Looking at a surface: its distances to the set at given t, and the points of the set that are learned on the way."""

import numpy as np

from .cloud import Cloud, observe
from .evaluations import Evaluations

FAR = 0.06
"""A point is followed towards the set before it joins the cloud if it may miss it by more than this share of its displacement."""

SMALL = 1e-4
"""Displacements below this share of the diameter are not worth a second look."""

CORRECTIONS = 2
"""How often a far point is followed."""


def probe(
    count: Evaluations, t: np.ndarray, x: np.ndarray, corners: np.ndarray, diameter: float
) -> tuple[Cloud, np.ndarray]:
    """The cloud seen from x = b(t), and the distance of each x from the set (the diameter where it cannot be told)."""
    cloud, distance, valid, rough = _look(count, t, x, corners, diameter)
    parts, rows = [], np.flatnonzero(valid)
    for _ in range(CORRECTIONS):
        again = np.flatnonzero(rough)
        if len(again) == 0 or len(again) > count.left:
            break
        parts.append(cloud.take(np.flatnonzero(~rough)))
        rows = rows[again]
        cloud, _, valid, rough = _look(count, t[rows], cloud.points[again], corners, diameter)
        rows = rows[valid]
    for part in parts:
        cloud = part.join(cloud)
    return cloud, distance


def _look(count: Evaluations, t: np.ndarray, x: np.ndarray, corners: np.ndarray, diameter: float) -> tuple:
    """The cloud from x, the distances, where they are valid, and which points of the cloud are too rough to be left so."""
    lin = count.linearize(count.at(x), t > 0)
    valid, length = np.asarray(lin.valid), np.linalg.norm(lin.displacement, axis=1)
    cloud = observe(t, x, lin, corners, diameter)
    rough = cloud.miss > FAR * np.maximum(length[valid], SMALL * diameter)
    return cloud, np.minimum(np.where(valid, length, diameter), diameter), valid, rough
