"""Solutions as files: both surfaces, names, the error estimate and how it was made, readable
without the objectives' code."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arguments import printable, read_count, read_nonnegative, read_number
from ..bezier import BezierSimplex, Manifest, Raveling, check_arrays, restore_surface
from ..evaluations import Evaluations
from ..gaussian import PosteriorMean
from ..names import Names
from .atlas import BezierAtlas
from .atlas_file import array_names, restore_atlas
from .error import ErrorEstimate, Flag
from .front import FittedFront
from .pareto_set import Arrays
from .result import Evaluated, Reason, Result, Stats
from .surface_set import FRONT_ERRORS


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
    error = error.kept
    numbers = {field.name: getattr(error, field.name) for field in dataclasses.fields(error)}
    del numbers["patches"]
    numbers["flags"] = [flag.name for flag in error.flags]
    manifest = {
        "kind": "solution",
        **surfaces,
        "names": fields["names"].to_dict(),
        # JSON has no infinite numbers and no NaN: they go as text.
        "error": {
            name: str(value) if isinstance(value, float) and not np.isfinite(value) else value
            for name, value in numbers.items()
        },
        "result": {
            "reason": result.reason.name,
            "message": result.message,
            "claim": result.claim,
            "details": list(result.details),
        },
        "stats": {
            "evaluations": stats.evaluations._asdict(),
            "iterations": stats.iterations,
            "seconds": stats.seconds,
        },
        "made_by": fields["made_by"],
    }
    groups = {"history": fields["history"]}
    evaluated, mean = fields["evaluated"], fields["surrogate"]
    if evaluated is not None and mean is not None:
        manifest["surrogate"], groups["surrogate"] = mean.describe()
        x = np.asarray(mean.raveling.ravel(evaluated.X, batch_axes=1), dtype=float)
        groups["evaluated"] = {"X": x, "F": evaluated.F, "nondominated": evaluated.nondominated}
    own = {f"{group}/{name}": row for group, rows in groups.items() for name, row in rows.items()}
    return manifest, {**arrays, **own}


def from_archive(manifest: Manifest, arrays: Arrays) -> dict[str, Any]:
    """The fields of the `Solution` that a file was written from, all but its objectives and its
    origin.

    Whatever cannot be of a solution raises; `bezier.file_at_fault` says of which file.
    """
    pareto_set, raveling, front = _restore(manifest, arrays)
    stats, result = manifest["stats"], manifest["result"]
    counts = {name: read_count(n, name) for name, n in stats["evaluations"].items()}
    history = _group(arrays, "history/")
    if any(array.ndim != 1 or array.dtype.kind not in "biuf" for array in history.values()):
        raise ValueError("its history must be rows of numbers")
    if not isinstance(manifest["made_by"], dict):
        raise TypeError("made_by must be an object")
    # Texts of a file are shown to people and pages: `Names` refuses control characters.
    names = Names.from_dict(manifest["names"])
    fields = {
        "pareto_set": pareto_set,
        "raveling": raveling,
        "known_front": front,
        "names": names.complete(pareto_set.n_objectives, raveling.n_variables),
        "result": Result(
            Reason[result["reason"]],
            # Older files have the whole message alone.
            printable(result.get("claim", result["message"])),
            tuple(map(printable, result.get("details", ()))),
        ),
        "stats": Stats(
            Evaluations(**counts),
            read_count(stats["iterations"], "iterations"),
            read_nonnegative(stats["seconds"], "seconds"),
        ),
        "history": history,
        "made_by": manifest["made_by"],
        "known_error": _restore_error(manifest["error"]),
    }
    if "surrogate" in manifest:
        x, f, best = (arrays[f"evaluated/{name}"] for name in ("X", "F", "nondominated"))
        fields["evaluated"] = Evaluated(raveling.unravel(x), f, best.astype(bool))
        fields["surrogate"] = PosteriorMean.restore(
            manifest["surrogate"], _group(arrays, "surrogate/"), raveling, names
        )
    return fields


def _group(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose names begin so, without that."""
    return {name[len(prefix) :]: row for name, row in arrays.items() if name.startswith(prefix)}


def _restore(
    manifest: Manifest, arrays: Arrays
) -> tuple[BezierSimplex | BezierAtlas, Raveling, FittedFront | None]:
    """The Pareto set, how x lies in a flat vector, and the fitted front of a single surface."""
    prefixes = ("history/", *(("surrogate/", "evaluated/") if "surrogate" in manifest else ()))
    others = [name for name in arrays if name.startswith(prefixes)]
    if "atlas" in manifest:
        check_arrays(arrays, [manifest["example"]], [*others, *array_names(manifest["atlas"])])
        raveling = Raveling.of(restore_surface(manifest["example"], arrays).vertex(0))
        return restore_atlas(manifest["atlas"], arrays, raveling), raveling, None
    check_arrays(arrays, [manifest["pareto_set"], manifest["front"]], [*others, *FRONT_ERRORS])
    pareto_set = restore_surface(manifest["pareto_set"], arrays)
    front, M = restore_surface(manifest["front"], arrays), pareto_set.n_objectives
    if front.n_objectives != M or np.shape(front.control_points)[1:] != (M,):
        raise ValueError(f"its front must have {M} objectives as its set has, and as many values")
    errors = [arrays[name] for name in FRONT_ERRORS]
    for name, error in zip(FRONT_ERRORS, errors, strict=True):
        if error.shape != (M,) or not (np.isfinite(error) & (error >= 0)).all():
            raise ValueError(f"{name} must be {M} finite numbers of at least 0")
    return pareto_set, Raveling.of(pareto_set.vertex(0)), FittedFront(front, *errors)


def _restore_error(fields: Manifest) -> ErrorEstimate:
    """The estimate, whose numbers are at least 0 or not known."""
    numbers = dict(fields)
    flags = tuple(Flag[name] for name in numbers.pop("flags"))
    # A file from before there were surrogates has no errors by objective.
    errors = numbers.pop("by_objective", None)
    # One from before estimates had margins calls its expectation a bound.
    if "bound" in numbers:
        numbers["expected"] = numbers.pop("bound")
    errors = None if errors is None else tuple(_size(one, "by_objective") for one in errors)
    read = {name: _size(value, name) for name, value in numbers.items()}
    return ErrorEstimate(**read, flags=flags, by_objective=errors)


def _size(value: object, name: str) -> Any:
    """A number of at least 0; None where there is none."""
    if value is None or (type(value) is int and value >= 0):
        return value
    number = float(value) if isinstance(value, str) and value in ("nan", "inf") else value
    return read_number(
        number, name, "a number of at least 0, or nan as text", lambda size: not size < 0
    )
