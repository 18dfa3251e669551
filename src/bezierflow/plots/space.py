"""Curves and triangles of two or three coordinates: what the pictures of a set and of a front have in common."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..simplex import grid
from .matplotlib_import import pyplot
from .palette import FLOW_COLOR, RESOLUTION, TRUTH_COLOR, grid_triangles, wire_frame

Map = Callable[[np.ndarray], np.ndarray]


def new_axes(dimensions: int, ax: Any = None) -> Any:
    """The axes given, or those of a new figure: flat, or in space for three coordinates."""
    if ax is not None:
        return ax
    figure = pyplot().figure(figsize=(6.4, 5.2), layout="constrained")
    return figure.add_subplot(projection="3d") if dimensions == 3 else figure.add_subplot()


def draw_image(ax: Any, image: Map, truth: Map | None, n_objectives: int, label: str, truth_label: str) -> None:
    """The image of the simplex under a map, and under the true one as black lines."""
    if n_objectives == 3:
        _draw_triangle(ax, image, truth, label, truth_label)
    else:
        t = grid(2, 5 * RESOLUTION)
        if truth is not None:
            ax.plot(*np.asarray(truth(t)).T, color=TRUTH_COLOR, linewidth=2.4, label=truth_label)
        ax.plot(*np.asarray(image(t)).T, color=FLOW_COLOR, linestyle="--" if truth else "-", linewidth=2, label=label)


def _draw_triangle(ax: Any, image: Map, truth: Map | None, label: str, truth_label: str) -> None:
    x, triangles = np.asarray(image(grid(3, RESOLUTION))), grid_triangles(RESOLUTION)
    if x.shape[1] == 3:
        ax.plot_trisurf(*x.T, triangles=triangles, color=FLOW_COLOR, alpha=0.45, linewidth=0, label=label)
    else:
        ax.tripcolor(*x.T, triangles=triangles, facecolors=np.zeros(len(triangles)), alpha=0.4, cmap="Blues")
        ax.plot([], [], color=FLOW_COLOR, label=label)
    for number, line in enumerate(wire_frame(10, RESOLUTION) if truth is not None else []):
        ax.plot(*np.asarray(truth(line)).T, color=TRUTH_COLOR, linewidth=0.7, label=None if number else truth_label)  # type: ignore[misc]
    for line in wire_frame(1, RESOLUTION) if truth is None else []:
        ax.plot(*np.asarray(image(line)).T, color=FLOW_COLOR, linewidth=1.2)


def finish(ax: Any, labels: Sequence[str], title: str) -> Any:
    """Labels, a view from above in space, a legend."""
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    if len(labels) == 3:
        ax.set_zlabel(labels[2])
        ax.view_init(elev=24, azim=-52)
    ax.set_title(title)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="upper left" if len(labels) == 3 else "best", frameon=False)
    return ax
