"""Inverse maps: where on the simplex a given design, or a given vector of objective values, lies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..flow import Solution
from ..precision import double_precision
from .choice import Certainty
from .front_map import AbstractFrontMap, ScaledMap, SquaredDistance
from .program import Program
from .search import Terrain, search
from .view import View, view_of
from .wishes import numbers

FTOL = 1e-22
"""SLSQP stops when the goal changes by less: it is the square of what is asked for, in units of the surface's size."""


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
    return _nearest(view, surface, flat / size, size)


def locate_front(solution: Solution, f: Mapping[str | int, float] | Sequence[float]) -> Location:
    """The nearest point of the front to objective values f, each measured in units of its range over the front."""
    view = view_of(solution)
    target = (numbers(solution, f, "f") - view.origin) / view.scale
    return _nearest(view, view.terrain.front, target, 1.0)


def _nearest(view: View, surface: AbstractFrontMap, target: np.ndarray, unit: float) -> Location:
    """The nearest point on a surface, by the program with the squared distance as its one goal."""
    distance = SquaredDistance(surface, target)
    terrain = Terrain(distance, view.domain, distance.values(view.grid_t))
    found = search(terrain, Program(np.ones((1, 1)), np.zeros(1), np.zeros((0, 1)), np.zeros(0)))
    (x,), (f,) = view.designs_and_values(found.t[None])
    return Location(
        t=found.t,
        x=view.unravel(x),
        f=f,
        distance=float(np.sqrt(2 * found.goal) * unit),
        certainty=Certainty.of(view.solution, found.starts, found.agreed, found.residual),
    )
