"""An atlas as a part of an archive: numbers in the manifest, arrays under a name
(`docs/files.md`)."""

from collections.abc import Mapping
from typing import cast

import numpy as np

from ..arguments import printable, read_count, read_flag, read_nonnegative, read_number
from ..bezier import Manifest, Raveling
from ..simplex import n_controls
from .atlas import BezierAtlas, Units
from .patches import Label, Patch

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
    patches = tuple(_patch(entry, arrays, n_inequalities) for entry in description["patches"])
    _check(len(patches) > 0, "an atlas without patches")
    for patch in patches:
        _check_patch(patch, units, len(patches[0].label.constraints))
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


def _patch(entry: Manifest, arrays: Mapping[str, np.ndarray], n_inequalities: int) -> Patch:
    part = {key: arrays[f"{entry['arrays']}/{key}"] for key in PARTS}
    _check(part["side"].dtype.kind == "i", "sides that are no whole numbers")
    # A file from before there were meshes has trimmed patches only.
    trimmed = read_flag(entry.get("trimmed", True), "trimmed")
    sides = part["objectives"], part["constraints"], part["side"].astype(int)
    return Patch(
        Label(*sides, n_inequalities, trimmed),
        part["corners"],
        read_count(entry["degree"], "degree"),
        part["control_points"],
        part["domain"],
        read_nonnegative(entry["error"], "error"),
        read_count(entry["region"], "region"),
    )


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


def _check_patch(patch: Patch, units: Units, n_constraints: int) -> None:
    label, M, free = patch.label, len(units.ideal), len(units.free)
    for flags, size in ((label.objectives, M), (label.constraints, n_constraints)):
        _check(
            flags.shape == (size,) and flags.dtype == bool, "a patch with labels of the wrong form"
        )
    _check(
        bool(label.objectives.any()) and label.n_inequalities <= n_constraints,
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


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(f"it has {otherwise}")
