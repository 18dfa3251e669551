"""Which starting points share a basin, and whether the bottom of one is a single point."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from .front_map import AbstractFrontMap
from .minimax import FEASIBLE, End, Programs
from .questions import Questions
from .steps import system

CLOSE = 1e-6
"""A residual up to which an end is close enough to a local solution to tell its Lagrangian, and a goal without bounds."""

GOOD = 1e-8
"""Its end counts as one with a residual up to this."""

WAY = np.linspace(0, 1, 9)
"""Places on the straight way from a search to an end at which it is looked whether that leads downhill."""

BENT = 1e-2
"""Where the Lagrangian bends upward by more than this along all that binds, no other point nearby is as good."""


def leads_to(
    front: AbstractFrontMap,
    programs: Programs,
    which: Int[np.ndarray, " n"],
    t: Float[np.ndarray, "n n_objectives"],
    ends: Sequence[End],
) -> Bool[np.ndarray, " n"]:
    """From which t it goes straight downhill to an end of the question, in terms of the Lagrangian at that end.

    The Lagrangian λᵀ(A f − c) + νᵀ(B f − d) is nowhere larger than the goal where bounds are kept. So a place from which it leads
    down to an end is no basin of its own, even where the goal itself rises on the way, or bounds are broken.
    """
    if not len(t):
        return np.zeros(0, dtype=bool)
    counts = np.stack([programs.one(number).weights(end.dual) for number, end in zip(which, ends, strict=True)])
    ways = t[:, None] + WAY[:, None] * (np.stack([end.t for end in ends]) - t)[:, None]
    values = front.values(ways.reshape(-1, t.shape[1])).reshape(len(t), len(WAY), -1)
    lagrangian = (values @ counts[..., None])[..., 0]
    good = np.array([end.violation <= FEASIBLE and end.residual <= CLOSE for end in ends])
    return good & (lagrangian[:, 1:] <= lagrangian[:, :-1] + FEASIBLE).all(axis=1)


def is_strict(front: AbstractFrontMap, programs: Programs, number: int, end: End) -> bool:
    """Whether no other point near an end is as good: the Lagrangian bends upward along all that binds there."""
    if end.residual > GOOD:
        return False
    place = Questions(front, programs, np.array([number]), len(end.t)).look(end.t[None], end.dual[None])
    matrix, _ = system(place, place.duals > 0)
    # as many negative eigenvalues as constraints: the others are those of the Lagrangian along what binds
    return bool(np.linalg.eigvalsh(matrix)[0, len(end.dual)] > BENT)
