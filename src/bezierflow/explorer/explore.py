"""`explore`: from a solution to a page that a person can open, play with and send on."""

import os
from os import PathLike
from pathlib import Path

import numpy as np

from ..answer import Reason, Solution
from ..bezier import write_atomically
from .atlas_data import atlas_data, atlas_footer
from .page import encode, render
from .surface_data import surface_data, surface_footer

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
        footer=(atlas_footer(solution) if solution.set.trimmed else surface_footer(solution)),
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
