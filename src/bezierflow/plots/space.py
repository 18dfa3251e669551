"""Curves and triangles of two or three coordinates: what the pictures of a set and of a front have
in common."""

from collections.abc import Callable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from jaxtyping import Array, Float

from ..answer import Solution
from ..simplex import grid
from .light import draw_triangles, face, fill_triangles
from .style import FLOW_COLOR, RESOLUTION, TRUTH_COLOR, grid_triangles, pyplot, wire_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from mpl_toolkits.mplot3d.axes3d import Axes3D

LONG_LABEL = 24
"""Labels of axes in space with more characters are broken into lines."""

PALE = 0.7
"""The share of white in a surface of the plane, so that lines and points on it are seen."""

Map = Callable[[np.ndarray], Float[Array | np.ndarray, "n n_coordinates"]]
"""A map of many t at once, one a row, to points, one a row."""


def axes_or_new(
    ax: "Axes | None", size: tuple[float, float] = (6.4, 5.2), n_coordinates: int = 2
) -> "Axes":
    """The axes given, or those of a new figure of this size in inches: flat, or in space for three
    coordinates."""
    if ax is not None:
        return ax
    figure = pyplot().figure(figsize=size, layout="constrained")
    return figure.add_subplot(projection="3d") if n_coordinates == 3 else figure.add_subplot()


def draw_image(
    ax: "Axes", image: Map, truth: Map | None, n_objectives: int, label: str, truth_label: str
) -> None:
    """The image of the simplex under a map, and under the true one as black lines."""
    t = grid(n_objectives, RESOLUTION if n_objectives == 3 else 5 * RESOLUTION)
    x = np.asarray(image(t))
    if n_objectives == 2:
        if truth is not None:
            ax.plot(*np.asarray(truth(t)).T, color=TRUTH_COLOR, linewidth=2.4, label=truth_label)
        ax.plot(*x.T, "--" if truth else "-", color=FLOW_COLOR, linewidth=2, label=label)
        return
    triangles = grid_triangles(RESOLUTION)
    if x.shape[1] == 3:
        in_space = cast("Axes3D", ax)
        draw_triangles(in_space, x, triangles, FLOW_COLOR, label)
        face(in_space, x, triangles)
    else:
        fill_triangles(ax, x, triangles, FLOW_COLOR, PALE)
        ax.plot([], [], color=FLOW_COLOR, label=label)
    # The true image as a wire frame; where it is not known, the image's own edges.
    lines, shape = (1, image) if truth is None else (10, truth)
    color, width = (FLOW_COLOR, 1.2) if truth is None else (TRUTH_COLOR, 0.7)
    for number, line in enumerate(wire_frame(lines, RESOLUTION)):
        name = None if number or truth is None else truth_label
        ax.plot(*np.asarray(shape(line)).T, color=color, linewidth=width, label=name)


def draw_evaluated(ax: "Axes", points: Float[np.ndarray, "n n_coordinates"]) -> None:
    """Evaluations that no other one dominates; the others may be far away, and say nothing about
    the set."""
    look = {"facecolor": "white", "edgecolor": TRUTH_COLOR, "linewidth": 0.9}
    draw_points(ax, points, s=22, zorder=4, label="best evaluations", **look)


def draw_points(ax: "Axes", points: Float[np.ndarray, "n n_coordinates"], **look: Any) -> None:
    """Points as markers, in space not dimmed by their distance."""
    in_space = {"depthshade": False} if points.shape[1] == 3 else {}
    ax.scatter(*points.T, **look, **in_space)


def heading(title: str, solution: object) -> str:
    """The title, below a line that says so where the result is doubtful."""
    if not isinstance(solution, Solution) or not solution.result.doubtful:
        return title
    return (
        f"{solution.result.reason.value}: read solution.result before you use this\n{title}".strip()
    )


def finish(ax: "Axes", labels: Sequence[str], title: str) -> "Axes":
    """Labels and a legend."""
    # Matplotlib cuts off long labels of axes in space instead of making room.
    long = len(labels) == 3 and max(map(len, labels)) > LONG_LABEL
    shown = [fill(label, LONG_LABEL) if long else label for label in labels]
    ax.set_xlabel(shown[0])
    ax.set_ylabel(shown[1])
    if len(labels) == 3:
        in_space = cast("Axes3D", ax)
        in_space.set_zlabel(shown[2])
        in_space.set_box_aspect(None, zoom=0.95 if long else 1.05)  # type: ignore[arg-type]  # beyond that labels are cut off
        for axis, text in zip((in_space.xaxis, in_space.yaxis, in_space.zaxis), shown, strict=True):
            axis.labelpad = 2 + 8 * text.count("\n")
        in_space.tick_params(labelsize=8)
        in_space.locator_params(nbins=5)
    ax.set_title(title)
    names = ax.get_legend_handles_labels()[1]
    # pieces that have one name all are told apart by nothing
    if len(set(names)) > 1 or len(names) == 1:
        if len(names) > 3:
            below = (0.5, -0.02 if len(labels) == 3 else -0.12)
            ax.legend(frameon=False, loc="upper center", bbox_to_anchor=below, ncols=2, fontsize=8)
        else:
            ax.legend(frameon=False, loc="upper left" if len(labels) == 3 else "best")
    return ax
