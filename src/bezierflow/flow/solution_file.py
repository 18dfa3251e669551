"""Solutions as files: both surfaces, names, the error estimate and how it was made, readable without the objectives' code."""

import dataclasses
from typing import Any

import numpy as np

from ..bezier import describe_surface, restore_surface
from ..methods import Evaluations
from ..normal import ErrorEstimate, Flag
from ..problems import Names
from .front import FittedFront
from .raveling import Raveling
from .result import Reason, Result, Stats

Arrays = dict[str, np.ndarray]


def to_archive(fields: dict[str, Any]) -> tuple[dict[str, Any], Arrays]:
    """The manifest and the arrays of a `.bez` file of kind "solution" (see `docs/files.md`), from the fields of a `Solution`."""
    pareto_set, set_arrays = describe_surface(fields["pareto_set"].on_host(), "pareto_set")
    fitted: FittedFront = fields["known_front"]
    front, front_arrays = describe_surface(fitted.surface.on_host(), "front")
    stats: Stats = fields["stats"]
    result: Result = fields["result"]
    manifest = {
        "kind": "solution",
        "pareto_set": pareto_set,
        "front": front,
        "names": fields["names"].to_dict(),
        "error": _error_to_json(fields["known_error"]),
        "result": {"reason": result.reason.name, "message": result.message},
        "stats": {"evaluations": stats.evaluations._asdict(), "iterations": stats.iterations, "seconds": stats.seconds},
        "made_by": fields["made_by"],
    }
    errors = {"front_error/rms": fitted.rms, "front_error/max": fitted.max}
    history = {f"history/{name}": values for name, values in fields["history"].items()}
    return manifest, {**set_arrays, **front_arrays, **errors, **history}


def from_archive(manifest: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """The fields of the `Solution` that a file was written from, all but its objectives and its origin."""
    try:
        pareto_set, stats = restore_surface(manifest["pareto_set"], arrays), manifest["stats"]
        front = restore_surface(manifest["front"], arrays)
        return {
            "pareto_set": pareto_set,
            "names": Names.from_dict(manifest["names"]),
            "result": Result(Reason[manifest["result"]["reason"]], manifest["result"]["message"]),
            "stats": Stats(Evaluations(**stats["evaluations"]), stats["iterations"], stats["seconds"]),
            "history": {name.removeprefix("history/"): v for name, v in arrays.items() if name.startswith("history/")},
            "made_by": manifest["made_by"],
            "raveling": Raveling.of(pareto_set.vertex(0)),
            "known_error": _error_from_json(manifest["error"]),
            "known_front": FittedFront(front, arrays["front_error/rms"], arrays["front_error/max"]),
        }
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
