"""The surface in space, beside the true Pareto set where it is known."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..bezier import BezierSimplex
from ..flow import Solution
from ..simplex import grid, index_positions, multi_indices
from .matplotlib_import import pyplot

FLOW_COLOR, TRUTH_COLOR, NET_COLOR = "#2a78d6", "#1b1b19", "#d9603b"
"""Blue for what was computed, black for the truth, orange for control points: told apart in gray and by most eyes."""

RESOLUTION = 40
"""Grid points along an edge of the simplex: smooth to look at, small to store."""


def surface(
    solution: Solution | BezierSimplex,
    *,
    truth: Callable[[np.ndarray], np.ndarray] | None = None,
    net: bool = False,
    title: str = "",
    ax: Any = None,
) -> Any:
    """Draws the Pareto set of two or three objectives in two or three variables, and returns the axes.

    Args:
        solution: a solution, or a surface alone.
        truth: the exact set as a map t -> x, drawn as a wire frame. Taken from the problem where it knows one.
        net: draw the control points too.
        title: text above the picture.
        ax: axes to draw into; a new figure if None.
    """
    shape = solution.flat_surface if isinstance(solution, Solution) else solution
    dimensions = shape.n_variables
    if shape.n_objectives not in (2, 3) or dimensions not in (2, 3):
        raise ValueError(
            f"surface draws 2 or 3 objectives in 2 or 3 variables, got {shape.n_objectives} objectives in {dimensions} variables"
        )
    labels = solution.names.variable_labels if isinstance(solution, Solution) else [f"x{i + 1}" for i in range(dimensions)]
    if truth is None and isinstance(solution, Solution):
        truth = getattr(solution.objectives, "pareto_point", None)
    if ax is None:
        figure = pyplot().figure(figsize=(6.4, 5.2), layout="constrained")
        ax = figure.add_subplot(projection="3d") if dimensions == 3 else figure.add_subplot()

    if shape.n_objectives == 3:
        _draw_triangle(ax, shape, truth)
    else:
        _draw_curve(ax, shape, truth)
    if net:
        points = np.asarray(shape.control_points)
        ax.scatter(*points.T, s=14, color=NET_COLOR, label="control points", zorder=5)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    if dimensions == 3:
        ax.set_zlabel(labels[2])
        if shape.n_objectives == 3:
            ax.view_init(**_facing(np.array([np.asarray(shape.vertex(m)) for m in range(3)])))
    ax.set_title(title)
    ax.legend(loc="upper left", frameon=False)
    return ax


def _draw_triangle(ax: Any, shape: BezierSimplex, truth: Callable | None) -> None:
    t, triangles = grid(3, RESOLUTION), _grid_triangles(RESOLUTION)
    x = np.asarray(shape(t))
    if x.shape[1] == 3:
        ax.plot_trisurf(*x.T, triangles=triangles, color=FLOW_COLOR, alpha=0.45, linewidth=0, label="Bézier simplex")
    else:
        ax.tripcolor(*x.T, triangles=triangles, facecolors=np.zeros(len(triangles)), alpha=0.4, cmap="Blues")
        ax.plot([], [], color=FLOW_COLOR, label="Bézier simplex")
    if truth is not None:
        for number, line in enumerate(_wire_frame(10, RESOLUTION)):
            ax.plot(*np.asarray(truth(line)).T, color=TRUTH_COLOR, linewidth=0.7, label="Pareto set" if number == 0 else None)


def _draw_curve(ax: Any, shape: BezierSimplex, truth: Callable | None) -> None:
    t = grid(2, 5 * RESOLUTION)
    if truth is not None:
        ax.plot(*np.asarray(truth(t)).T, color=TRUTH_COLOR, linewidth=2.4, label="Pareto set")
    ax.plot(*np.asarray(shape(t)).T, color=FLOW_COLOR, linestyle="--", label="Bézier simplex")


def _facing(corners: np.ndarray) -> dict[str, float]:
    """A view that faces the triangle of the corners, a little from the side so that its bend shows; angles in degrees."""
    corners = (corners - corners.min(axis=0)) / np.maximum(np.ptp(corners, axis=0), 1e-12)
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    normal = normal if normal[2] >= 0 else -normal
    azimuth = np.degrees(np.arctan2(normal[1], normal[0]))
    elevation = np.degrees(np.arctan2(normal[2], np.hypot(normal[0], normal[1])))
    return {"azim": float(azimuth) - 25, "elev": float(np.clip(elevation, 10, 50))}


def _grid_triangles(resolution: int) -> np.ndarray:
    """The small triangles of a regular grid, as rows of grid positions: upward ones, then downward ones."""
    corners = np.eye(3, dtype=int)
    upward = multi_indices(3, resolution - 1)[:, None, :] + corners
    downward = multi_indices(3, resolution - 2)[:, None, :] + (1 - corners)
    return np.concatenate([index_positions(upward), index_positions(downward)])


def _wire_frame(lines: int, resolution: int) -> list[np.ndarray]:
    """Lines t_m = const through the triangle, and its edges."""
    frame = []
    for m in range(3):
        for level in np.arange(lines) / lines:
            line = np.insert((1 - level) * grid(2, resolution), m, level, axis=1)
            frame.append(line)
    return frame
