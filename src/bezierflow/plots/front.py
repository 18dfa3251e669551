"""The front: objective values over the whole surface."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from ..flow import Solution
from ..precision import double_precision
from .palette import CHOICE_COLOR
from .space import draw_image, finish, new_axes


def front(solution: Solution, *, choices: Sequence[Any] = (), points: Any = None, title: str = "", ax: Any = None) -> Any:
    """Draws the front of two or three objectives, and returns the axes.

    Args:
        solution: the solution. Where its problem knows the exact Pareto set, the exact front is drawn as black lines.
        choices: answers of `bezierflow.decisions`, or anything with `f`, marked on the front.
        points: objective vectors to mark, one a row, such as another method's samples.
        title: text above the picture.
        ax: axes to draw into; a new figure if None.
    """
    n_objectives = solution.n_objectives
    if n_objectives not in (2, 3):
        raise ValueError(f"front draws 2 or 3 objectives, got {n_objectives}; plots.pairs draws any number")
    truth = partial(_exact_front, solution.objectives) if hasattr(solution.objectives, "pareto_point") else None
    ax = new_axes(n_objectives, ax)
    draw_image(ax, lambda t: np.asarray(solution.front(t)), truth, n_objectives, "Bézier simplex", "Pareto front")
    if points is not None:
        ax.scatter(*np.atleast_2d(points).T, s=12, color="#777777", label="points")
    if choices:
        ax.scatter(*np.array([choice.f for choice in choices]).T, s=46, color=CHOICE_COLOR, label="choices", zorder=6)
    return finish(ax, solution.names.objective_labels, title)


def _exact_front(problem: Any, t: np.ndarray) -> np.ndarray:
    """The objective values of the exact Pareto set, for a problem that knows it."""
    with double_precision():
        return np.asarray(jax.vmap(problem)(np.asarray(problem.pareto_point(t))))
