"""Any number of variables: how designs change along a path through the simplex."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..flow import Solution
from ..simplex import check_on_simplex
from .matplotlib_import import pyplot
from .palette import SERIES
from .space import heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEPS = 100
"""Points along each leg of a path."""

NAMED = 12
"""Up to so many variables are told apart by a legend; more are drawn alike."""


def paths(solution: Solution, through: ArrayLike | None = None, *, title: str = "") -> "Figure":
    """Draws objectives and variables along a path through points of the simplex, each in its own range; returns the figure.

    Parallel coordinates would show a few designs as broken lines; a surface has all the designs between them too.

    Args:
        solution: the solution.
        through: points of the simplex, one a row; all corners in turn and back to the first if not given.
        title: text above the picture.
    """
    _ = solution.flat_surface  # an atlas has none, and says so
    n_objectives, names = solution.n_objectives, solution.names
    if through is None:
        stops = np.eye(n_objectives)[[*range(n_objectives), 0]] if n_objectives > 2 else np.eye(2)
        corners = [int(np.argmax(stop)) for stop in stops]
        marks = [f"{names.best_word(m)}\n{names.objectives[m]}" for m in corners]
    else:
        stops = np.asarray(through, dtype=float)
        if stops.ndim != 2 or len(stops) < 2:
            raise ValueError(f"through must be at least two points of the simplex, one a row, got shape {stops.shape}")
        check_on_simplex(stops, n_objectives, "through")
        marks = [", ".join(f"{value:.2g}" for value in stop) for stop in stops]
    share = np.linspace(0, 1, STEPS, endpoint=False)[:, None]
    t = np.concatenate([*(a + share * (b - a) for a, b in pairwise(stops)), stops[-1:]])
    along = np.arange(len(t)) / STEPS
    figure, (above, below) = pyplot().subplots(2, 1, figsize=(7.2, 5.6), layout="constrained", sharex=True)
    _draw(above, along, np.asarray(solution.front(t)), names.axis_labels, "objectives")
    _draw(below, along, solution.flat_designs(t), names.variable_labels, "variables")
    for ax in (above, below):
        for k in range(len(stops)):
            ax.axvline(k, color="#cccccc", linewidth=0.8, zorder=0)
    below.set_xticks(range(len(stops)), marks)
    figure.suptitle(heading(title, solution))
    return figure


def _draw(ax: "Axes", along: np.ndarray, values: np.ndarray, labels: Sequence[str], kind: str) -> None:
    low, spread = values.min(axis=0), np.ptp(values, axis=0)
    relative = (values - low) / np.where(spread > 0, spread, 1.0)
    many = len(labels) > NAMED
    for k, label in enumerate(labels):
        look = {
            "color": SERIES[k % len(SERIES)],
            "linestyle": "-" if k < len(SERIES) else "--",
            "linewidth": 0.8 if many else 1.6,
        }
        ax.plot(along, relative[:, k], label=None if many else label, **look)
    ax.set_ylabel(f"{kind},\nshare of range")
    ax.margins(x=0)
    if not many:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)
