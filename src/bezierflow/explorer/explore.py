"""From a solution to a page that a person can open, play with and send on."""

import os
from os import PathLike
from pathlib import Path
from typing import cast

import numpy as np

from ..answer import SCHEDULE, BezierAtlas, Flag, Patch, Reason, Solution
from ..bezier import write_atomically
from ..simplex import grid, largest_degree_within
from .page import encode, finite, render

LARGEST_ERROR_GRID = 120
"""At so many points at most the surface's error is measured for the page; between them it
interpolates."""


def surface_data(solution: Solution) -> dict[str, object]:
    """Both surfaces, the ranges of the objectives, and errors."""
    front, flat, signs = solution.fitted_front, solution.flat_surface, solution.names.signs
    M, error, local = solution.n_objectives, solution.error, None
    # Fine enough to see each objective's range.
    resolution = {2: 400, 3: 60, 4: 20, 5: 10}.get(M, 7)
    values = signs * np.asarray(front.surface(grid(M, resolution)))
    # The surface's error at a grid of t, where the objectives are at hand to measure it.
    if solution.objectives is not None and Flag.NOT_ESTIMATED not in error.flags:
        t = grid(M, min(largest_degree_within(M, LARGEST_ERROR_GRID), 40))
        distance = solution.error_at(t)
        # JSON has no NaN: points without an estimate are left out.
        known = np.isfinite(distance)
        if known.any():
            local = {"t": np.round(t[known], 6).tolist(), "distance": encode(distance[known])}
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
        "local_error": local,
    }


MOST_PLACES = {2: 300, 3: 500}
"""About how many points of the set go along; 1000 from four objectives on, where there is no mesh
of the simplex."""

FEWEST_PLACES = 12
"""Of one piece."""


def atlas_data(solution: Solution) -> dict[str, object]:
    """Patches and pieces, units, and errors."""
    atlas, error = cast(BezierAtlas, solution.pareto_set), solution.error.kept
    units = atlas.units
    owner = {number: k for k, piece in enumerate(atlas.pieces) for number in piece.patches}
    return {
        "ideal": encode(units.ideal),
        "nadir": encode(units.ideal + units.span),
        "atlas": {
            "values": [list(own) for own in units.values],
            "units": {
                name: encode(getattr(units, name)) for name in ("lower", "upper", "origin", "unit")
            },
            "stretch": atlas.stretch,
            # by which the page asks patches as `ask_patches` does
            "tolerances": {
                "rounding": SCHEDULE.rounding,
                "lower": SCHEDULE.rounding,
                "sign": SCHEDULE.nearly,
                "lead": SCHEDULE.lead,
                "doubt": SCHEDULE.doubt,
                "nowhere": SCHEDULE.nowhere,
                "worse": SCHEDULE.patch_error,
            },
            "patches": [
                _patch_data(patch, owner.get(number, -1))
                for number, patch in enumerate(atlas.patches)
            ],
            "pieces": [_piece_data(solution, k) for k in range(len(atlas.pieces))],
        },
        "error": {
            "front": finite(error.front if error.by_objective is None else error.max),
            "max": finite(error.max),
            "predicted": None if error.by_objective is None else finite(error.rms),
            "coverage": finite(error.coverage),
            "n_samples": error.n_samples,
            "flags": [flag.value for flag in error.flags],
        },
    }


def _patch_data(patch: Patch, piece: int) -> dict[str, object]:
    """A patch without the multipliers of equalities, which trim nothing."""
    label = patch.label
    width = len(label.side) + 1 + len(label.objectives) + label.n_inequalities
    return {
        "objectives": label.objectives.astype(int).tolist(),
        "constraints": label.constraints[: label.n_inequalities].astype(int).tolist(),
        "side": label.side.tolist(),
        "trimmed": label.trimmed,
        "degree": patch.degree,
        "error": finite(patch.error),
        "corners": encode(patch.corners),
        "points": encode(patch.control_points[:, :width]),
        "domain": encode(patch.domain),
        "piece": piece,
    }


def _piece_data(solution: Solution, number: int) -> dict[str, object]:
    """A piece with some of its points, along it if it is a curve."""
    piece, t = solution.set.pieces[number], solution.set.piece_points(number)
    n_inequalities = cast(BezierAtlas, solution.pareto_set).patches[0].label.n_inequalities
    share = MOST_PLACES.get(solution.n_objectives, 1000) * len(t) / len(solution.set.sample_t)
    # Evenly along the sample: the points of a curve are in order.
    kept = np.linspace(0, len(t) - 1, min(len(t), max(FEWEST_PLACES, round(share))))
    return {
        "dimension": piece.dimension,
        "face": piece.face,
        "choice": solution.set.choice_text(number, solution.names),
        "side": piece.side.tolist(),
        "constraints": piece.constraints[:n_inequalities].astype(int).tolist(),
        "places": encode(t[np.round(kept).astype(int)]),
    }


EXACT = 0.03
"""A set is said to have every trade-off where its estimated distance from the Pareto set is below
this share of its diameter.

A lifted method converges to the best surface of its degree, which may be far off.
"""


def explore(solution: Solution, path: str | PathLike[str], *, title: str = "") -> Path:
    """Writes one self-contained HTML file: the Pareto set in a person's hands.

    The page evaluates the set and its front, which are polynomials, in the browser: drag a point in
    the triangle, or move sliders, and the design, its objectives and the trade-off rates follow;
    bound objectives, bookmark choices, export them. It opens from disk, asks no network for
    anything, and is small enough to e-mail. Objectives are those of the fitted front, or of the
    patches of an atlas, with the measured error beside every value.

    Args:
        solution: the solution, from `minimize` or `load`.
        path: where to write; must end in .html.
        title: the heading; the problem's name if not given.

    Returns:
        The path of the file.
    """
    if not isinstance(solution, Solution):
        raise TypeError(
            "solution must be a bezierflow.Solution, from minimize or load, got"
            f" {type(solution).__name__}; a surface alone has no objectives to show"
        )
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"path must end in .html, got {os.fspath(path)!r}")
    objectives = getattr(solution.objectives, "original", solution.objectives)
    name = getattr(objectives, "__name__", type(objectives).__name__)
    # what a surrogate's surface was made from is its own mean, not the user's function
    nameless = solution.surrogate is not None or objectives is None
    nameless |= name in ("Problem", "<lambda>")
    heading = title or ("Pareto explorer" if nameless else name)
    n = solution.raveling.n_variables
    variables = f"{n} variable{'' if n == 1 else 's'}"
    page = render(
        page_data(solution, heading),
        title=heading,
        subtitle=f"{solution.n_objectives} objectives, {variables}: {_claim(solution)}",
        footer=_footer(solution),
        caution=solution.result.caution,
    )
    write_atomically(target, page.encode())
    return target


def page_data(solution: Solution, heading: str) -> dict[str, object]:
    """What the page knows: names, evaluations, and the set with its ranges and errors."""
    evaluated = solution.evaluated
    return {
        "version": 1,
        "problem": heading,
        "n_objectives": solution.n_objectives,
        "names": solution.names.complete(
            solution.n_objectives, solution.raveling.n_variables
        ).to_dict(),
        "x_scale": encode(solution.raveling.units),
        "evaluated": None
        if evaluated is None
        else {
            "values": encode(evaluated.F),
            "best": np.asarray(evaluated.nondominated).astype(int).tolist(),
        },
        **(atlas_data(solution) if solution.set.trimmed else surface_data(solution)),
    }


def _footer(solution: Solution) -> str:
    """Where the page's numbers come from, and of an atlas how the run ended."""
    if not isinstance(solution.pareto_set, BezierAtlas):
        front_degree = solution.fitted_front.surface.degree
        return (
            "Objective values come from a polynomial fitted to the front; the ± beside each is its"
            f" largest error at held-out points. Surface of degree {solution.degree}, front of"
            f" degree {front_degree}. Made by bezierflow."
        )
    what = "its largest error at fresh points"
    if solution.surrogate is not None:
        what = (
            "the largest error of recent predictions by the surrogate, of evaluations that it had"
            " not seen"
        )
    return (
        f"Designs and objective values come from {len(solution.pareto_set.patches)} polynomials,"
        f" each valid where its own signs say so; the ± beside each objective is {what}. The run:"
        f" {solution.result}. Made by bezierflow."
    )


def _claim(solution: Solution) -> str:
    """What the page holds, said no better than the run ended."""
    result = solution.result
    if result.doubtful:
        return "a doubtful answer, not the Pareto set"
    if solution.surrogate is not None:
        return "trade-offs as a surrogate predicts them"
    error = solution.error
    if result.reason is Reason.CONVERGED and not error.flags and error.relative < EXACT:
        return "every Pareto-optimal trade-off"
    return "trade-offs near the Pareto front"
