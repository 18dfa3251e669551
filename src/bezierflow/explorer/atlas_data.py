"""What the page of an atlas knows: its patches with what trims them, its pieces, and points of the
set."""

from typing import cast

import numpy as np

from ..answer import SCHEDULE, BezierAtlas, Patch, Solution
from .page import encode, finite

MOST_PLACES = {2: 300, 3: 500}
"""About how many points of the set go along; 1000 from four objectives on, where there is no mesh
of the simplex."""

FEWEST_PLACES = 12
"""Of one piece."""


def atlas_data(solution: Solution) -> dict[str, object]:
    """Patches and pieces, units, and errors."""
    atlas, error = cast(BezierAtlas, solution.pareto_set), solution.error.kept
    units = atlas.units
    owner = {number: k for k, piece in enumerate(atlas.pieces) for number in piece.patches}
    return {
        "ideal": encode(units.ideal),
        "nadir": encode(units.ideal + units.span),
        "atlas": {
            "values": [list(own) for own in units.values],
            "units": {
                name: encode(getattr(units, name)) for name in ("lower", "upper", "origin", "unit")
            },
            "stretch": atlas.stretch,
            # by which the page asks patches as `ask_patches` does
            "tolerances": {
                "rounding": SCHEDULE.rounding,
                "lower": SCHEDULE.rounding,
                "sign": SCHEDULE.nearly,
                "lead": SCHEDULE.lead,
                "doubt": SCHEDULE.doubt,
                "nowhere": SCHEDULE.nowhere,
                "worse": SCHEDULE.patch_error,
            },
            "patches": [
                _describe_patch(patch, owner.get(number, -1))
                for number, patch in enumerate(atlas.patches)
            ],
            "pieces": [_describe_piece(solution, k) for k in range(len(atlas.pieces))],
        },
        "error": {
            "front": finite(error.front if error.by_objective is None else error.max),
            "max": finite(error.max),
            "predicted": None if error.by_objective is None else finite(error.rms),
            "coverage": finite(error.coverage),
            "n_samples": error.n_samples,
            "flags": [flag.value for flag in error.flags],
        },
    }


def atlas_footer(solution: Solution) -> str:
    """Where the page's numbers come from, and how the run ended."""
    patches = cast(BezierAtlas, solution.pareto_set).patches
    what = "its largest error at fresh points"
    if solution.surrogate is not None:
        what = (
            "the largest error of recent predictions by the surrogate, of evaluations that it had"
            " not seen"
        )
    return (
        f"Designs and objective values come from {len(patches)} polynomials, each valid where"
        f" its own signs say so; the ± beside each objective is {what}. The run: {solution.result}."
        " Made by bezierflow."
    )


def _describe_patch(patch: Patch, piece: int) -> dict[str, object]:
    """A patch without the multipliers of equalities, which trim nothing."""
    label = patch.label
    width = len(label.side) + 1 + len(label.objectives) + label.n_inequalities
    return {
        "objectives": label.objectives.astype(int).tolist(),
        "constraints": label.constraints[: label.n_inequalities].astype(int).tolist(),
        "side": label.side.tolist(),
        "trimmed": label.trimmed,
        "degree": patch.degree,
        "corners": encode(patch.corners),
        "points": encode(patch.control_points[:, :width]),
        "domain": encode(patch.domain),
        "piece": piece,
    }


def _describe_piece(solution: Solution, number: int) -> dict[str, object]:
    """A piece with some of its points, along it if it is a curve."""
    piece, t = solution.set.pieces[number], solution.set.piece_points(number)
    n_inequalities = cast(BezierAtlas, solution.pareto_set).patches[0].label.n_inequalities
    share = MOST_PLACES.get(solution.n_objectives, 1000) * len(t) / len(solution.set.sample_t)
    # Evenly along the sample: the points of a curve are in order.
    kept = np.linspace(0, len(t) - 1, min(len(t), max(FEWEST_PLACES, round(share))))
    return {
        "dimension": piece.dimension,
        "face": piece.face,
        "choice": solution.set.choice_text(number, solution.names),
        "side": piece.side.tolist(),
        "constraints": piece.constraints[:n_inequalities].astype(int).tolist(),
        "places": encode(t[np.round(kept).astype(int)]),
    }
