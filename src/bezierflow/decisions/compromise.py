"""The least total when every objective has a price."""

from collections.abc import Mapping, Sequence

import numpy as np

from ..flow import Solution
from .asking import answer
from .choice import Choice
from .region import Region
from .wishes import Bounds, in_words, nonnegative, opened


def compromise(
    solution: Solution | Region, weights: Mapping[str | int, float] | Sequence[float], subject_to: Bounds | None = None
) -> Choice:
    """The point where Σ_m w_m f_m is least, with weights in objective units: what one unit of each objective is worth.

    Unlike t, which only says where on the surface a point lies, these weights are prices: `{"cost": 1, "emission": 40}` means
    that one unit of emission may cost 40 units of cost. Objectives left out of a mapping are free.

    Args:
        solution: a solution, or a region of one.
        weights: a number of at least 0 for each objective, as a sequence or by name.
        subject_to: bounds on objectives that must hold as well.
    """
    view, bounds = opened(solution, subject_to)
    prices = nonnegative(view.solution, weights, "weights", default=0.0)
    return answer(view, f"least total at prices {in_words(prices)}", prices[None], np.zeros(1), bounds)
