"""Chords: the way to the set by gradients alone, with Hessians borrowed from points nearby.

With a Hessian that is a little off, the displacement y₁ at x leaves a share q of the way. A second one, from x + y₁ with the same
Hessian, measures that share, q = |y₂|/|y₁|, and x + y₁ + y₂ misses the set by about q|y₂|. So two Jacobians do the work of a
Jacobian and a Hessian, for 2M gradients instead of (L + 1)M, and say themselves how well they did it.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .derivatives import Derivatives, put_rows
from .displacement import Linearization
from .evaluator import Evaluator

SLOWEST = 0.5
"""A chord that leaves more than this share of the way in its first step is not believed."""

ROUNDING = 1e-12
"""Steps below this share of the diameter are rounding, and a share of them says nothing."""


class Chord(NamedTuple):
    """Two steps towards the set: their sum, by how much that may miss the set, and whether it can be believed."""

    way: np.ndarray
    miss: np.ndarray
    believed: np.ndarray


def follow_chord(
    count: Evaluator, at: Derivatives, lin: Linearization, faces: np.ndarray, diameter: float, support: bool = False
) -> Chord:
    """The second step from where `lin`, the linearization at x with borrowed Hessians, leads to."""
    first = np.asarray(lin.displacement)
    there = replace(count.at(at.points + first, hessians=False), hessians=at.hessians)
    onward = count.linearize(there, faces, support)
    second = np.asarray(onward.displacement)
    length, left = np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1)
    share = left / np.maximum(length, 1e-300)
    rounding = left <= ROUNDING * diameter
    believed = np.asarray(lin.valid) & np.asarray(onward.valid) & ((share <= SLOWEST) | rounding)
    miss = np.where(rounding, left, np.minimum(share, 1.0) * left)
    return Chord(first + second, miss, believed)


def settle_chords(
    count: Evaluator, at: Derivatives, lin: Linearization, faces: np.ndarray, diameter: float, support: bool = False
) -> tuple[Derivatives, Linearization, np.ndarray]:
    """Linearizations with borrowed Hessians, followed along their chords; those not to be believed are made anew.

    Returns the derivatives, now with own Hessians where they were needed; the linearizations with the whole ways as
    displacements; and by how much each may miss the set, not a number where that follows from the displacement as usual.
    """
    chord = follow_chord(count, at, lin, faces, diameter, support)
    lin = Linearization(*[np.array(part) for part in lin])._replace(displacement=chord.way)
    miss, doubtful = chord.miss, np.flatnonzero(~chord.believed)
    if len(doubtful):
        own = count.at(at.points[doubtful])
        assert at.hessians is not None
        at = replace(at, hessians=put_rows(at.hessians, doubtful, own.hessians))
        lin = Linearization(*map(put_rows, lin, [doubtful] * len(lin), count.linearize(own, faces[doubtful], support)))
        miss = put_rows(miss, doubtful, np.nan)
    return at, lin, miss
