"""`load`: what a file holds, with the objectives' code if it is given."""

import os
from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from jaxtyping import PyTree

from ..answer import BezierAtlas, Flag, Solution, from_archive
from ..atlas import Polish, Program
from ..bezier import BezierSimplex, file_at_fault, load_surface, read_archive
from ..gaussian import PosteriorMean
from ..normal import NormalEstimator
from ..objectives import feasible_set, read_function
from ..precision import double_precision
from .schedule import SCHEDULE

TABLES, SHEETS = (".csv", ".tsv"), (".txt", ".dat", ".xls", ".xlsx", ".ods", ".parquet", ".feather")
"""Endings of tables, which may be surfaces of pytorch-bsf, and of those that are none."""


def load(
    path: str | PathLike[str], objectives: Callable[..., PyTree] | None = None
) -> Solution | BezierSimplex:
    """What a file holds: a `Solution` if `solution.save` wrote it, else a `BezierSimplex`.

    Args:
        path: the file; `.bez`, or a surface in one of pytorch-bsf's formats.
        objectives: the problem's code, for a solution that shall compute objectives anew instead of
            reading the fitted front.
    """
    ending = os.path.splitext(os.fspath(path))[1].lower()
    indexed = False
    if ending in TABLES:  # one of control points, with multi-indices such as (3, 0, 0) in front
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            indexed = file.readline().lstrip("\"' \t")[:1] in ("(", "[")
    if ending in SHEETS or (ending in TABLES and not indexed):
        raise ValueError(
            f"{os.fspath(path)} is a table, which load does not read; if its rows are Pareto"
            " points, bf.from_points(X, F, names=...) makes a solution of their designs X and"
            " objective values F, such as two parts of pandas.read_csv(path).to_numpy()"
        )
    # pytorch-bsf's formats hold surfaces alone.
    if ending == ".bez":
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


def _with_objectives(
    fields: dict[str, Any], objectives: object, path: str | PathLike[str]
) -> Solution:
    """A solution from a file; objectives may have any form that `minimize` takes, and must have the
    values that the file has."""
    stored = Solution(objectives=None, **fields, estimator=NormalEstimator())
    if objectives is None:
        stored = replace(stored, objectives=fields.get("surrogate"))
        error, front = stored.known_error, stored.known_front
        # Of points there is nothing but a fit.
        is_rough = front is not None and front.is_rough
        if stored.made_by.get("method") == "from_points" or error is None or not is_rough:
            return stored
        flags = tuple(dict.fromkeys((*error.flags, Flag.FRONT_ROUGH)))
        return replace(stored, known_error=replace(error, flags=flags))
    raveling, M = stored.raveling, stored.n_objectives
    x = stored.pareto_set(np.full(M, 1 / M))
    point = np.asarray(raveling.ravel(x), dtype=float)
    form = read_function(objectives, raveling, point, "objectives", twice=False)
    if form.n_rows != M:
        raise ValueError(f"objectives must return {M} values for this solution, got {form.n_rows}")
    given = replace(stored, objectives=form.of_x)
    _check_same_front(stored, given, path)
    return _solving(given)


def _solving(solution: Solution) -> Solution:
    """The same with answers that are solved for, where patches are cells of three and more
    objectives, and bounds are all that limits designs: files do not keep the code of
    constraints."""
    atlas = solution.pareto_set
    if not isinstance(atlas, BezierAtlas) or atlas.n_objectives < 3:
        return solution
    units, label = atlas.turned(solution.names.signs).units, atlas.patches[0].label
    if label.trimmed or len(label.constraints) or units.n_auxiliary or units.discrete:
        return solution
    bounds = feasible_set((units.lower, units.upper), None, len(units.lower))
    with double_precision():
        program = Program(solution.flat_objectives, atlas.n_objectives, bounds, units.searched)
    program.ideal, program.span = units.ideal, units.span
    if not program.has_hessians:
        return solution
    return replace(solution, pareto_set=replace(atlas, polisher=Polish(program)))


def _check_same_front(stored: Solution, given: Solution, path: str | PathLike[str]) -> None:
    """Raises unless the objectives given have the values of the file at its corners and in the
    middle."""
    M = stored.n_objectives
    t = np.concatenate([np.eye(M), np.full((1, M), 1 / M)])
    error = stored.set.front_error(stored.error)
    old, new = np.asarray(stored.front(t)), np.asarray(given.front(t))
    rounding = SCHEDULE.negligible * np.abs(old).max(axis=0)
    slack = SCHEDULE.front_errors * error + SCHEDULE.clear * np.ptp(old, axis=0) + rounding
    wrong = np.argwhere(~(np.abs(new - old) <= slack))
    if len(wrong):
        row, m = wrong[0]
        raise ValueError(
            f"objectives are not those of {os.fspath(path)}: {stored.names.objectives[m]} is"
            f" {new[row, m]:.6g} at t={t[row].tolist()}, where the file has {old[row, m]:.6g}; give"
            " the function that the file was made with, or none"
        )
