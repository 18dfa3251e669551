"""Looking at a surface: its distances to the set at given t, and the points of the set that are learned on the way."""

from typing import NamedTuple

import numpy as np

from .chord import settle_chords
from .cloud import Cloud, empty_cloud, observe
from .derivatives import Derivatives
from .displacement import CRITICAL, Linearization
from .evaluator import Evaluator

FAR = 0.06
"""A point is followed towards the set before it joins the cloud if it may miss it by more than this share of its displacement."""

SMALL = 1e-4
"""Displacements below this share of the diameter are not worth a second look."""

WORTH = 0.1
"""Of points near the set, only those with at least this share of the largest displacement are worth a Hessian of their own."""

CORRECTIONS = 2
"""How often a far point is followed."""


NEAR = 0.01
"""Errors below this share of the diameter are good to a few percent, so that one can be compared with another."""

OVER = 2.0
"""Points beyond the boundary are called back where they are this many times farther from the set than all others."""

INWARD = 1.5
"""A point beyond the boundary of the set is called back by this many times its distance: to the boundary, and a little inside."""


class Probe(NamedTuple):
    """What a look at a surface gives.

    Attributes:
        cloud: Points of the set.
        distance: Of each x from the set, the diameter where it cannot be told.
        recall: Where the surface reaches beyond the boundary of the set: points inside to which those t should go. They hold for
            this surface alone, and their t are fixed (they belong to no face).
    """

    cloud: Cloud
    distance: np.ndarray
    recall: Cloud


def probe(
    count: Evaluator,
    t: np.ndarray,
    x: np.ndarray,
    corners: np.ndarray,
    diameter: float,
    tangents: np.ndarray | None = None,
) -> Probe:
    """The surface looked at in x = b(t); points far from the set are followed to it before they join the cloud.

    With `tangents`, those of a surface near the set, Hessians are computed only where borrowed ones do not serve.
    """
    if tangents is None:
        at, lin, cloud, rough = _look(count, t, x, corners, diameter)
    else:
        at, lin, cloud, rough = _look_along_chords(count, t, x, corners, diameter, tangents)
    distance, recall = _beyond(count, at, lin, t, diameter)
    parts, rows = [], np.flatnonzero(lin.valid)
    for _ in range(CORRECTIONS):
        again = np.flatnonzero(rough)
        if len(again) == 0 or len(again) > count.left:
            break
        parts.append(cloud.take(np.flatnonzero(~rough)))
        rows = rows[again]
        _, followed, cloud, rough = _look(count, t[rows], cloud.points[again], corners, diameter)
        rows = rows[followed.valid]
    for part in parts:
        cloud = part.join(cloud)
    return Probe(cloud, distance, recall)


def _look(count: Evaluator, t: np.ndarray, x: np.ndarray, corners: np.ndarray, diameter: float) -> tuple:
    """Derivatives and linearization at x, the cloud they give, and which of its points are too rough to be left so."""
    at = count.at(x)
    lin = count.linearize(at, t > 0)
    cloud = observe(t, x, lin, corners, diameter)
    length = np.linalg.norm(lin.displacement[lin.valid], axis=1)
    return at, lin, cloud, cloud.miss > FAR * np.maximum(length, SMALL * diameter)


def _look_along_chords(
    count: Evaluator, t: np.ndarray, x: np.ndarray, corners: np.ndarray, diameter: float, tangents: np.ndarray
) -> tuple:
    """The same mostly from gradients alone. Rough are points whose chord leaves too much, if they are among the far ones.

    The tangents in the cloud are those of the surface: near the set they are better than a borrowed Hessian's.
    """
    at = count.with_borrowed_hessians(x, corners)
    lin = count.linearize(at, t > 0)
    at, lin, miss = settle_chords(count, at, lin, t > 0, diameter)
    lin = lin._replace(tangents=tangents)
    cloud = observe(t, x, lin, corners, diameter, miss)
    length = np.linalg.norm(lin.displacement[lin.valid], axis=1)
    return at, lin, cloud, (cloud.miss > FAR * length) & (length > WORTH * length.max(initial=0.0))


def _beyond(count: Evaluator, at: Derivatives, lin: Linearization, t: np.ndarray, diameter: float) -> tuple[np.ndarray, Cloud]:
    """The distances, and where to call back what reaches beyond the boundary.

    The set goes on past its boundary as a set of critical points with a negative multiplier. To learn its shape, that part is as
    good as any, but a surface that reaches there is wrong, and only the displacement with support rows sees it.
    """
    faces = t > 0
    distance = np.where(lin.valid, np.linalg.norm(lin.displacement, axis=1), diameter)
    unused = np.asarray(lin.multipliers) == 0
    beyond = np.asarray(lin.valid) & np.any(unused & faces, axis=1) & (np.asarray(lin.residual) > CRITICAL)
    if not beyond.any():
        return np.minimum(distance, diameter), empty_cloud(count.n_objectives, count.n_variables)
    back = count.linearize(at.take(beyond), faces[beyond], support=True)
    length = np.linalg.norm(back.displacement, axis=1)
    distance[beyond] = np.where(back.valid, length, diameter)
    seen = observe(t[beyond], at.points[beyond], back, np.zeros((0, at.points.shape[1])), diameter)
    length = length[back.valid]
    points = seen.points + (INWARD - 1) * np.asarray(back.displacement)[back.valid]
    recall = Cloud(seen.t, np.zeros_like(seen.faces), points, seen.tangents, 0.1 * length)
    # Calling back is rough work, for surfaces that are near the set but for this; others first come nearer.
    due = (length > OVER * distance[~beyond].max(initial=0.0)) & (length < NEAR * diameter)
    return np.minimum(distance, diameter), recall.take(np.flatnonzero(due))
