"""pytorch-bsf: its models as surfaces and back, control points exact. Both libraries list
multi-indices in the same order."""

from typing import Any

import numpy as np

from ..bezier import BezierSimplex
from . import require

Model = Any
"""A `torch_bsf.BezierModel`. Its library brings torch along, which is large, so that nothing here
imports it for its types."""

LINE = "pip install pytorch-bsf"


def from_model(model: Model) -> BezierSimplex:
    """The surface of a `torch_bsf.BezierModel` whose space is one simplex."""
    # a space may be glued from several simplices and products of them
    space = model.space
    cells = [space.cells[number] for number in space.main_cells]
    if len(cells) != 1 or len(cells[0].dimensions) != 1:
        raise ValueError(
            f"model must be over one simplex, got {len(cells)} cells of dimensions"
            f" {[c.dimensions for c in cells]}"
        )
    points = model.coefficients.detach().cpu().numpy()
    return BezierSimplex(
        points[np.array(cells[0].controls)], cells[0].dimensions[0] + 1, cells[0].degree[0]
    )


def to_model(surface: BezierSimplex) -> Model:
    """A `torch_bsf.BezierModel` with the control points of a surface into R^L over two objectives
    or more."""
    torch_bsf = require("torch_bsf", "pytorch-bsf", LINE)
    points = surface.on_host().control_points
    if not isinstance(points, np.ndarray) or points.ndim != 2 or surface.n_objectives < 2:
        raise ValueError(
            "surface must go into R^L, with one matrix of control points, over two objectives or"
            " more; solution.flat_surface does"
        )
    return torch_bsf.BezierModel(
        torch_bsf.BezierSpace.simplex(surface.n_objectives - 1, degree=surface.degree), points
    )
