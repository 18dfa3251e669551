"""Solutions as files: both surfaces, names, the error estimate and how it was made, readable without the objectives' code."""

import dataclasses
import os
from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np

from ..bezier import BezierSimplex, describe_surface, load_surface, read_archive, restore_surface, write_archive
from ..methods import Evaluations
from ..normal import ErrorEstimate, Flag
from ..problems import Names
from .front import FittedFront
from .raveling import Raveling
from .result import Reason, Result, Stats
from .solution import Solution


def save_solution(solution: Solution, path: str | PathLike[str]) -> None:
    """Writes a `.bez` file of kind "solution" (see `docs/files.md`). It appears complete or not at all."""
    if os.path.splitext(os.fspath(path))[1].lower() != ".bez":
        raise ValueError(
            f"path must end in .bez for a solution, got {os.fspath(path)!r}; "
            "solution.pareto_set.save(path) writes the surface alone in other formats"
        )
    pareto_set, set_arrays = describe_surface(solution.pareto_set.on_host(), "pareto_set")
    front, front_arrays = describe_surface(solution.fitted_front.surface.on_host(), "front")
    errors = {"front_error/rms": solution.fitted_front.rms, "front_error/max": solution.fitted_front.max}
    history = {f"history/{name}": values for name, values in solution.history.items()}
    manifest = {
        "kind": "solution",
        "pareto_set": pareto_set,
        "front": front,
        "names": solution.names.to_dict(),
        "error": _error_to_json(solution.error),
        "result": {"reason": solution.result.reason.name, "message": solution.result.message},
        "stats": {
            "evaluations": solution.stats.evaluations._asdict(),
            "iterations": solution.stats.iterations,
            "seconds": solution.stats.seconds,
        },
        "made_by": solution.made_by,
    }
    write_archive(path, manifest, {**set_arrays, **front_arrays, **errors, **history})


def load(path: str | PathLike[str], objectives: Callable[[Any], Any] | None = None) -> Solution | BezierSimplex:
    """What a file holds: a `Solution` if `solution.save` wrote it, else a `BezierSimplex`.

    Args:
        path: the file; `.bez`, or a surface in one of pytorch-bsf's formats.
        objectives: the problem's code, for a solution that shall compute objectives anew instead of reading the fitted front.
    """
    if os.path.splitext(os.fspath(path))[1].lower() == ".bez":
        manifest, arrays = read_archive(path)
        if manifest["kind"] == "solution":
            return _restore(manifest, arrays, objectives)
    if objectives is not None:
        raise ValueError(f"objectives go with a solution, but {os.fspath(path)} holds a surface alone")
    return load_surface(path)


def _restore(manifest: dict[str, Any], arrays: dict[str, np.ndarray], objectives: Callable | None) -> Solution:
    try:
        pareto_set = restore_surface(manifest["pareto_set"], arrays)
        stats = manifest["stats"]
        return Solution(
            pareto_set=pareto_set,
            objectives=objectives,
            names=Names.from_dict(manifest["names"]),
            result=Result(Reason[manifest["result"]["reason"]], manifest["result"]["message"]),
            stats=Stats(Evaluations(**stats["evaluations"]), stats["iterations"], stats["seconds"]),
            history={name.removeprefix("history/"): v for name, v in arrays.items() if name.startswith("history/")},
            made_by=manifest["made_by"],
            raveling=Raveling.of(pareto_set.vertex(0)),
            known_error=_error_from_json(manifest["error"]),
            known_front=FittedFront(
                restore_surface(manifest["front"], arrays), arrays["front_error/rms"], arrays["front_error/max"]
            ),
        )
    except KeyError as error:
        raise ValueError(f"the file of a solution is incomplete: it lacks {error}") from error


def _error_to_json(error: ErrorEstimate) -> dict[str, Any]:
    """Numbers that JSON lacks (infinite, not a number) go as text."""
    fields = {field.name: getattr(error, field.name) for field in dataclasses.fields(error)}
    fields["flags"] = [flag.name for flag in error.flags]
    return {name: str(value) if isinstance(value, float) and not np.isfinite(value) else value for name, value in fields.items()}


def _error_from_json(fields: dict[str, Any]) -> ErrorEstimate:
    numbers: dict[str, Any] = {name: value for name, value in fields.items() if name != "flags"}
    numbers = {name: float(value) if isinstance(value, str) else value for name, value in numbers.items()}
    return ErrorEstimate(**numbers, flags=tuple(Flag[name] for name in fields["flags"]))
