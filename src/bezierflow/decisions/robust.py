"""A choice that stays near the best while nobody knows the prices exactly."""

from collections.abc import Mapping
from itertools import product

import numpy as np

from ..flow import Solution
from .asking import answer_within, best_within, reach
from .choice import Choice
from .region import Region
from .wishes import Bounds, bounds_array, opened

MOST_VARYING = 8
"""So many weights may vary at once: every combination of their extremes counts, 256 for 8."""


def robust(
    solution: Solution | Region, weights: Mapping[str | int, tuple[float, float]], subject_to: Bounds | None = None
) -> Choice:
    """The point with the least regret while prices vary: min_t max_w [w·f(t) − min_s w·f(s)].

    For a fixed point the regret is a linear function of w minus a concave one, hence convex: its maximum over a box of weights
    is at a corner of the box. So the answer is exact for the whole range, not for a sample of it. `choice.value` is the
    largest regret: whatever the weights turn out to be, the best choice for them is better by no more than that.

    Args:
        solution: a solution, or a region of one.
        weights: (lowest, highest) price of each objective in objective units, by name or number; those left out are free.
        subject_to: bounds on objectives that must hold as well.
    """
    view, bounds = opened(solution, subject_to)
    box = bounds_array(view.solution, weights, "weights")
    given = np.asarray(np.isfinite(box).all(axis=1))
    if not isinstance(weights, Mapping) or given.sum() != len(weights) or (box[given] < 0).any() or not (box[given] > 0).any():
        raise ValueError(f"weights must give (lowest, highest) prices of at least 0, not all of them 0, got {weights!r}")
    box = np.where(given[:, None], box, 0.0)
    if (box[:, 0] < box[:, 1]).sum() > MOST_VARYING:
        raise ValueError(f"weights may vary for at most {MOST_VARYING} objectives at once, got {weights!r}")
    corners = np.array(list(product(*(sorted(set(pair)) for pair in box.tolist()))))
    # Regret grows in proportion with all weights: a corner that the box lets grow cannot be the worst.
    corners = corners[((corners == box[:, 1]) & (corners > 0)).any(axis=1)]
    within, zero = reach(view, bounds), np.zeros(1)
    least = []
    for prices in corners:
        size, found = best_within(view, prices[None], zero, within)
        least.append(size * found.goal)
    return answer_within(view, f"least regret over {len(corners)} extremes of the weights", corners, np.array(least), bounds, within)
