"""Looking at a surface: its distances to the set at given t, and the points of the set that are
learned on the way."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from ..objectives import Derivatives
from .chord import ROUNDING, settle_chords, settle_own
from .cloud import Cloud, empty_cloud, observe
from .displacement import CRITICAL, Linearization
from .survey import AbstractSurvey, Survey

RECALL_MISS = 0.1
"""A point that is called back counts as known to this share of its distance: such points are
rough."""


class Probe(NamedTuple):
    """What looking at a surface gives.

    Attributes:
        cloud: Points of the set.
        distance: Of each x from the set, the diameter where the linearization is not valid.
        recall: Where the surface reaches beyond the boundary of the set: points inside to which
            those t should go. They hold for this surface alone, and their t are fixed (they belong
            to no face).
    """

    cloud: Cloud
    distance: Float[np.ndarray, " n"]
    recall: Cloud


class _Look(NamedTuple):
    """One look at x = b(t): derivatives and linearizations there, the cloud, and which of its
    points are worth another look."""

    derivatives: Derivatives
    linearization: Linearization
    cloud: Cloud
    follow: Bool[np.ndarray, " n_cloud"]


def probe(
    survey: AbstractSurvey,
    t: Float[np.ndarray, "n n_objectives"],
    x: Float[np.ndarray, "n n_variables"],
    tangents: Float[np.ndarray, "n n_variables n_tangents"] | None = None,
) -> Probe:
    """The surface looked at in x = b(t); points far from the set are followed to it before they
    join the cloud.

    With `tangents`, those of a surface near the set, Hessians are computed only where borrowed ones
    are not good enough.
    """
    if tangents is not None and isinstance(survey, Survey):
        first, tangents = _look_along_chords(survey, t, x, tangents), None
    else:
        first = _look(survey, t, x, tangents)
    distance, recall = _beyond(survey, first, t)
    return Probe(_followed(survey, first, t, tangents), distance, recall)


def _followed(
    survey: AbstractSurvey, look: _Look, t: np.ndarray, tangents: np.ndarray | None
) -> Cloud:
    """The cloud with points that may miss the set by much looked at again where they were thought
    to be."""
    settled, rows = [], np.flatnonzero(look.linearization.valid)
    for _ in range(survey.schedule.look.corrections):
        if not look.follow.any() or look.follow.sum() > survey.left:
            break
        settled.append(look.cloud.take(~look.follow))
        rows = rows[look.follow]
        along = None if tangents is None else tangents[rows]
        look = _look(survey, t[rows], look.cloud.points[look.follow], along, follow=True)
        rows = rows[np.asarray(look.linearization.valid)]
    cloud = look.cloud
    for part in settled:
        cloud = part.join(cloud)
    return cloud


def _look(
    survey: AbstractSurvey,
    t: np.ndarray,
    x: np.ndarray,
    tangents: np.ndarray | None,
    follow: bool = False,
) -> _Look:
    """With curvature of its own at every x. Points that may miss the set by much of their
    displacement are to be followed."""
    see = survey.follow if follow else survey.see
    derivatives, linearization, miss = see(x, t > 0, tangents)
    if isinstance(survey, Survey) and survey.measures:
        linearization, miss = settle_own(survey, derivatives, linearization, t > 0)
    cloud = observe(survey, t, x, linearization, miss)
    length = np.linalg.norm(linearization.displacement[linearization.valid], axis=1)
    return _Look(derivatives, linearization, cloud, _misses_much(survey, cloud, length))


def _look_along_chords(survey: Survey, t: np.ndarray, x: np.ndarray, tangents: np.ndarray) -> _Look:
    """Mostly with gradients alone. Points whose chord leaves too much are to be followed.

    The tangents in the cloud are those of the surface: near the set they are better than a borrowed
    Hessian's.
    """
    derivatives = survey.look_by_gradients(x)
    linearization = survey.linearize(derivatives, t > 0)
    derivatives, linearization, miss = settle_chords(survey, derivatives, linearization, t > 0)
    linearization = linearization._replace(tangents=tangents)
    cloud = observe(survey, t, x, linearization, miss)
    length = np.linalg.norm(linearization.displacement[linearization.valid], axis=1)
    return _Look(derivatives, linearization, cloud, _misses_much(survey, cloud, length))


def _misses_much(
    survey: AbstractSurvey, cloud: Cloud, length: np.ndarray
) -> Bool[np.ndarray, " n_cloud"]:
    """Which points may miss the set by a large share of their displacement."""
    return (cloud.miss > survey.schedule.look.follow * length) & (
        length > ROUNDING * survey.diameter
    )


def _beyond(
    survey: AbstractSurvey, look: _Look, t: np.ndarray
) -> tuple[Float[np.ndarray, " n"], Cloud]:
    """The distances of all points, and where to call those back that lie beyond the boundary of the
    set.

    The set goes on past its boundary as a set of critical points with a negative multiplier. To
    learn its shape, that part is as good as any, but a surface that reaches there is wrong, and
    only the displacement with support rows sees it.
    """
    derivatives, linearization, _, _ = look
    faces, valid, numbers = t > 0, np.asarray(linearization.valid), survey.schedule.look
    distance = np.where(valid, np.linalg.norm(linearization.displacement, axis=1), survey.diameter)
    unused = np.asarray(linearization.multipliers) == 0
    beyond = (
        valid & np.any(unused & faces, axis=1) & (np.asarray(linearization.residual) > CRITICAL)
    )
    if not beyond.any():
        return distance, empty_cloud(t.shape[1], *np.shape(linearization.tangents)[1:])
    there, seen_from = derivatives.take(beyond), t[beyond]
    inward = survey.see_beyond(there, faces[beyond])
    length = np.linalg.norm(inward.displacement, axis=1)
    distance[beyond] = np.where(inward.valid, length, survey.diameter)
    # Only where a surface is near the set but for this: a farther one first has to come nearer.
    farther = length > numbers.recall_excess * distance[~beyond].max(initial=0.0)
    due = (
        np.asarray(inward.valid)
        & farther
        & (length < survey.schedule.rounds.near * survey.diameter)
    )
    points = there.points + numbers.recall_inward * np.asarray(inward.displacement)
    recall = Cloud(
        seen_from,
        np.zeros_like(faces[beyond]),
        points,
        np.asarray(inward.tangents),
        RECALL_MISS * length,
    )
    return distance, recall.take(due)
