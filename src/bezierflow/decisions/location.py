"""Inverse maps: where on the simplex a given design, or a given vector of objective values,
lies."""

from dataclasses import dataclass, field

import jax
import numpy as np
from jaxtyping import PyTree

from ..answer import Lowest, Solution, nearest_design, nearest_values
from ..arguments import read_doubles, shown
from ..names import encode
from ..precision import double_precision
from ..quiet import quiet
from ..simplex import nearest
from .choice import Certainty
from .front_map import FrontMap
from .view import AnyView, AtlasView, View, view_of
from .wishes import Numbers, numbers


@dataclass(frozen=True)
class Location:
    """Where something lies on the surface, and how far from it.

    Attributes:
        t: the nearest point of the simplex.
        x: the design there.
        f: its objective values.
        distance: from what was given to that point; for `locate` in units of x, for `locate_front`
            in units of each range.
        certainty: how sure that is.
    """

    t: np.ndarray
    x: PyTree
    f: np.ndarray
    distance: float
    certainty: Certainty = field(repr=False)


@quiet()
def locate(solution: Solution, x: PyTree) -> Location:
    """The nearest point of the surface to a design x: t = argmin ‖b(t) − x‖, over all leaves of x.

    A variable that the solver saw by its logarithm counts by that.
    """
    view = view_of(solution)
    x = jax.tree.map(lambda leaf: read_doubles(leaf, "x", "one design, shaped like x0"), x)
    with double_precision():
        flat = (
            encode(np.asarray(solution.raveling.ravel(x), dtype=float), solution.names.transforms)
            if x is not None
            else np.zeros(0)
        )
    if flat.shape != (solution.raveling.n_variables,) or not np.isfinite(flat).all():
        raise ValueError(
            f"x must be one finite design of {solution.raveling.n_variables} variables, got"
            f" {shown(x)}"
        )
    if isinstance(view, AtlasView):
        found = nearest_design(view.atlas, flat)
        return _on_atlas(view, found, float(np.linalg.norm(view.atlas.flat(found.a) - flat)))
    return _nearest(view, view.surface, flat, max(solution.error.diameter, np.finfo(float).tiny))


@quiet()
def locate_front(solution: Solution, f: Numbers) -> Location:
    """The nearest point of the front to objective values f, each measured in units of its range
    over the front."""
    view = view_of(solution)
    if isinstance(view, AtlasView):
        target = solution.names.signs * numbers(solution, f, "f")
        found = nearest_values(view.atlas, target)
        return _on_atlas(
            view, found, float(np.linalg.norm((view.atlas.front(found.a) - target) / view.scale))
        )
    target = solution.names.signs * numbers(solution, f, "f")
    return _nearest(
        view, (view.stand_in or view.front).in_units(view.scale), target / view.scale, 1.0
    )


def _on_atlas(view: AtlasView, found: Lowest, distance: float) -> Location:
    certainty = Certainty.of(view.solution, found.starts, found.agreed, float("nan"))
    return _location(view, found.a, distance, certainty)


def _nearest(view: View, surface: FrontMap, target: np.ndarray, size: float) -> Location:
    """The nearest point to a target on a surface of a given size."""
    found = nearest(surface, target[None], view.solution.n_objectives)
    (t,), (image,), (slopes,) = found.t, *surface.slopes(found.t)
    gradient = slopes @ (image - target) / size**2
    # With the multipliers ∇ − min ∇ ≥ 0 of t ≥ 0 this is all that is left of the first-order
    # conditions.
    residual = float((t * (gradient - gradient.min())).max())
    certainty = Certainty.of(
        view.solution, int(found.n_starts[0]), int(found.n_agreed[0]), residual
    )
    return _location(view, t, float(found.distances[0]), certainty)


def _location(view: AnyView, t: np.ndarray, distance: float, certainty: Certainty) -> Location:
    x, f = view.point(t)
    return Location(t, x, view.solution.names.signs * f, distance, certainty)
