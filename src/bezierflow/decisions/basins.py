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
"""With a larger residual an end is not known well enough to tell how the Lagrangian bends there."""

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
    """From which t it goes straight downhill to an end of the question: such a place is no basin of its own.

    Downhill for the Lagrangian at the end, λᵀ(A f − c) + νᵀ(B f − d), that is. It is nowhere larger than the goal where bounds
    are kept, and valleys that wind along a bound do not trouble it. For two objectives the straight way is the only one, and
    downhill for the goal is enough, with bounds that cost twice what they are worth at the end.
    """
    if not len(t):
        return np.zeros(0, dtype=bool)
    rows, limits = programs.rows(which)
    n_goals, n_rows = programs.c.shape[1], programs.n_rows
    duals = np.stack([end.dual[:n_rows] for end in ends])
    ways = t[:, None] + WAY[:, None] * (np.stack([end.t for end in ends]) - t)[:, None]
    values = front.values(ways.reshape(-1, t.shape[1])).reshape(len(t), len(WAY), -1)
    levels = values @ np.swapaxes(rows, 1, 2) - limits[:, None]
    lagrangian = (levels @ duals[..., None])[..., 0]
    good = np.array([end.violation <= FEASIBLE and end.residual <= CLOSE for end in ends])
    if t.shape[1] > 2:
        return good & _falls(lagrangian)
    price = 2 * duals[:, n_goals:].sum(axis=1, keepdims=True)
    merit = levels[..., :n_goals].max(axis=2) + price * levels[..., n_goals:].max(axis=2, initial=0.0)
    return good & (_falls(lagrangian) | _falls(merit))


def _falls(heights: Float[np.ndarray, "n n_places"]) -> Bool[np.ndarray, " n"]:
    return np.asarray((heights[:, 1:] <= heights[:, :-1] + FEASIBLE).all(axis=1))


def is_strict(front: AbstractFrontMap, programs: Programs, number: int, end: End) -> bool:
    """Whether no other point near an end is as good: the Lagrangian bends upward along all that binds there."""
    if end.residual > GOOD:
        return False
    place = Questions(front, programs, np.array([number]), len(end.t)).look(end.t[None], end.dual[None])
    matrix, _ = system(place, place.duals > 0)
    # as many negative eigenvalues as constraints: the others are those of the Lagrangian along what binds
    return bool(np.linalg.eigvalsh(matrix)[0, len(end.dual)] > BENT)
