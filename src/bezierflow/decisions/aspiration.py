"""The nearest to what a person hopes for, whether it can be had or not."""

from collections.abc import Mapping, Sequence

import numpy as np

from ..flow import Solution
from .asking import answer
from .choice import Choice
from .ranges import ranges
from .region import Region
from .wishes import Bounds, in_words, nonnegative, numbers, opened

AUGMENTATION = 1e-4
"""The share of the sum beside the maximum: among points equally near the one that no other dominates is chosen."""


def nearest(
    solution: Solution | Region,
    aspiration: Mapping[str | int, float] | Sequence[float],
    importance: Mapping[str | int, float] | Sequence[float] | None = None,
    subject_to: Bounds | None = None,
) -> Choice:
    """The point of the front nearest to an aspiration point, by the augmented achievement scalarization.

    Minimizes max_m i_m (f_m − a_m)/r_m + ρ Σ_m i_m (f_m − a_m)/r_m, where r_m is the range of objective m over the front, so
    that no objective counts more for being measured in small units (Wierzbicki, "The use of reference objectives in
    multiobjective optimization", 1980). If the aspiration can be reached, the answer is better than it in every objective.

    Args:
        solution: a solution, or a region of one.
        aspiration: a value for each objective, as a sequence or by name; an objective left out of a mapping aims at its ideal.
        importance: i_m, how much each objective counts; all 1 if not given.
        subject_to: bounds on objectives that must hold as well.
    """
    view, bounds = opened(solution, subject_to)
    span = ranges(view.solution)
    if isinstance(aspiration, Mapping):
        named = numbers(view.solution, aspiration, "aspiration", default=0.0)
        left_out = numbers(view.solution, dict.fromkeys(aspiration, 1.0), "aspiration", default=0.0) == 0
        aim = np.where(left_out, span.ideal, named)
    else:
        aim = numbers(view.solution, aspiration, "aspiration")
    counts = np.ones(len(bounds)) if importance is None else nonnegative(view.solution, importance, "importance", default=1.0)
    rates = counts / span.width
    goals = np.diag(rates) + AUGMENTATION * rates
    return answer(view, f"nearest to {in_words(aim)}", goals, goals @ aim, bounds)
