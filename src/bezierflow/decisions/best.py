"""The best in one objective while others keep within bounds: "the cheapest with quality at least 8.3"."""

import numpy as np

from ..flow import Solution
from .asking import answer
from .choice import Choice
from .region import Region
from .wishes import Bounds, objective_number, opened


def best(solution: Solution | Region, minimize: str | int, subject_to: Bounds | None = None) -> Choice:
    """The point of the front where one objective is smallest while others obey bounds.

    Args:
        solution: a solution, or a region of one.
        minimize: the objective, by name or number (from 0).
        subject_to: bounds on objectives, `{"weight": (None, 3.0)}`: (lowest, highest), None for no bound.

    Returns:
        The choice. If no point obeys all bounds: the one that breaks them least, in units of each objective's range, and
        `choice.gave` says by how much.
    """
    view, bounds = opened(solution, subject_to)
    m = objective_number(view.solution, minimize, "minimize")
    goal = np.eye(len(bounds))[m : m + 1]
    return answer(view, f"least {view.solution.names.objectives[m]}{_in_words(view.solution, bounds)}", goal, np.zeros(1), bounds)


def _in_words(solution: Solution, bounds: np.ndarray) -> str:
    parts = []
    for name, (low, high) in zip(solution.names.objectives, bounds, strict=True):
        if np.isfinite(low):
            parts.append(f"{name} at least {low:.6g}")
        if np.isfinite(high):
            parts.append(f"{name} at most {high:.6g}")
    return " with " + ", ".join(parts) if parts else ""
