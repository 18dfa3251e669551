"""Solutions as files: both surfaces, names, the error estimate and how it was made, readable
without the objectives' code."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NotRequired, TypedDict

import numpy as np

from ..arguments import printable, read_count, read_nonnegative, read_number
from ..bezier import (
    BezierSimplex,
    Manifest,
    Raveling,
    check_arrays,
    restore_surface,
)
from ..evaluations import Evaluations
from ..names import Names
from .atlas import BezierAtlas
from .atlas_file import array_names, restore_atlas
from .error import ErrorEstimate, Flag
from .front import FittedFront
from .pareto_set import Arrays
from .result import Evaluated, Reason, Result, Stats
from .surface_set import FRONT_ERRORS


class Fields(TypedDict):
    """The fields of a `Solution` that a file holds."""

    pareto_set: BezierSimplex | BezierAtlas
    names: Names
    result: Result
    stats: Stats
    history: Arrays
    made_by: Manifest
    raveling: Raveling
    known_error: ErrorEstimate
    known_front: FittedFront | None
    evaluated: NotRequired[Evaluated]
    surrogate: NotRequired[Any]


def to_archive(
    fields: Mapping[str, Any], described: tuple[Manifest, Arrays], error: ErrorEstimate
) -> tuple[Manifest, Arrays]:
    """The manifest and the arrays of a `.bez` file of kind "solution" (see `docs/files.md`).

    Args:
        fields: of a `Solution`.
        described: its Pareto set.
        error: its error estimate.
    """
    (surfaces, arrays), stats, result = described, fields["stats"], fields["result"]
    manifest = {
        "kind": "solution",
        **surfaces,
        "names": fields["names"].to_dict(),
        "error": _error_to_json(error),
        "result": {"reason": result.reason.name, "message": result.message},
        "stats": {
            "evaluations": stats.evaluations._asdict(),
            "iterations": stats.iterations,
            "seconds": stats.seconds,
        },
        "made_by": fields["made_by"],
    }
    arrays = {**arrays, **{f"history/{name}": row for name, row in fields["history"].items()}}
    evaluated, mean = fields["evaluated"], fields["surrogate"]
    if evaluated is not None and mean is not None:
        manifest["surrogate"], own = mean.describe()
        arrays |= {f"surrogate/{name}": values for name, values in own.items()}
        x = np.asarray(mean.raveling.ravel(evaluated.X, batch_axes=1), dtype=float)
        parts = {"X": x, "F": evaluated.F, "nondominated": evaluated.nondominated}
        arrays |= {f"evaluated/{name}": values for name, values in parts.items()}
    return manifest, arrays


def _restore(
    manifest: Manifest, arrays: Arrays
) -> tuple[BezierSimplex | BezierAtlas, Raveling, FittedFront | None]:
    """The Pareto set, how x lies in a flat vector, and the fitted front of a single surface."""
    prefixes = (
        ("history/", "surrogate/", "evaluated/") if "surrogate" in manifest else ("history/",)
    )
    history = [name for name in arrays if name.startswith(prefixes)]
    if "atlas" in manifest:
        check_arrays(arrays, [manifest["example"]], [*history, *array_names(manifest["atlas"])])
        raveling = Raveling.of(restore_surface(manifest["example"], arrays).vertex(0))
        return restore_atlas(manifest["atlas"], arrays, raveling), raveling, None
    check_arrays(arrays, [manifest["pareto_set"], manifest["front"]], [*history, *FRONT_ERRORS])
    pareto_set, front = (
        restore_surface(manifest["pareto_set"], arrays),
        restore_surface(manifest["front"], arrays),
    )
    M = pareto_set.n_objectives
    if front.n_objectives != M or np.shape(front.control_points)[1:] != (M,):
        raise ValueError(f"its front must have {M} objectives as its set has, and as many values")
    for name in FRONT_ERRORS:
        if arrays[name].shape != (M,) or not (
            np.isfinite(arrays[name]).all() and (arrays[name] >= 0).all()
        ):
            raise ValueError(f"{name} must be {M} finite numbers of at least 0")
    fitted = FittedFront(front, *(arrays[name] for name in FRONT_ERRORS))
    return pareto_set, Raveling.of(pareto_set.vertex(0)), fitted


def from_archive(
    manifest: Manifest, arrays: Arrays, restore_surrogate: Callable[..., Any]
) -> Fields:
    """The fields of the `Solution` that a file was written from, all but its objectives and its
    origin.

    Whatever cannot be of a solution raises; `bezier.file_at_fault` says of which file.
    """
    pareto_set, raveling, front = _restore(manifest, arrays)
    stats, result = manifest["stats"], manifest["result"]
    counts = {name: read_count(n, name) for name, n in stats["evaluations"].items()}
    history = {
        name.removeprefix("history/"): array
        for name, array in arrays.items()
        if name.startswith("history/")
    }
    if any(array.ndim != 1 or array.dtype.kind not in "biuf" for array in history.values()):
        raise ValueError("its history must be rows of numbers")
    if not isinstance(manifest["made_by"], dict):
        raise TypeError("made_by must be an object")
    # Texts of a file are shown to people and pages: `Names` refuses control characters.
    names = Names.from_dict(manifest["names"])
    fields: Fields = {
        "pareto_set": pareto_set,
        "raveling": raveling,
        "known_front": front,
        "names": names.complete(pareto_set.n_objectives, raveling.n_variables),
        "result": Result(Reason[result["reason"]], printable(result["message"])),
        "stats": Stats(
            Evaluations(**counts),
            read_count(stats["iterations"], "iterations"),
            read_nonnegative(stats["seconds"], "seconds"),
        ),
        "history": history,
        "made_by": manifest["made_by"],
        "known_error": _error_from_json(manifest["error"]),
    }
    if "surrogate" in manifest:
        x, f, best = (arrays[f"evaluated/{name}"] for name in ("X", "F", "nondominated"))
        own = {
            name.removeprefix("surrogate/"): values
            for name, values in arrays.items()
            if name.startswith("surrogate/")
        }
        fields["evaluated"] = Evaluated(raveling.unravel(x), f, best.astype(bool))
        fields["surrogate"] = restore_surrogate(manifest["surrogate"], own, raveling, names)
    return fields


def _error_to_json(error: ErrorEstimate) -> Manifest:
    """Numbers that JSON lacks (infinite, not a number) go as text."""
    fields = {field.name: getattr(error, field.name) for field in dataclasses.fields(error)}
    fields["flags"] = [flag.name for flag in error.flags]
    return {
        name: str(value) if isinstance(value, float) and not np.isfinite(value) else value
        for name, value in fields.items()
    }


def _error_from_json(fields: Manifest) -> ErrorEstimate:
    """The estimate, whose numbers are at least 0 or not known."""
    numbers = {
        name: _size(value, name)
        for name, value in fields.items()
        if name not in ("flags", "by_objective")
    }
    by_objective = fields.get("by_objective")  # a file from before there were surrogates has none
    errors = (
        None
        if by_objective is None
        else tuple(_size(value, "by_objective") for value in by_objective)
    )
    return ErrorEstimate(
        **numbers, flags=tuple(Flag[name] for name in fields["flags"]), by_objective=errors
    )


def _size(value: object, name: str) -> Any:
    """A number of at least 0; as text where it is infinite or not a number, None where there is
    none."""
    if value is None or (type(value) is int and value >= 0):
        return value
    number = float(value) if isinstance(value, str) and value in ("nan", "inf") else value
    return read_number(
        number, name, "a number of at least 0, or nan as text", lambda size: not size < 0
    )
