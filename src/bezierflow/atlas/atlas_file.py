"""An atlas as a part of an archive: numbers in the manifest, arrays under a name (`docs/files.md`)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..bezier import Raveling
from .atlas import BezierAtlas, Units
from .patches import Label, Patch

UNITS = ("ideal", "span", "lower", "upper", "origin", "unit")


def describe_atlas(atlas: BezierAtlas, name: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What goes into the manifest, and the arrays."""
    arrays = {f"{name}/units/{key}": getattr(atlas.units, key) for key in UNITS}
    patches = []
    for number, patch in enumerate(atlas.patches):
        place, label = f"{name}/patches/{number}", patch.label
        parts = {
            "corners": patch.corners,
            "control_points": patch.control_points,
            "domain": patch.domain,
            "objectives": label.objectives,
            "constraints": label.constraints,
            "side": label.side.astype(np.int8),
        }
        arrays |= {f"{place}/{key}": array for key, array in parts.items()}
        patches.append({"degree": patch.degree, "region": patch.region, "error": patch.error, "arrays": place})
    n_inequalities = atlas.patches[0].label.n_inequalities
    description = {"patches": patches, "coverage": atlas.coverage, "n_inequalities": n_inequalities, "units": f"{name}/units"}
    return {**description, "n_auxiliary": atlas.units.n_auxiliary}, arrays


def restore_atlas(description: Mapping[str, Any], arrays: Mapping[str, np.ndarray], raveling: Raveling) -> BezierAtlas:
    """The atlas that `describe_atlas` described."""
    n_auxiliary = int(description.get("n_auxiliary", 0))  # a file from before kinks were lifted has none
    units = Units(**{key: arrays[f"{description['units']}/{key}"] for key in UNITS}, n_auxiliary=n_auxiliary)
    patches = []
    for entry in description["patches"]:
        part = {
            key: arrays[f"{entry['arrays']}/{key}"]
            for key in ("corners", "control_points", "domain", "objectives", "constraints")
        }
        side = arrays[f"{entry['arrays']}/side"].astype(int)
        label = Label(part["objectives"], part["constraints"], side, int(description["n_inequalities"]))
        patches.append(
            Patch(
                label, part["corners"], entry["degree"], part["control_points"], part["domain"], entry["error"], entry["region"]
            )
        )
    return BezierAtlas(tuple(patches), units, raveling, float(description["coverage"]))
