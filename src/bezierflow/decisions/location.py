"""Inverse maps: where on the simplex a given design, or a given vector of objective values, lies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..flow import Solution
from ..precision import double_precision
from .choice import Certainty
from .front_map import AbstractFrontMap, ScaledMap, SquaredDistance
from .minimax import Programs
from .searching import search
from .terrain import Terrain
from .view import View, view_of
from .wishes import numbers

FINE = 1e-10
"""The residual with which a search has arrived here: the goal is the square of what is asked for."""


@dataclass(frozen=True)
class Location:
    """Where something lies on the surface, and how far from it.

    Attributes:
        t: the nearest point of the simplex.
        x: the design there.
        f: its objective values.
        distance: from what was given to that point; for `locate` in units of x, for `locate_front` in units of each range.
        certainty: how sure that is.
    """

    t: np.ndarray
    x: Any
    f: np.ndarray
    distance: float
    certainty: Certainty = field(repr=False)


def locate(solution: Solution, x: Any) -> Location:
    """The nearest point of the surface to a design x: t = argmin ‖b(t) − x‖, over all leaves of x."""
    view = view_of(solution)
    with double_precision():
        flat = np.asarray(solution.raveling.ravel(x), dtype=float)
    if flat.shape != (solution.raveling.n_variables,) or not np.isfinite(flat).all():
        raise ValueError(f"x must be one finite design of {solution.raveling.n_variables} variables, got {x!r}")
    size = max(solution.error.diameter, np.finfo(float).tiny)
    surface = ScaledMap(view.surface, np.zeros(len(flat)), np.full(len(flat), size))
    return _nearest(view, surface, surface, flat / size, view.grid_x / size, size)


def locate_front(solution: Solution, f: Mapping[str | int, float] | Sequence[float]) -> Location:
    """The nearest point of the front to objective values f, each measured in units of its range over the front."""
    view = view_of(solution)
    target = (numbers(solution, f, "f") - view.origin) / view.scale
    return _nearest(view, view.terrain.guide, view.terrain.true, target, view.grid_scaled, 1.0)


def _nearest(
    view: View, guide: AbstractFrontMap, true: AbstractFrontMap, target: np.ndarray, on_grid: np.ndarray, unit: float
) -> Location:
    """The nearest point on the true map, searched for on a guide that is close to it."""
    squared = ((on_grid - target) ** 2).sum(axis=1, keepdims=True) / 2
    away = SquaredDistance(true, target)
    toward = away if guide is true else SquaredDistance(guide, target)
    question = Programs(np.ones((1, 1, 1)), np.zeros((1, 1)), np.zeros((0, 1)), np.zeros(0))
    found = search(Terrain(away, toward, view.grid_t, squared, view.grid_neighbors), question, tol=FINE)[0]
    (x,), (f,) = view.designs_and_values(found.end.t[None])
    return Location(
        t=found.end.t,
        x=view.unravel(x),
        f=f,
        distance=float(np.sqrt(2 * found.end.goal) * unit),
        certainty=Certainty.of(view.solution, found.starts, found.agreed, found.end.residual),
    )
