"""Many objectives, two at a time."""

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ..answer import Solution
from ..simplex import grid, spread_nodes
from .space import heading
from .style import FLOW_COLOR, SERIES, of_solution, pyplot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JUMP = 0.1
"""Neighbors along an edge that lie farther apart, in shares of the ranges, are on two pieces."""

N_POINTS = 3000
"""Points of the front in each panel."""


@of_solution
def pairs(solution: Solution, *, title: str = "") -> "Figure":
    """Draws every pair of objectives: the whole front's shadow, with the edge of those two
    objectives; returns the figure.

    On the edge only those two objectives are traded, so it bounds the shadow from below.
    """
    n_objectives, labels = solution.n_objectives, solution.names.axis_labels
    cloud = np.zeros((0, n_objectives))
    if solution.set.trimmed:
        cloud = solution.names.signs * solution.set.sample_f
    elif n_objectives > 2:  # the front of two objectives is the edge itself
        cloud = np.asarray(solution.front(spread_nodes(n_objectives, N_POINTS).t))
    # A lower triangle of panels: objective 1 is never up, the last never across.
    n = n_objectives - 1
    figure, axes = pyplot().subplots(
        n, n, figsize=(2.2 * n + 1.2, 2.2 * n + 0.8), layout="constrained", squeeze=False
    )
    for ax in axes[np.triu_indices(n, 1)]:
        ax.set_visible(False)
    for across, up in combinations(range(n_objectives), 2):
        ax = axes[up - 1, across]
        look = {"s": 1.5, "color": FLOW_COLOR, "alpha": 0.25, "linewidths": 0}
        ax.scatter(cloud[:, across], cloud[:, up], rasterized=True, **look)
        edge = np.asarray(solution.front(_edge(across, up, n_objectives)))
        ax.plot(*_with_gaps(edge[:, [across, up]], solution).T, color=SERIES[1], linewidth=1.6)
        ax.tick_params(labelsize=8)
        if up == n_objectives - 1:
            ax.set_xlabel(labels[across])
        if across == 0:
            ax.set_ylabel(labels[up])
    figure.suptitle(heading(title, solution))
    return figure


@of_solution
def edges(solution: Solution, *, title: str = "") -> "Figure":
    """Draws the bi-objective front on each edge of the simplex, where only two objectives are
    traded; returns the figure."""
    n_objectives, labels = solution.n_objectives, solution.names.axis_labels
    both = list(combinations(range(n_objectives), 2))
    columns = min(3, len(both))
    rows = -(-len(both) // columns)
    figure, axes = pyplot().subplots(
        rows, columns, figsize=(3.1 * columns, 2.7 * rows), layout="constrained", squeeze=False
    )
    for ax in axes.ravel()[len(both) :]:
        ax.set_visible(False)
    for ax, (across, up) in zip(axes.ravel(), both, strict=False):
        f = np.asarray(solution.front(_edge(across, up, n_objectives)))
        ax.plot(*_with_gaps(f[:, [across, up]], solution).T, color=FLOW_COLOR, linewidth=2)
        ax.scatter(f[[0, -1], across], f[[0, -1], up], s=18, color=FLOW_COLOR)
        ax.set_xlabel(labels[across])
        ax.set_ylabel(labels[up])
        ax.tick_params(labelsize=8)
    figure.suptitle(heading(title, solution))
    return figure


def _edge(i: int, j: int, n_objectives: int) -> np.ndarray:
    """Points t along the edge from e_i to e_j."""
    t = np.zeros((101, n_objectives))
    t[:, [i, j]] = grid(2, 100)
    return t


def _with_gaps(points: np.ndarray, solution: Solution) -> np.ndarray:
    """Points along an edge, with a break wherever a set of pieces jumps."""
    if not solution.set.trimmed:
        return points
    span = np.ptp(points, axis=0)
    steps = np.diff(points, axis=0) / np.where(span > 0, span, 1.0)
    jumps = np.flatnonzero(np.linalg.norm(steps, axis=1) > JUMP)
    return np.insert(points, jumps + 1, np.nan, axis=0)
