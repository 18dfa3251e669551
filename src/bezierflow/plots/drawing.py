"""What all pictures share: the check of their argument, Matplotlib when it is needed, colors and
grids, curves, and surfaces: in space lit, opaque, and seen from a side that shows them."""

from collections.abc import Callable, Sequence
from functools import wraps
from itertools import product
from textwrap import fill
from types import ModuleType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

import numpy as np
from jaxtyping import Array, Float, Int

from ..answer import Solution
from ..arguments import shown
from ..simplex import grid, index_positions, multi_indices

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType
    from mpl_toolkits.mplot3d.axes3d import Axes3D

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


def net_edges(n_objectives: int, degree: int) -> np.ndarray:
    """Pairs of control points whose multi-indices differ by one step from one objective to
    another."""
    below = multi_indices(n_objectives, degree - 1)[:, None, :] + np.eye(n_objectives, dtype=int)
    positions = index_positions(below)
    pairs = [positions[:, [i, j]] for i in range(n_objectives) for j in range(i + 1, n_objectives)]
    return np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0)


LEAST_LIGHT = 0.45
"""The share of its color that a face has whose normal is at right angles to the light."""

MOST_WHITE = 0.7
"""The share of white that is mixed into a face that looks into the light."""

LIGHT = np.array([0.35, 0.2, 0.92]) / np.linalg.norm([0.35, 0.2, 0.92])
"""Where the light comes from, in units of the coordinates' ranges: from above, as on the page of
`explore`."""

ELEVATIONS = (22.0, 34.0)
"""Degrees above the floor from which one looks: all three axes can be read."""

AZIMUTHS = tuple(range(15, 360, 15))
"""Degrees around the third axis; from a multiple of 90 one axis could not be seen."""


def draw_triangles(
    ax: "Axes3D",
    x: Float[np.ndarray, "n 3"],
    triangles: Int[np.ndarray, "m 3"],
    color: str | tuple[float, ...],
    label: str | None = None,
) -> None:
    """Triangles in one color, brighter where they face the light. Lines and points of the same axes
    are drawn over them. A label stands in the legend."""
    from matplotlib.colors import to_rgb
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    normals, dark = _normals(x, triangles), np.array(to_rgb(cast("ColorType", color)))
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(float).tiny)
    # Both sides of a face are lit: which one is seen depends on the view.
    light = np.abs(normals @ LIGHT)[:, None]
    dimmed, whitened = LEAST_LIGHT + (1 - LEAST_LIGHT) * 2 * light, MOST_WHITE * (2 * light - 1)
    shades = np.where(light < 0.5, dark * dimmed, dark + (1 - dark) * whitened)
    # Matplotlib would sort whole collections by their middles and hide lines on the surface.
    ax.computed_zorder = False
    had_data = bool(ax.collections or ax.lines)
    ax.add_collection3d(
        Poly3DCollection(
            x[triangles], facecolors=shades, edgecolors=shades, linewidths=0.3, zorder=1
        )
    )
    ax.auto_scale_xyz(*x.T, had_data=had_data)
    if label is not None:
        ax.plot([], [], [], color=color, linewidth=6, label=label)


def fill_triangles(
    ax: "Axes",
    x: Float[np.ndarray, "n 2"],
    triangles: Int[np.ndarray, "m 3"],
    color: str | tuple[float, ...],
    white: float = 0.0,
) -> None:
    """Triangles of the plane in one color, with a share of white mixed into it."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgb

    shade = white + (1 - white) * np.array(to_rgb(cast("ColorType", color)))
    # Edges in the same color close the hairlines between neighbors.
    look = {"facecolors": [shade], "edgecolors": [shade], "linewidths": 0.3, "zorder": 0.5}
    ax.add_collection(PolyCollection(list(x[triangles]), **look))
    ax.autoscale_view()


def face(ax: "Axes3D", x: Float[np.ndarray, "n 3"], triangles: Int[np.ndarray, "m 3"]) -> None:
    """Turns the view to where the triangles have the largest shadows: the side on which a surface
    is seen widest."""
    normals = _normals(x, triangles)
    sides = [
        (elevation, azimuth) for elevation in ELEVATIONS for azimuth in AZIMUTHS if azimuth % 90
    ]
    up, around = np.radians(np.array(sides)).T
    towards = np.stack([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])
    elevation, azimuth = sides[int(np.argmax(np.abs(normals @ towards).sum(axis=0)))]
    ax.view_init(elev=elevation, azim=azimuth)


def _normals(
    x: Float[np.ndarray, "n 3"], triangles: Int[np.ndarray, "m 3"]
) -> Float[np.ndarray, "m 3"]:
    """Normals as long as twice their triangles' areas, in units of the coordinates' ranges."""
    span = np.ptp(x, axis=0)
    corners = (x / np.where(span > 0, span, 1.0))[triangles]
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


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
    edge, name = grid(2, RESOLUTION), None if truth is None else truth_label
    for m, level in product(range(3), np.arange(lines) / lines):
        line = np.insert((1 - level) * edge, m, level, axis=1)
        ax.plot(*np.asarray(shape(line)).T, color=color, linewidth=width, label=name)
        name = None


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
