"""The knee: where the front bulges most, and one more gain in any objective begins to cost much."""

import numpy as np

from ..flow import Solution
from .asking import answer
from .choice import Choice
from .ranges import ranges
from .region import Region
from .wishes import Bounds, opened


def knee(solution: Solution | Region, subject_to: Bounds | None = None) -> Choice:
    """The point farthest below the plane through the front's corners, in units of each objective's range.

    (Das, "On characterizing the 'knee' of the Pareto curve based on normal-boundary intersection", Structural Optimization 18,
    1999.) `choice.value` is minus that distance: near 0 or above, the front has no knee and every point is as good a bargain.

    Args:
        solution: a solution, or a region of one.
        subject_to: bounds on objectives that must hold as well.
    """
    view, bounds = opened(solution, subject_to)
    span = ranges(view.solution)
    corners = (view.corners - span.ideal) / span.width
    normal = _plane_normal(corners)
    offset = normal @ corners.mean(axis=0)
    goal = (normal / span.width)[None]
    return answer(view, "the knee of the front", goal, goal @ span.ideal + offset, bounds)


def _plane_normal(corners: np.ndarray) -> np.ndarray:
    """The unit normal of the plane through the corners that points away from the ideal; the diagonal where corners span none."""
    n_objectives = len(corners)
    diagonal = np.full(n_objectives, n_objectives**-0.5)
    _, sizes, directions = np.linalg.svd(corners[1:] - corners[0])
    normal = directions[-1] * np.sign(directions[-1].sum() or 1.0)
    # A normal with a negative entry would praise a worse value of that objective.
    return normal if sizes[-1] > 1e-9 and (normal >= 0).all() else diagonal
