"""Solutions as files: sets, names, the error estimate and how it was made, readable without the
objectives' code."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from ..arguments import printable, read_count, read_flag, read_nonnegative, read_number
from ..bezier import BezierSimplex, Manifest, Raveling, check_arrays, restore_surface
from ..evaluations import Evaluations
from ..names import Names
from ..simplex import n_controls
from .atlas import BezierAtlas, Units
from .error import ErrorEstimate, Flag
from .front import FittedFront
from .pareto_set import Arrays
from .patches import Label, Patch
from .result import Evaluated, Reason, Result, Stats
from .surface_set import FRONT_ERRORS

PARTS = ("corners", "control_points", "domain", "objectives", "constraints", "side")
UNITS = ("ideal", "span", "lower", "upper", "origin", "unit")


def describe_atlas(atlas: BezierAtlas, name: str) -> tuple[Manifest, dict[str, np.ndarray]]:
    """What goes into the manifest, and the arrays."""
    arrays = {f"{name}/units/{key}": getattr(atlas.units, key) for key in UNITS}
    patches = []
    for number, patch in enumerate(atlas.patches):
        place = f"{name}/patches/{number}"
        for key in PARTS:
            holder = patch if hasattr(patch, key) else patch.label
            arrays[f"{place}/{key}"] = getattr(holder, key)
        arrays[f"{place}/side"] = patch.label.side.astype(np.int8)
        patches.append(
            {
                "degree": patch.degree,
                "region": patch.region,
                "error": patch.error,
                "trimmed": patch.label.trimmed,
                "arrays": place,
            }
        )
    return {
        "patches": patches,
        "coverage": atlas.coverage,
        "n_inequalities": atlas.patches[0].label.n_inequalities,
        "units": f"{name}/units",
        "n_auxiliary": atlas.units.n_auxiliary,
        "values": [list(own) for own in atlas.units.values],
    }, arrays


def array_names(description: Manifest) -> set[str]:
    """The arrays that a description names."""
    places = [entry["arrays"] for entry in description["patches"]]
    return {f"{description['units']}/{key}" for key in UNITS} | {
        f"{place}/{key}" for place in places for key in PARTS
    }


def restore_atlas(
    description: Manifest, arrays: Mapping[str, np.ndarray], raveling: Raveling
) -> BezierAtlas:
    """The atlas that `describe_atlas` described; a ValueError says which numbers cannot be."""
    # A file from before kinks were lifted has none.
    n_auxiliary = read_count(description.get("n_auxiliary", 0), "n_auxiliary")
    units = Units(
        **{key: arrays[f"{description['units']}/{key}"] for key in UNITS},
        n_auxiliary=n_auxiliary,
        values=_read_values(description.get("values", [])),
    )
    # A file may come from anywhere: every shape and number is checked before anything is evaluated.
    _check_units(units, raveling)
    n_inequalities = read_count(description["n_inequalities"], "n_inequalities")
    entries = description["patches"]
    _check(len(entries) > 0, "an atlas without patches")
    n_constraints = len(arrays[f"{entries[0]['arrays']}/constraints"])
    sizes = n_inequalities, n_constraints
    patches = tuple(_read_patch(entry, arrays, units, sizes) for entry in entries)
    coverage = read_number(
        description["coverage"], "coverage", "a share from 0 to 1", lambda share: 0 <= share <= 1
    )
    # Patches may fit all of the above and still hold nowhere: then nothing could answer.
    atlas = BezierAtlas(patches, units, raveling, coverage)
    _check(
        len(atlas.points.f) > 0 and bool(np.isfinite(atlas.points.f).all()),
        "patches without a point of their own",
    )
    return atlas


def _read_values(values: object) -> tuple[tuple[float | str, ...], ...]:
    """Of each variable the values that it may have; a file from before there were choices has
    none."""
    _check(isinstance(values, list) and all(isinstance(own, list) for own in values), "no values")
    for own in cast(list, values):
        texts = all(isinstance(one, str) and printable(one) == one for one in own)
        numbers = all(type(one) in (int, float) and np.isfinite(one) for one in own)
        _check(
            (texts or numbers) and len(set(own)) == len(own), "values that a variable cannot have"
        )
    return tuple(tuple(own) for own in cast(list, values))


def _check_units(units: Units, raveling: Raveling) -> None:
    M, L = len(units.ideal), raveling.n_variables + units.n_auxiliary
    _check_values(units, raveling)
    for key, shape in (("ideal", (M,)), ("span", (M,)), ("lower", (L,)), ("upper", (L,))):
        array = getattr(units, key)
        _check(
            array.shape == shape and array.dtype == np.float64 and not np.isnan(array).any(),
            f"{key} of the wrong form",
        )
    _check(
        M > 0 and bool(np.isfinite([units.ideal, units.span]).all() and (units.span != 0).all()),
        "ranges that are none",
    )
    _check(bool((units.lower <= units.upper).all()), "lower bounds above upper ones")
    for key in ("origin", "unit"):
        array = getattr(units, key)
        fits = array.shape == units.free.shape and array.dtype == np.float64
        _check(fits and bool(np.isfinite(array).all()), f"{key} of the wrong form")
    _check(bool((units.unit != 0).all()), "units of variables that are 0")


def _check_values(units: Units, raveling: Raveling) -> None:
    _check(len(units.values) in (0, raveling.n_variables), "values of the wrong variables")
    scalar = raveling.is_vector or all(shape == () for shape in raveling.shapes)
    _check(scalar or not units.values, "values of variables that are arrays")
    for i, own in units.discrete.items():
        ends = float(own.min()), float(own.max())
        _check(ends == (units.lower[i], units.upper[i]), "values beyond their bounds")


def _read_patch(
    entry: Manifest, arrays: Mapping[str, np.ndarray], units: Units, sizes: tuple[int, int]
) -> Patch:
    """A patch in these units; `sizes` are how many inequalities and how many constraints there
    are."""
    part = {key: arrays[f"{entry['arrays']}/{key}"] for key in PARTS}
    _check(part["side"].dtype.kind == "i", "sides that are no whole numbers")
    n_inequalities, n_constraints = sizes
    # A file from before there were meshes has trimmed patches only.
    trimmed = read_flag(entry.get("trimmed", True), "trimmed")
    label = Label(
        part["objectives"],
        part["constraints"],
        part["side"].astype(int),
        n_inequalities,
        trimmed,
    )
    patch = Patch(
        label,
        part["corners"],
        read_count(entry["degree"], "degree"),
        part["control_points"],
        part["domain"],
        read_nonnegative(entry["error"], "error"),
        read_count(entry["region"], "region"),
    )
    M, free = len(units.ideal), len(units.free)
    for flags, size in ((label.objectives, M), (label.constraints, n_constraints)):
        _check(
            flags.shape == (size,) and flags.dtype == bool, "a patch with labels of the wrong form"
        )
    _check(
        bool(label.objectives.any()) and n_inequalities <= n_constraints,
        "a patch whose label cannot be",
    )
    _check(
        label.side.shape == (free,) and bool((np.abs(label.side) <= 1).all()),
        "a patch with sides that cannot be",
    )
    k = label.dimension + 1
    shapes = {
        "corners": (k, k - 1),
        "control_points": (n_controls(k, patch.degree), free + 1 + M + n_constraints),
        "domain": (len(patch.domain), k),
    }
    for key, shape in shapes.items():
        array = getattr(patch, key)
        fits = array.shape == shape and array.dtype == np.float64
        _check(fits and bool(np.isfinite(array).all()), f"a patch with {key} of the wrong form")
    flat = k > 1 and np.linalg.matrix_rank(patch.corners[1:] - patch.corners[0]) < k - 1
    _check(not flat, "a patch whose corners span no simplex")
    return patch


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(f"it has {otherwise}")


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


def from_archive(
    manifest: Manifest, arrays: Arrays, restore_mean: Callable[..., Any]
) -> dict[str, Any]:
    """The fields of the `Solution` that a file was written from, all but its objectives and its
    origin.

    Whatever cannot be of a solution raises; `bezier.file_at_fault` says of which file. The mean of
    a surrogate is made again by `restore_mean`, which is `gaussian.PosteriorMean.restore`.
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
        fields["surrogate"] = restore_mean(
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
