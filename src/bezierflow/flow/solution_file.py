"""Solutions as files: both surfaces, names, the error estimate and how it was made, readable without the objectives' code."""

import dataclasses
from typing import Any

import jax
import numpy as np

from ..arguments import printable, read_count, read_nonnegative, read_number
from ..atlas import BezierAtlas, array_names, describe_atlas, restore_atlas
from ..bezier import BezierSimplex, check_arrays, describe_surface, restore_surface
from ..gaussian import PosteriorMean, describe_posterior, restore_posterior
from ..methods import Evaluations
from ..normal import ErrorEstimate, Flag
from ..problems import Names
from .evaluated import Evaluated
from .front import FittedFront
from .raveling import Raveling
from .result import Reason, Result, Stats

Arrays = dict[str, np.ndarray]

FRONT_ERRORS = ("front_error/rms", "front_error/max")


def to_archive(fields: dict[str, Any]) -> tuple[dict[str, Any], Arrays]:
    """The manifest and the arrays of a `.bez` file of kind "solution" (see `docs/files.md`), from the fields of a `Solution`."""
    surfaces, arrays = _describe_atlas(fields) if isinstance(fields["pareto_set"], BezierAtlas) else _describe_simplex(fields)
    stats: Stats = fields["stats"]
    result: Result = fields["result"]
    manifest = {
        "kind": "solution",
        **surfaces,
        "names": fields["names"].to_dict(),
        "error": _error_to_json(fields["known_error"]),
        "result": {"reason": result.reason.name, "message": result.message},
        "stats": {"evaluations": stats.evaluations._asdict(), "iterations": stats.iterations, "seconds": stats.seconds},
        "made_by": fields["made_by"],
    }
    history = {f"history/{name}": values for name, values in fields["history"].items()}
    surrogate, own = _describe_surrogate(fields)
    return {**manifest, **surrogate}, {**arrays, **history, **own}


def _describe_surrogate(fields: dict[str, Any]) -> tuple[dict[str, Any], Arrays]:
    """The evaluations and the processes fitted to them, where expensive objectives have a surrogate."""
    evaluated: Evaluated | None = fields.get("evaluated")
    mean: PosteriorMean | None = fields.get("surrogate")
    if evaluated is None or mean is None:
        return {}, {}
    x = np.asarray(mean.raveling.ravel(evaluated.X, batch_axes=1), dtype=float)
    arrays = {"evaluated/X": x, "evaluated/F": evaluated.F, "evaluated/nondominated": evaluated.nondominated}
    parts = {**describe_posterior(mean.posterior), "low": mean.low, "width": mean.width, "calibration": mean.calibration}
    arrays |= {f"surrogate/{name}": np.asarray(values) for name, values in parts.items()}
    return {"surrogate": {"free": list(mean.free)}}, arrays


def _restore_surrogate(manifest: dict[str, Any], arrays: Arrays, raveling: Raveling) -> dict[str, Any]:
    """The fields that `_describe_surrogate` described; the processes' mean stands for the objectives."""
    if "surrogate" not in manifest:
        return {}
    own = {name.removeprefix("surrogate/"): values for name, values in arrays.items() if name.startswith("surrogate/")}
    x, f, best = (arrays[f"evaluated/{name}"] for name in ("X", "F", "nondominated"))
    place = own["low"], own["width"], own["calibration"], tuple(manifest["surrogate"]["free"])
    mean = PosteriorMean(restore_posterior(own), *place, raveling, Names.from_dict(manifest["names"]))
    return {"evaluated": Evaluated(raveling.unravel(x), f, best.astype(bool)), "surrogate": mean}


def _describe_simplex(fields: dict[str, Any]) -> tuple[dict[str, Any], Arrays]:
    """The surface and its fitted front."""
    pareto_set, set_arrays = describe_surface(fields["pareto_set"].on_host(), "pareto_set")
    fitted: FittedFront = fields["known_front"]
    front, front_arrays = describe_surface(fitted.surface.on_host(), "front")
    errors = dict(zip(FRONT_ERRORS, (fitted.rms, fitted.max), strict=True))
    return {"pareto_set": pareto_set, "front": front}, {**set_arrays, **front_arrays, **errors}


def _describe_atlas(fields: dict[str, Any]) -> tuple[dict[str, Any], Arrays]:
    """The atlas, which has its front in its patches, and one design, whose form all others have."""
    atlas: BezierAtlas = fields["pareto_set"]
    description, arrays = describe_atlas(atlas, "atlas")
    design = jax.tree.map(lambda leaf: np.asarray(leaf)[None], atlas(np.zeros(atlas.n_objectives)))
    example, example_arrays = describe_surface(BezierSimplex(design, atlas.n_objectives, 0), "example")
    return {"atlas": description, "example": example}, {**arrays, **example_arrays}


def _restore(manifest: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """The Pareto set, how x lies in a flat vector, and the fitted front of a single surface."""
    prefixes = ("history/", "surrogate/", "evaluated/") if "surrogate" in manifest else ("history/",)
    history = [name for name in arrays if name.startswith(prefixes)]
    if "atlas" in manifest:
        check_arrays(arrays, [manifest["example"]], [*history, *array_names(manifest["atlas"])])
        raveling = Raveling.of(restore_surface(manifest["example"], arrays).vertex(0))
        return {"pareto_set": restore_atlas(manifest["atlas"], arrays, raveling), "raveling": raveling}
    check_arrays(arrays, [manifest["pareto_set"], manifest["front"]], [*history, *FRONT_ERRORS])
    pareto_set, front = restore_surface(manifest["pareto_set"], arrays), restore_surface(manifest["front"], arrays)
    M = pareto_set.n_objectives
    if front.n_objectives != M or np.shape(front.control_points)[1:] != (M,):
        raise ValueError(f"its front must have {M} objectives as its set has, and as many values")
    for name in FRONT_ERRORS:
        if arrays[name].shape != (M,) or not (np.isfinite(arrays[name]).all() and (arrays[name] >= 0).all()):
            raise ValueError(f"{name} must be {M} finite numbers of at least 0")
    fitted = FittedFront(front, *(arrays[name] for name in FRONT_ERRORS))
    return {"pareto_set": pareto_set, "raveling": Raveling.of(pareto_set.vertex(0)), "known_front": fitted}


def from_archive(manifest: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """The fields of the `Solution` that a file was written from, all but its objectives and its origin.

    Whatever cannot be of a solution raises; `bezier.file_at_fault` says of which file.
    """
    fields = _restore(manifest, arrays)
    stats, result = manifest["stats"], manifest["result"]
    counts = {name: read_count(n, name) for name, n in stats["evaluations"].items()}
    history = {name.removeprefix("history/"): array for name, array in arrays.items() if name.startswith("history/")}
    if any(array.ndim != 1 or array.dtype.kind not in "biuf" for array in history.values()):
        raise ValueError("its history must be rows of numbers")
    if not isinstance(manifest["made_by"], dict):
        raise TypeError("made_by must be an object")
    names = Names.from_dict(manifest["names"])
    return {
        **fields,
        **_restore_surrogate(manifest, arrays, fields["raveling"]),
        "names": names.complete(fields["pareto_set"].n_objectives, fields["raveling"].n_variables),
        "result": Result(Reason[result["reason"]], printable(result["message"])),
        "stats": Stats(
            Evaluations(**counts), read_count(stats["iterations"], "iterations"), read_nonnegative(stats["seconds"], "seconds")
        ),
        "history": history,
        "made_by": manifest["made_by"],
        "known_error": _error_from_json(manifest["error"]),
    }


def _error_to_json(error: ErrorEstimate) -> dict[str, Any]:
    """Numbers that JSON lacks (infinite, not a number) go as text."""
    fields = {field.name: getattr(error, field.name) for field in dataclasses.fields(error)}
    fields["flags"] = [flag.name for flag in error.flags]
    return {name: str(value) if isinstance(value, float) and not np.isfinite(value) else value for name, value in fields.items()}


def _error_from_json(fields: dict[str, Any]) -> ErrorEstimate:
    """The estimate, whose numbers are at least 0 or not known."""
    numbers = {name: _size(value, name) for name, value in fields.items() if name not in ("flags", "by_objective")}
    by_objective = fields.get("by_objective")  # a file from before there were surrogates has none
    errors = None if by_objective is None else tuple(_size(value, "by_objective") for value in by_objective)
    return ErrorEstimate(**numbers, flags=tuple(Flag[name] for name in fields["flags"]), by_objective=errors)


def _size(value: Any, name: str) -> Any:
    """A number of at least 0; as text where it is infinite or not a number, None where there is none."""
    if value is None or (type(value) is int and value >= 0):
        return value
    number = float(value) if value in ("nan", "inf") else value
    return read_number(number, name, "a number of at least 0, or nan as text", lambda size: not size < 0)
