"""`load`: what a file holds, with the objectives' code if somebody gives it."""

import os
from collections.abc import Callable
from dataclasses import replace
from os import PathLike

import numpy as np
from jaxtyping import PyTree

from ..answer import BezierAtlas, Fields, Flag, Solution, from_archive, spread_chart
from ..bezier import BezierSimplex, file_at_fault, load_surface, read_archive
from ..gaussian import PosteriorMean
from ..normal import NormalEstimator
from ..objectives import read_function


def load(
    path: str | PathLike[str], objectives: Callable[..., PyTree] | None = None
) -> Solution | BezierSimplex:
    """What a file holds: a `Solution` if `solution.save` wrote it, else a `BezierSimplex`.

    Args:
        path: the file; `.bez`, or a surface in one of pytorch-bsf's formats.
        objectives: the problem's code, for a solution that shall compute objectives anew instead of
            reading the fitted front.
    """
    if os.path.splitext(os.fspath(path))[1].lower() == ".bez":
        manifest, arrays = read_archive(path)
        if manifest["kind"] == "solution":
            with file_at_fault(path):
                fields = from_archive(manifest, arrays, PosteriorMean.restore)
            return _with_objectives(fields, objectives, path)
    if objectives is not None:
        raise ValueError(
            f"objectives go with a solution, but {os.fspath(path)} holds a surface alone"
        )
    return load_surface(path)


AGREES = 1e-3
"""Values of objectives given for a file may differ from its front by this share of ranges, beside
ten times the front's error."""


def _with_objectives(fields: Fields, objectives: object, path: str | PathLike[str]) -> Solution:
    """A solution from a file; objectives may have any form that `minimize` takes, and must have the
    values that the file has."""
    stored = Solution(objectives=None, **fields, estimator=NormalEstimator())
    if objectives is None:
        return _flagged(replace(stored, objectives=fields.get("surrogate")))
    pareto_set, raveling, M = stored.pareto_set, stored.raveling, stored.n_objectives
    x = pareto_set(np.zeros(M)) if isinstance(pareto_set, BezierAtlas) else pareto_set.vertex(0)
    point = np.asarray(raveling.ravel(x), dtype=float)
    form = read_function(objectives, raveling, point, "objectives", twice=False)
    if form.n_rows != M:
        raise ValueError(f"objectives must return {M} values for this solution, got {form.n_rows}")
    given = replace(stored, objectives=form.of_x)
    _check_same_front(stored, given, path)
    return given


def _flagged(stored: Solution) -> Solution:
    """The same with a flag where the front in the file is far from the objectives, which nobody has
    given."""
    error, front = stored.known_error, stored.known_front
    if stored.made_by.get("method") == "from_points":  # of points there is nothing but a fit
        return stored
    if error is None or front is None or not front.is_rough or Flag.FRONT_ROUGH in error.flags:
        return stored
    return replace(stored, known_error=replace(error, flags=(*error.flags, Flag.FRONT_ROUGH)))


def _check_same_front(stored: Solution, given: Solution, path: str | PathLike[str]) -> None:
    """Raises unless the objectives given have the values of the file at its corners and in the
    middle."""
    M, pareto_set = stored.n_objectives, stored.pareto_set
    if isinstance(pareto_set, BezierAtlas):
        t = spread_chart(pareto_set, M + 1)
        slack = 10 * (stored.error.front or 0.0) * np.abs(pareto_set.units.span)
    else:
        t = np.concatenate([np.eye(M), np.full((1, M), 1 / M)])
        slack = 10 * stored.fitted_front.max
    old, new = np.asarray(stored.front(t)), np.asarray(given.front(t))
    slack = slack + AGREES * np.ptp(old, axis=0) + 1e-6 * np.abs(old).max(axis=0)
    wrong = np.argwhere(~(np.abs(new - old) <= slack))
    if len(wrong):
        row, m = wrong[0]
        raise ValueError(
            f"objectives are not those of {os.fspath(path)}: {stored.names.objectives[m]} is"
            f" {new[row, m]:.6g} at t={t[row].tolist()}, where the file has {old[row, m]:.6g}; give"
            " the function that the file was made with, or none"
        )
