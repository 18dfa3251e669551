"""Inverse maps: where on the simplex a given design, or a given vector of objective values, lies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..flow import Solution
from ..precision import double_precision
from ..simplex import nearest
from .choice import Certainty
from .front_map import FrontMap
from .view import View, view_of
from .wishes import numbers


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
    size = np.array(max(solution.error.diameter, np.finfo(float).tiny))
    return _nearest(view, view.surface, flat, size)


def locate_front(solution: Solution, f: Mapping[str | int, float] | Sequence[float]) -> Location:
    """The nearest point of the front to objective values f, each measured in units of its range over the front."""
    view = view_of(solution)
    return _nearest(view, view.terrain.front, numbers(solution, f, "f"), view.scale)


def _nearest(view: View, surface: FrontMap, target: np.ndarray, units: np.ndarray) -> Location:
    """The nearest point of a surface to a target, with values measured in given units, and distances too if they are one."""
    surface, target = surface.in_units(units), target / units
    found = nearest(surface, target[None], view.solution.n_objectives)
    (t,), (image,), (slopes,) = found.t, *surface.slopes(found.t)
    gradient = slopes @ (image - target)
    # With the multipliers ∇ − min ∇ ≥ 0 of t ≥ 0 this is all that is left of the first-order conditions.
    residual = float((t * (gradient - gradient.min())).max())
    x, f = view.point(t)
    return Location(
        t=t,
        x=x,
        f=f,
        distance=float(found.distances[0]) * (1.0 if units.ndim else float(units)),
        certainty=Certainty.of(view.solution, int(found.n_starts[0]), int(found.n_agreed[0]), residual),
    )
