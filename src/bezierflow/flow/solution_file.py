"""Solutions as files: both surfaces, names, the error estimate and how it was made, readable without the objectives' code."""

import dataclasses
from typing import Any

import jax
import numpy as np

from ..atlas import BezierAtlas, describe_atlas, restore_atlas
from ..bezier import BezierSimplex, describe_surface, restore_surface
from ..gaussian import PosteriorMean, describe_posterior, restore_posterior
from ..methods import Evaluations
from ..normal import ErrorEstimate, Flag
from ..problems import Names
from .evaluated import Evaluated
from .front import FittedFront
from .raveling import Raveling
from .result import Reason, Result, Stats

Arrays = dict[str, np.ndarray]


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
    errors = {"front_error/rms": fitted.rms, "front_error/max": fitted.max}
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
    if "atlas" in manifest:
        raveling = Raveling.of(restore_surface(manifest["example"], arrays).vertex(0))
        return {"pareto_set": restore_atlas(manifest["atlas"], arrays, raveling), "raveling": raveling}
    pareto_set, front = restore_surface(manifest["pareto_set"], arrays), restore_surface(manifest["front"], arrays)
    fitted = FittedFront(front, arrays["front_error/rms"], arrays["front_error/max"])
    return {"pareto_set": pareto_set, "raveling": Raveling.of(pareto_set.vertex(0)), "known_front": fitted}


def from_archive(manifest: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """The fields of the `Solution` that a file was written from, all but its objectives and its origin."""
    try:
        stats, restored = manifest["stats"], _restore(manifest, arrays)
        return {
            **restored,
            **_restore_surrogate(manifest, arrays, restored["raveling"]),
            "names": Names.from_dict(manifest["names"]),
            "result": Result(Reason[manifest["result"]["reason"]], manifest["result"]["message"]),
            "stats": Stats(Evaluations(**stats["evaluations"]), stats["iterations"], stats["seconds"]),
            "history": {name.removeprefix("history/"): v for name, v in arrays.items() if name.startswith("history/")},
            "made_by": manifest["made_by"],
            "known_error": _error_from_json(manifest["error"]),
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
    by_objective = numbers.pop("by_objective", None)  # a file from before there were surrogates has none
    flags = tuple(Flag[name] for name in fields["flags"])
    return ErrorEstimate(**numbers, flags=flags, by_objective=None if by_objective is None else tuple(by_objective))
