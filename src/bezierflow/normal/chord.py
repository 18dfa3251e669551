"""Chords: to the set by gradients alone, with Hessians borrowed from points nearby.

With a Hessian that is a little off, the displacement y₁ at x leaves a share q of the distance. A
second one, from x + y₁ with the same Hessian, measures that share, q = |y₂|/|y₁|, and x + y₁ + y₂
misses the set by about q|y₂|. So two Jacobians replace a Jacobian and a Hessian, for 2M gradients
instead of (L + 1)M, and measure their own error.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from ..objectives import Derivatives, replace_rows
from .cloud import assumed_miss
from .displacement import Linearization
from .survey import Survey

ROUNDING = 1e-12
"""Second steps below this share of the diameter are rounding, and their ratio to the first means
nothing."""


class Chord(NamedTuple):
    """Two steps towards the set: their sum, by how much that may miss the set, and whether it is
    accepted.

    `remaining` is the length of the second step, by which the first one missed the set; infinite
    where it is not valid.
    """

    displacement: Float[np.ndarray, "n n_variables"]
    miss: Float[np.ndarray, " n"]
    accepted: Bool[np.ndarray, " n"]
    remaining: Float[np.ndarray, " n"]


def follow_chord(
    survey: Survey,
    start: Derivatives,
    first: Linearization,
    faces: Bool[np.ndarray, "n n_objectives"],
    support: bool = False,
) -> Chord:
    """The chord whose first step is the linearization at `start` with borrowed Hessians."""
    step = np.asarray(first.displacement)
    there = replace(survey.evaluator.jacobians(start.points + step), hessians=start.hessians)
    second = survey.linearize(there, faces, support)
    onward = np.asarray(second.displacement)
    length, remaining = np.linalg.norm(step, axis=1), np.linalg.norm(onward, axis=1)
    share = remaining / np.maximum(length, 1e-300)
    rounding = remaining <= ROUNDING * survey.diameter
    accepted = (
        np.asarray(first.valid)
        & np.asarray(second.valid)
        & ((share <= survey.schedule.look.slowest_chord) | rounding)
    )
    miss = np.where(rounding, remaining, np.minimum(share, 1.0) * remaining)
    return Chord(step + onward, miss, accepted, np.where(second.valid, remaining, np.inf))


def settle_own(
    survey: Survey,
    start: Derivatives,
    first: Linearization,
    faces: Bool[np.ndarray, "n n_objectives"],
    support: bool = False,
) -> tuple[Linearization, Float[np.ndarray, " n"]]:
    """Linearizations with Hessians computed at `start`, and by how much each may miss the set.

    The usual assumption is checked where it would be believed: by the chord's second step, whose
    length |y₂| is what x + y₁ misses the set by. Where that is more than was assumed, the chord is
    taken as it is; where the chord is rejected, x + y₁ is kept with a miss of |y₂|. Elsewhere the
    miss is not a number: it follows from the displacement as usual.
    """
    length = np.linalg.norm(first.displacement, axis=1)
    assumed = assumed_miss(survey, start.points, length)
    believed = np.asarray(first.valid) & (assumed <= survey.schedule.look.follow * length)
    rows = np.flatnonzero(believed & (length > ROUNDING * survey.diameter))
    miss = np.full(len(length), np.nan)
    if not len(rows):
        return first, miss
    chord = follow_chord(survey, start.take(rows), first.take(rows), faces[rows], support)
    refuted = chord.remaining > assumed[rows]
    taken = rows[refuted & chord.accepted]
    settled = first._replace(
        displacement=replace_rows(
            np.asarray(first.displacement), taken, chord.displacement[refuted & chord.accepted]
        )
    )
    left = np.where(chord.accepted, chord.miss, chord.remaining)
    return settled, replace_rows(miss, rows, np.where(refuted, left, np.nan))


def settle_chords(
    survey: Survey,
    start: Derivatives,
    first: Linearization,
    faces: Bool[np.ndarray, "n n_objectives"],
    support: bool = False,
) -> tuple[Derivatives, Linearization, Float[np.ndarray, " n"]]:
    """Linearizations with borrowed Hessians, followed along their chords; where a chord is rejected
    a Hessian is computed.

    Returns the derivatives, with computed Hessians where they were needed; the linearizations with
    the chords as displacements; and by how much each may miss the set, not a number where that
    follows from the displacement as usual.
    """
    chord = follow_chord(survey, start, first, faces, support)
    settled = Linearization(*[np.array(part) for part in first])._replace(
        displacement=chord.displacement
    )
    miss, rejected = chord.miss, np.flatnonzero(~chord.accepted)
    if len(rejected):
        own = survey.look(start.points[rejected])
        assert start.hessians is not None
        assert own.hessians is not None
        start = replace(start, hessians=replace_rows(start.hessians, rejected, own.hessians))
        again, left = (
            survey.linearize(own, faces[rejected], support),
            np.full(len(rejected), np.nan),
        )
        if survey.measures:
            again, left = settle_own(survey, own, again, faces[rejected], support)
        settled = Linearization(
            *[
                replace_rows(np.asarray(old), rejected, np.asarray(new))
                for old, new in zip(settled, again, strict=True)
            ]
        )
        miss = replace_rows(miss, rejected, left)
    return start, settled, miss
