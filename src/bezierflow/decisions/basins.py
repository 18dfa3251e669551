"""Which starting points share a basin, and whether the bottom of one is a single point."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from .front_map import AbstractFrontMap
from .minimax import FEASIBLE, End, Programs
from .questions import Questions
from .steps import system

CLOSE = 1e-5
"""A residual up to which an end is close enough to a local solution to tell its Lagrangian, and a goal without bounds."""

GOOD = 1e-8
"""With a larger residual an end is not known well enough to tell how the Lagrangian bends there."""

WAY = np.linspace(0, 1, 6)[1:-1] ** 2
"""Places on the straight way from a search to an end at which it is looked whether that leads downhill; closer at first, where
a basin of its own would show."""

BENT = 1e-2
"""Where the Lagrangian bends upward by more than this along all that binds, no other point nearby is as good."""


class Starts(NamedTuple):
    """Where searches may start.

    Attributes:
        which: the number of the question that each start is for.
        where: its position in the grid; -1 if it is none of the grid's points.
        t: where it is on the simplex.
        values: those of the front there.
    """

    which: Int[np.ndarray, " n"]
    where: Int[np.ndarray, " n"]
    t: Float[np.ndarray, "n n_objectives"]
    values: Float[np.ndarray, "n n_values"]


def leads_to(
    front: AbstractFrontMap,
    programs: Programs,
    starts: Starts,
    ends: Sequence[End],
    tol: float,
    near: float,
) -> Bool[np.ndarray, " n"]:
    """From which starts it goes straight downhill to an end of the question, or which are near it: no basins of their own.

    Downhill for the Lagrangian at the end, λᵀ(A f − c) + νᵀ(B f − d), that is. It is nowhere larger than the goal where bounds
    are kept, and valleys that wind along a bound do not trouble it. For two objectives the straight way is the only one, and
    downhill for the goal is enough, with bounds that cost twice what they are worth at the end.

    Args:
        front: the front.
        programs: the questions.
        starts: the places.
        ends: one for each place.
        tol: the residual with which the searches arrived there.
        near: how far apart two basins are at least, for all that a grid can tell.
    """
    slack = max(FEASIBLE, tol)
    good = np.array([end.violation <= slack and end.residual <= CLOSE for end in ends])
    duals, way = np.stack([end.dual for end in ends]), np.stack([end.t for end in ends]) - starts.t
    places = starts.t[:, None] + WAY[:, None] * way[:, None]
    values = front.values(places.reshape(-1, way.shape[1])).reshape(len(way), len(WAY), -1)
    values = np.concatenate([starts.values[:, None], values], axis=1)
    goals = np.array([end.goal for end in ends])  # what Lagrangian and goal both are at the end of the way
    leads = _falls(programs.lagrangians(starts.which, duals, values), goals, slack) | (np.abs(way).max(axis=1) <= near)
    if way.shape[1] == 2:
        leads |= _falls(_merit(programs, starts.which, duals, values), goals, slack)
    return good & leads


def _merit(programs: Programs, which: np.ndarray, duals: np.ndarray, values: np.ndarray) -> Float[np.ndarray, "n n_places"]:
    """The goal, and bounds that cost twice what they are worth."""
    (rows, limits), n_goals = programs.rows(which), programs.c.shape[1]
    levels = values @ np.swapaxes(rows, 1, 2) - limits[:, None]
    price = 2 * duals[:, n_goals : programs.n_rows].sum(axis=1, keepdims=True)
    return levels[..., :n_goals].max(axis=2) + price * levels[..., n_goals:].max(axis=2, initial=0.0)


def _falls(heights: Float[np.ndarray, "n n_places"], last: Float[np.ndarray, " n"], slack: float) -> Bool[np.ndarray, " n"]:
    """Where heights get less and less, down to the last one."""
    downward = (heights[:, 1:] <= heights[:, :-1] + slack).all(axis=1)
    return np.asarray(downward & (last <= heights[:, -1] + slack))


def is_strict(front: AbstractFrontMap, programs: Programs, number: int, end: End) -> bool:
    """Whether no other point near an end is as good: the Lagrangian bends upward along all that binds there."""
    if end.residual > GOOD:
        return False
    place = Questions(front, programs, np.array([number]), len(end.t)).look(end.t[None], end.dual[None])
    matrix = system(place, place.duals > 0)
    # as many negative eigenvalues as constraints: the others are those of the Lagrangian along what binds
    return bool(np.linalg.eigvalsh(matrix)[0, len(end.dual)] > BENT)
