"""What all pictures share: the check of their argument, Matplotlib when it is needed, colors and
grids."""

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np

from ..answer import Solution
from ..arguments import shown
from ..simplex import grid, index_positions, multi_indices

FLOW_COLOR, TRUTH_COLOR, NET_COLOR = "#2a78d6", "#1b1b19", "#d9603b"
"""Blue for what was computed, black for the truth, orange for control points: told apart in gray
and by most eyes."""

CHOICE_COLOR = "#0f7b54"
"""Green for a person's choices."""

SERIES = ("#2a78d6", "#d9603b", "#0f7b54", "#8a4fbf", "#b8860b", "#1b1b19", "#c2417c", "#3f8f9f")
"""Colors of lines that are told apart by a legend."""

HEAT = "viridis"
"""The color map of heat maps: even to the eye, and readable in gray."""

RESOLUTION = 40
"""Grid points along an edge of the simplex: smooth to look at, small to store."""

P = ParamSpec("P")
T = TypeVar("T")


def of_solution(
    plot: Callable[Concatenate[Solution, P], T],
) -> Callable[Concatenate[Solution, P], T]:
    """Argument check shared by all plots: a TypeError for anything that is not a solution."""

    @wraps(plot)
    def checked(solution: Solution, *arguments: P.args, **keywords: P.kwargs) -> T:
        if not isinstance(solution, Solution):
            raise TypeError(
                "solution must be a bezierflow.Solution, from minimize or load, got"
                f" {shown(solution)}"
            )
        return plot(solution, *arguments, **keywords)

    return checked


def pyplot() -> ModuleType:
    """`matplotlib.pyplot`, or an ImportError that names the line to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'bezierflow[plots]'") from error
    return plt


def grid_triangles(resolution: int) -> np.ndarray:
    """The small triangles of a regular grid, as rows of grid positions: upward ones, then downward
    ones."""
    corners = np.eye(3, dtype=int)
    upward = multi_indices(3, resolution - 1)[:, None, :] + corners
    if resolution == 1:  # one triangle, none upside down
        return index_positions(upward)
    downward = multi_indices(3, resolution - 2)[:, None, :] + (1 - corners)
    return np.concatenate([index_positions(upward), index_positions(downward)])


def wire_frame(lines: int, resolution: int) -> list[np.ndarray]:
    """Lines t_m = const through the triangle, and its edges."""
    levels, edge = np.arange(lines) / lines, grid(2, resolution)
    return [np.insert((1 - s) * edge, m, s, axis=1) for m in range(3) for s in levels]


def net_edges(n_objectives: int, degree: int) -> np.ndarray:
    """Pairs of control points whose multi-indices differ by one step from one objective to
    another."""
    below = multi_indices(n_objectives, degree - 1)[:, None, :] + np.eye(n_objectives, dtype=int)
    positions = index_positions(below)
    pairs = [positions[:, [i, j]] for i in range(n_objectives) for j in range(i + 1, n_objectives)]
    return np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0)
