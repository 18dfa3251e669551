"""Keeping a part of the front and going on from there: by bounds on objectives, or by a smaller
simplex."""

from dataclasses import dataclass, field, replace

import numpy as np

from ..answer import FittedFront, Solution
from ..bezier import BezierSimplex
from ..simplex import check_on_simplex
from .view import AnyView, view_of
from .wishes import Bounds, bounds_array, turned_bounds


@dataclass(frozen=True, eq=False)
class Region:
    """A solution with bounds on its objectives: every question that takes a solution takes a region
    too. Made by `keep`.

    The surface stays whole and exact. A question to a region is answered with the bounds as
    constraints, so the answer is right up to the very edge of the region, however it cuts through
    the simplex.

    Attributes:
        solution: the solution.
        bounds: lowest and highest value of each objective, (M, 2), infinite where nothing was said.
    """

    solution: Solution = field(repr=False)
    bounds: np.ndarray

    def contains(self, t: np.ndarray) -> np.ndarray:
        """Whether the objectives at each t obey the bounds."""
        f = np.asarray(self.solution.front(np.asarray(t, dtype=float)))
        return np.asarray(((f >= self.bounds[:, 0]) & (f <= self.bounds[:, 1])).all(axis=-1))


def opened(
    asked: Solution | Region, subject_to: Bounds | None = None
) -> tuple[AnyView, np.ndarray]:
    """The view of what is asked, and all bounds that hold on the minimized objectives: a region's
    and this question's. (M, 2).

    Where the two exclude each other, the later wish stands and the answer says what had to give.
    """
    view, bounds = _wished(asked, subject_to)
    return view, turned_bounds(bounds, view.solution.names.signs)


def _wished(asked: Solution | Region, subject_to: Bounds | None) -> tuple[AnyView, np.ndarray]:
    """The view, and the bounds with the user's signs."""
    solution = asked.solution if isinstance(asked, Region) else asked
    view, bounds = (
        view_of(solution),
        bounds_array(solution, {} if subject_to is None else subject_to),
    )
    if isinstance(asked, Region):
        low, high = (
            np.maximum(asked.bounds[:, 0], bounds[:, 0]),
            np.minimum(asked.bounds[:, 1], bounds[:, 1]),
        )
        bounds = np.where((low > high)[:, None], bounds, np.stack([low, high], axis=1))
    return view, bounds


def keep(solution: Solution | Region, subject_to: Bounds) -> Region:
    """The region of the front where objectives obey bounds; every question takes it in place of a
    solution.

    Keeping again narrows a region further: `keep(keep(solution, {"cost": (None, 3)}), {"weight":
    (None, 5)})`.
    """
    view, bounds = _wished(solution, subject_to)
    return Region(view.solution, bounds)


def zoom(solution: Solution, vertices: np.ndarray) -> Solution:
    """The solution over a sub-simplex, given by its M corners as rows: the same designs, with t
    stretched over the part.

    Both surfaces are subdivided exactly (de Casteljau), so pictures, files and the explorer show
    that part alone. The error estimate and the fitted front's error are those of the whole surface.
    A corner of the part is no minimizer of an objective any more.
    """
    vertices, surface = np.asarray(vertices, dtype=float), solution.pareto_set
    n_objectives = solution.n_objectives
    if not isinstance(surface, BezierSimplex):
        raise TypeError(
            "zoom takes a part of one simplex, and this Pareto set is an atlas. keep(solution,"
            " subject_to) takes a part for questions; for a finer atlas of the part where f_m <="
            " high, minimize with constraints=[lambda x: f(x)[m] - high]: its set is that part"
        )
    if vertices.shape != (n_objectives, n_objectives):
        raise ValueError(
            f"vertices must be {n_objectives} points of the simplex, one a row, got shape"
            f" {vertices.shape}"
        )
    check_on_simplex(vertices, n_objectives, "vertices")
    if abs(np.linalg.det(vertices)) < 1e-12:
        raise ValueError(
            "vertices must span a simplex, got points that lie in a common face or plane"
        )
    front = solution.fitted_front
    return replace(
        solution,
        pareto_set=surface.subdivide(vertices),
        known_error=solution.error,
        known_front=FittedFront(front.surface.subdivide(vertices), front.rms, front.max),
        history={},
        origin=None,
        made_by={**solution.made_by, "zoom": vertices.tolist()},
    )
