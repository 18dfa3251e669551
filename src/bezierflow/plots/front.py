"""The front: objective values over the whole surface, and two objectives at a time."""

from collections.abc import Mapping, Sequence
from itertools import combinations, cycle
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from numpy.typing import ArrayLike

from ..answer import Solution
from ..precision import double_precision
from ..simplex import grid, spread_nodes
from .drawing import (
    CHOICE_COLOR,
    FLOW_COLOR,
    SERIES,
    Map,
    axes_or_new,
    draw_evaluated,
    draw_image,
    draw_points,
    finish,
    heading,
    of_solution,
    pyplot,
)
from .simplex import draw_pieces

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CHOICE_MARKERS = "osD^vP*X"
"""Choices are told apart by their shape, in print and by color-blind eyes too."""

N_CROSSES, WIDE = 15, 2.0
"""At so many points the front of a surrogate has crosses that say how uncertain it is: so many
standard deviations each way."""


@of_solution
def front(
    solution: Solution,
    *,
    choices: Sequence[Any] | Mapping[str, Any] = (),
    points: ArrayLike | None = None,
    title: str = "",
    ax: "Axes | None" = None,
) -> "Axes":
    """Draws the front of two or three objectives, and returns the axes. The pieces of an atlas have
    colors of their own.

    That of a surrogate has its best evaluations beside it, and, for two objectives, crosses of two
    standard deviations each way.

    Args:
        solution: the solution. Where its problem knows the exact Pareto set, the exact front is
            drawn as black lines.
        choices: answers of `bezierflow.decisions`, or anything with `f`, each marked in its own
            shape; the legend has the keys of a mapping, else what was asked.
        points: objective vectors to mark, one a row, such as another method's samples.
        title: text above the picture.
        ax: axes to draw into; a new figure if None.
    """
    n_objectives = solution.n_objectives
    if n_objectives not in (2, 3):
        raise ValueError(
            f"front draws 2 or 3 objectives, got {n_objectives}; plots.pairs draws any number"
        )
    ax = axes_or_new(ax, n_coordinates=n_objectives)
    if solution.set.trimmed:
        others = len(choices) + sum(
            one is not None for one in (solution.evaluated, solution.surrogate, points)
        )
        draw_pieces(ax, solution, lambda t: np.asarray(solution.front(t)), others)
    else:
        exact = _exact_front(solution)
        draw_image(ax, solution.front, exact, n_objectives, "Bézier simplex", "Pareto front")
    if solution.evaluated is not None:
        draw_evaluated(ax, solution.evaluated.F[solution.evaluated.nondominated])
    if solution.surrogate is not None and n_objectives == 2:
        t = solution.spread(N_CROSSES).t
        across, up = WIDE * np.asarray(solution.front_std(t)).T
        look = {"fmt": "none", "ecolor": FLOW_COLOR, "elinewidth": 1.0, "alpha": 0.6}
        f, label = np.asarray(solution.front(t)), f"±{WIDE:g} standard deviations"
        ax.errorbar(*f.T, xerr=across, yerr=up, label=label, **look)
    if points is not None:
        ax.scatter(*np.atleast_2d(points).T, s=12, color="#777777", label="points")
    if isinstance(choices, Mapping):
        named = list(choices.items())
    else:
        named = [(getattr(choice, "question", "choice"), choice) for choice in choices]
    look = {"s": 60, "color": CHOICE_COLOR, "edgecolor": "white", "zorder": 6}
    for (name, choice), marker in zip(named, cycle(CHOICE_MARKERS), strict=False):
        draw_points(ax, np.atleast_2d(choice.f), label=name, marker=marker, **look)
    return finish(ax, solution.names.axis_labels, heading(title, solution))


def _exact_front(solution: Solution) -> Map | None:
    """The map from t to the objective values of the exact Pareto set, for a problem that knows
    it."""
    objectives = solution.objectives
    pareto_point = getattr(objectives, "pareto_point", None)
    # it is that of the minimized problem
    if objectives is None or pareto_point is None or (solution.names.signs < 0).any():
        return None

    def exact(t: np.ndarray) -> np.ndarray:
        with double_precision():
            return np.asarray(jax.vmap(objectives)(np.asarray(pareto_point(t))))

    return exact


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
        ax.plot(*_edge_front(solution, across, up).T, color=SERIES[1], linewidth=1.6)
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
        f = _edge_front(solution, across, up)
        ax.plot(*f.T, color=FLOW_COLOR, linewidth=2)
        ax.scatter(*f[[0, -1]].T, s=18, color=FLOW_COLOR)
        ax.set_xlabel(labels[across])
        ax.set_ylabel(labels[up])
        ax.tick_params(labelsize=8)
    figure.suptitle(heading(title, solution))
    return figure


def _edge_front(solution: Solution, i: int, j: int) -> np.ndarray:
    """Two objectives along the edge from e_i to e_j, with a break wherever a set of pieces
    jumps."""
    t = np.zeros((101, solution.n_objectives))
    t[:, [i, j]] = grid(2, 100)
    points = np.asarray(solution.front(t))[:, [i, j]]
    if not solution.set.trimmed:
        return points
    span = np.ptp(points, axis=0)
    steps = np.diff(points, axis=0) / np.where(span > 0, span, 1.0)
    jumps = np.flatnonzero(np.linalg.norm(steps, axis=1) > JUMP)
    return np.insert(points, jumps + 1, np.nan, axis=0)
