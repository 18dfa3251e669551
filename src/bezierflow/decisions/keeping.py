"""Keeping a part of the surface and going on from there: by bounds on objectives, or by a smaller simplex."""

from dataclasses import replace

import numpy as np

from ..flow import Solution
from ..flow.front import FittedFront
from ..simplex import check_on_simplex
from .region import Region
from .view import view_of
from .wishes import Bounds, bounds_array, meet


def keep(solution: Solution | Region, subject_to: Bounds) -> Region:
    """The region of the front where objectives obey bounds; every question takes it in place of a solution.

    Keeping again narrows a region further: `keep(keep(solution, {"cost": (None, 3)}), {"weight": (None, 5)})`.
    """
    whole = solution.solution if isinstance(solution, Region) else solution
    view_of(whole)
    bounds = bounds_array(whole, subject_to)
    return Region(whole, meet(solution.bounds, bounds) if isinstance(solution, Region) else bounds)


def zoom(solution: Solution, vertices: np.ndarray) -> Solution:
    """The solution over a sub-simplex, given by its M corners as rows: the same designs, with t stretched over the part.

    Both surfaces are subdivided exactly (de Casteljau), so pictures, files and the explorer show that part alone. What was
    measured of the whole surface, its error estimate and the fitted front's error, is kept: a bound for every part of it.
    A corner of the part is no minimizer of an objective any more.
    """
    vertices = np.asarray(vertices, dtype=float)
    n_objectives = solution.n_objectives
    if vertices.shape != (n_objectives, n_objectives):
        raise ValueError(f"vertices must be {n_objectives} points of the simplex, one a row, got shape {vertices.shape}")
    check_on_simplex(vertices, n_objectives, "vertices")
    if abs(np.linalg.det(vertices)) < 1e-12:
        raise ValueError("vertices must span a simplex, got points that lie in a common face or plane")
    front = solution.fitted_front
    return replace(
        solution,
        pareto_set=solution.pareto_set.subdivide(vertices),
        known_error=solution.error,
        known_front=FittedFront(front.surface.subdivide(vertices), front.rms, front.max),
        history={},
        origin=None,
        made_by={**solution.made_by, "zoom": vertices.tolist()},
    )
