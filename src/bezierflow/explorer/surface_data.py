"""What the page of one surface knows: both polynomials, ranges and errors."""

import numpy as np

from ..answer import Flag, Solution
from ..simplex import grid, largest_degree_within
from .page import encode, finite

LARGEST_ERROR_GRID = 120
"""At so many points at most the surface's error is measured for the page; between them it
interpolates."""


def surface_data(solution: Solution) -> dict[str, object]:
    """Both surfaces, the ranges of the objectives, and errors."""
    front, flat, signs = solution.fitted_front, solution.flat_surface, solution.names.signs
    # Fine enough to see each objective's range.
    resolution = {2: 400, 3: 60, 4: 20, 5: 10}.get(solution.n_objectives, 7)
    values = signs * np.asarray(front.surface(grid(solution.n_objectives, resolution)))
    error = solution.error
    return {
        "pareto_set": {"degree": solution.degree, "points": encode(flat.control_points)},
        "front": {
            "degree": front.surface.degree,
            "points": encode(front.surface.control_points),
            "max_error": encode(front.max),
        },
        # The best values with the user's signs: the largest of a maximized objective.
        "ideal": encode(signs * values.min(axis=0)),
        "nadir": encode(signs * values.max(axis=0)),
        "error": {
            "rms": finite(error.rms),
            "expected": finite(error.expected),
            "diameter": finite(error.diameter),
            "flags": [flag.value for flag in error.flags],
        },
        "local_error": _local_errors(solution),
    }


def surface_footer(solution: Solution) -> str:
    """Where the page's numbers come from."""
    front_degree = solution.fitted_front.surface.degree
    return (
        "Objective values come from a polynomial fitted to the front; the ± beside each is its"
        f" largest error at held-out points. Surface of degree {solution.degree}, front of degree"
        f" {front_degree}. Made by bezierflow."
    )


def _local_errors(solution: Solution) -> dict[str, object] | None:
    """The surface's error at a grid of t, where the objectives are at hand to measure it."""
    if solution.objectives is None or Flag.NOT_ESTIMATED in solution.error.flags:
        return None
    M = solution.n_objectives
    t = grid(M, min(largest_degree_within(M, LARGEST_ERROR_GRID), 40))
    distance = solution.error_at(t)
    # JSON has no NaN: points without an estimate are left out.
    known = np.isfinite(distance)
    if not known.any():
        return None
    return {"t": np.round(t[known], 6).tolist(), "distance": encode(distance[known])}
