"""Curves and triangles of two or three coordinates: what the pictures of a set and of a front have in common."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from jaxtyping import Array, Float

from ..flow import Solution
from ..simplex import grid
from .matplotlib_import import pyplot
from .palette import FLOW_COLOR, RESOLUTION, TRUTH_COLOR, grid_triangles, wire_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from mpl_toolkits.mplot3d.axes3d import Axes3D

Map = Callable[[np.ndarray], Float[Array | np.ndarray, "n n_coordinates"]]
"""A map of many t at once, one a row, to points, one a row."""


def axes_or_new(ax: "Axes | None", size: tuple[float, float] = (6.4, 5.2), n_coordinates: int = 2) -> "Axes":
    """The axes given, or those of a new figure of this size in inches: flat, or in space for three coordinates."""
    if ax is not None:
        return ax
    figure = pyplot().figure(figsize=size, layout="constrained")
    return figure.add_subplot(projection="3d") if n_coordinates == 3 else figure.add_subplot()


def draw_image(ax: "Axes", image: Map, truth: Map | None, n_objectives: int, label: str, truth_label: str) -> None:
    """The image of the simplex under a map, and under the true one as black lines."""
    if n_objectives == 3:
        _draw_triangle(ax, image, label)
        _draw_frame(ax, image, truth, truth_label)
        return
    t = grid(2, 5 * RESOLUTION)
    if truth is not None:
        ax.plot(*np.asarray(truth(t)).T, color=TRUTH_COLOR, linewidth=2.4, label=truth_label)
    ax.plot(*np.asarray(image(t)).T, color=FLOW_COLOR, linestyle="--" if truth else "-", linewidth=2, label=label)


def _draw_triangle(ax: "Axes", image: Map, label: str) -> None:
    """The image of the triangle as a half-transparent surface, in space or in the plane."""
    x, triangles = np.asarray(image(grid(3, RESOLUTION))), grid_triangles(RESOLUTION)
    if x.shape[1] == 3:
        in_space = cast("Axes3D", ax)
        in_space.plot_trisurf(*x.T, triangles=triangles, color=FLOW_COLOR, alpha=0.45, linewidth=0, label=label)
    else:
        ax.tripcolor(*x.T, triangles=triangles, facecolors=np.zeros(len(triangles)), alpha=0.4, cmap="Blues")
        ax.plot([], [], color=FLOW_COLOR, label=label)


def _draw_frame(ax: "Axes", image: Map, truth: Map | None, truth_label: str) -> None:
    """The true image of the triangle as a wire frame; where it is not known, the image's own edges."""
    if truth is None:
        for line in wire_frame(1, RESOLUTION):
            ax.plot(*np.asarray(image(line)).T, color=FLOW_COLOR, linewidth=1.2)
        return
    for number, line in enumerate(wire_frame(10, RESOLUTION)):
        ax.plot(*np.asarray(truth(line)).T, color=TRUTH_COLOR, linewidth=0.7, label=None if number else truth_label)


def heading(title: str, solution: object) -> str:
    """The title, below a line that says so where the result is doubtful."""
    if not isinstance(solution, Solution) or not solution.result.doubtful:
        return title
    return f"{solution.result.reason.value}: read solution.result before you use this\n{title}".strip()


def finish(ax: "Axes", labels: Sequence[str], title: str) -> "Axes":
    """Labels, a view from above in space, a legend."""
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    if len(labels) == 3:
        in_space = cast("Axes3D", ax)
        in_space.set_zlabel(labels[2])
        in_space.view_init(elev=24, azim=-52)
    ax.set_title(title)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="upper left" if len(labels) == 3 else "best", frameon=False)
    return ax
