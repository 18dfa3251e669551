"""`explore`: from a solution to a page that a person can open, play with and send on."""

import base64
import os
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ..atlas import BezierAtlas
from ..flow import Solution, local_error
from ..simplex import grid, largest_degree_within
from .page import render

LARGEST_ERROR_GRID = 120
"""At so many points at most the surface's error is measured for the page; between them it interpolates."""


def explore(solution: Solution, path: str | PathLike[str], *, title: str = "") -> Path:
    """Writes one self-contained HTML file: the surface in a person's hands.

    The page holds both surfaces as polynomials and evaluates them in the browser: drag a point in the weight triangle or move
    sliders, and the design, its objectives and the trade-off rates follow; bound objectives, bookmark choices, export them. It
    opens from disk, asks no network for anything, and is small enough to e-mail.

    Objectives on the page are those of the solution's fitted front, with its measured error beside every value.

    Args:
        solution: the solution, from `minimize` or `load`.
        path: where to write; must end in .html.
        title: the heading; the problem's name if not given.

    Returns:
        The path of the file.
    """
    if not isinstance(solution, Solution):
        raise TypeError(
            f"solution must be a bezierflow.Solution, from minimize or load, got {type(solution).__name__}; "
            "a surface alone has no objectives to show"
        )
    if isinstance(solution.pareto_set, BezierAtlas):
        raise TypeError(
            "explore makes a page of one surface, and this Pareto set is an atlas: plots.chart, plots.front and the questions of "
            "bezierflow.decisions take it"
        )
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"path must end in .html, got {os.fspath(path)!r}")
    heading = title or _problem_name(solution)
    variables = f"{solution.raveling.n_variables} variable{'' if solution.raveling.n_variables == 1 else 's'}"
    front_degree = solution.fitted_front.surface.degree
    page = render(
        page_data(solution, heading),
        title=heading,
        subtitle=f"{solution.n_objectives} objectives, {variables}: every Pareto-optimal trade-off",
        footer=(
            "Objective values come from a polynomial fitted to the front; the ± beside each is its largest error at held-out "
            f"points. Surface of degree {solution.degree}, front of degree {front_degree}. Made by bezierflow."
        ),
    )
    target.write_text(page, encoding="utf-8")
    return target


def page_data(solution: Solution, heading: str) -> dict[str, object]:
    """What the page knows: both surfaces, names, ranges and errors."""
    front, flat = solution.fitted_front, solution.flat_surface
    values = np.asarray(front.surface(_range_grid(solution.n_objectives)))
    error = solution.error
    return {
        "version": 1,
        "problem": heading,
        "n_objectives": solution.n_objectives,
        "names": solution.names.to_dict(),
        "pareto_set": {"degree": solution.degree, "points": _encode(flat.control_points)},
        "front": {
            "degree": front.surface.degree,
            "points": _encode(front.surface.control_points),
            "max_error": _encode(front.max),
        },
        "ideal": _encode(values.min(axis=0)),
        "nadir": _encode(values.max(axis=0)),
        "error": {
            "rms": _finite(error.rms),
            "bound": _finite(error.bound),
            "diameter": _finite(error.diameter),
            "flags": [flag.value for flag in error.flags],
        },
        "local_error": _local_errors(solution),
    }


def _local_errors(solution: Solution) -> dict[str, object] | None:
    """The surface's error at a grid of t, where the objectives are at hand to measure it."""
    if solution.objectives is None:
        return None
    t = grid(solution.n_objectives, min(largest_degree_within(solution.n_objectives, LARGEST_ERROR_GRID), 40))
    distance = local_error(solution, t)
    known = np.isfinite(distance)
    if not known.any():
        return None
    return {"t": np.round(t[known], 6).tolist(), "distance": _encode(distance[known])}


def _range_grid(n_objectives: int) -> np.ndarray:
    """A grid fine enough to see each objective's range."""
    resolution = {2: 400, 3: 60, 4: 20}.get(n_objectives, 10 if n_objectives == 5 else 7)
    return grid(n_objectives, resolution)


def _problem_name(solution: Solution) -> str:
    name = getattr(solution.objectives, "__name__", type(solution.objectives).__name__)
    return "Pareto explorer" if solution.objectives is None or name in ("Problem", "<lambda>") else name


def _encode(numbers: ArrayLike) -> str:
    """Little-endian doubles in base64: exact, and half the size of decimal text."""
    return base64.b64encode(np.ascontiguousarray(numbers, dtype="<f8").tobytes()).decode()


def _finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
