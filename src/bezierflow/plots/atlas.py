"""Pictures of a set that is made of pieces: over the simplex, in objectives and in variables, one
color per piece."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..answer import Solution
from ..simplex import grid
from .light import draw_triangles, face
from .space import axes_or_new, heading
from .style import FLOW_COLOR, grid_triangles, of_solution
from .ternary import CORNERS, draw_corners

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from mpl_toolkits.mplot3d.axes3d import Axes3D

FINE = 320
"""Steps along a side of the simplex of three objectives."""

LONGEST = 12.0
"""Triangles with a side this many times longer than usual span a gap."""

Image = Callable[[np.ndarray], np.ndarray]
"""From points of the simplex to points, one per row."""


@of_solution
def chart(solution: Solution, *, title: str = "", ax: "Axes | None" = None) -> "Axes":
    """Draws the simplex with the pieces that answer at each t, one color per piece, and returns the
    axes.

    Places with fewer active objectives, whose answers lie on edges of the front, are pale. For two
    objectives the simplex is a line, and the objectives are drawn above it.
    """
    if not solution.set.trimmed:
        raise TypeError(
            "chart draws a set of pieces, and this Pareto set is one surface; plots.surface draws"
            " it"
        )
    if solution.n_objectives not in (2, 3):
        raise ValueError(
            f"chart draws 2 or 3 objectives, got {solution.n_objectives}; plots.pairs draws any"
            " number"
        )
    ax = axes_or_new(ax)
    (_draw_line if solution.n_objectives == 2 else _draw_regions)(ax, solution)
    ax.set_title(heading(title, solution))
    return ax


def draw_pieces(ax: "Axes", solution: Solution, image: Image) -> None:
    """The pieces of a set under a map from the simplex: curves and points as such, surfaces as
    triangles.

    The legend says which variables are at their bounds on each piece, and which constraints hold
    with equality, by their names.
    """
    found, colors = solution.set, piece_colors(solution)
    if solution.n_objectives == 3:
        _draw_surfaces(ax, solution, image)
    for number, piece in enumerate(found.pieces):
        if piece.face:
            continue
        if piece.dimension == 0:
            x = image(found.piece_points(number)[:1])
            ax.scatter(*x.T, s=30, color=colors[number], zorder=5)
        elif piece.dimension == 1:
            look = {"linewidth": 2.2, "label": found.piece_text(number, solution.names)}
            ax.plot(*image(found.piece_points(number)).T, color=colors[number], **look)


def piece_colors(solution: Solution) -> dict[int, tuple[float, ...]]:
    """A color for each piece by its number; one where there is a single piece."""
    from matplotlib import colormaps

    own = [number for number, piece in enumerate(solution.set.pieces) if not piece.face]
    table = colormaps["tab20" if len(own) > 10 else "tab10"]
    return {number: tuple(table(k % table.N)) for k, number in enumerate(own)}


def _draw_surfaces(ax: "Axes", solution: Solution, image: Image) -> None:
    """Triangles of the simplex, each on the piece that its middle is on; those that span a gap of
    the set are left out."""
    found, colors = solution.set, piece_colors(solution)
    # Only the part of the simplex that the front reaches is looked at, so that steps are short.
    low = found.sample_t.min(axis=0)
    t, triangles = low + (1 - low.sum()) * grid(3, FINE), grid_triangles(FINE)
    answered_by, x = found.owners(t[triangles].mean(axis=1)), image(t)
    length = np.max(
        [np.linalg.norm(x[triangles[:, i]] - x[triangles[:, i - 1]], axis=1) for i in range(3)],
        axis=0,
    )
    own = [number for number, piece in enumerate(found.pieces) if not piece.face]
    on_set = np.isin(answered_by, own)
    if x.shape[1] == 3 and on_set.any():
        face(cast("Axes3D", ax), x, triangles[on_set])
    for number, piece in enumerate(found.pieces):
        mine = answered_by == number
        if piece.dimension < 2 or piece.face or not mine.any():
            continue
        inside = triangles[mine & (length <= LONGEST * np.median(length[mine]))]
        used, local = np.unique(inside, return_inverse=True)
        local = local.reshape(inside.shape)
        label = found.piece_text(number, solution.names)
        if x.shape[1] == 3:
            draw_triangles(cast("Axes3D", ax), x[used], local, colors[number], label)
        else:
            from matplotlib.colors import ListedColormap

            flat: Any = ax
            one_color = ListedColormap([colors[number]])
            flat.tripcolor(*x[used].T, local, facecolors=np.zeros(len(local)), cmap=one_color)
            ax.plot([], [], color=colors[number], label=label)


def _draw_regions(ax: "Axes", solution: Solution) -> None:
    """The triangle with a color for each piece."""
    from matplotlib.collections import PolyCollection

    found, colors = solution.set, piece_colors(solution)
    t, triangles = grid(3, FINE), grid_triangles(FINE)
    numbers, places = found.owners(t[triangles].mean(axis=1)), t @ CORNERS
    shades = np.ones((len(triangles), 3))
    for number in np.unique(numbers[numbers >= 0]):
        piece, gray = found.pieces[number], 0.94 - 0.05 * (int(number) % 4)
        color = colors.get(int(number), (gray, gray, gray))
        shades[numbers == number] = color[:3]
        if piece.dimension == 2:
            label = found.piece_text(int(number), solution.names)
            ax.plot([], [], color=color, linewidth=6, label=label)
    # Edges in the color of their triangle close the hairlines between neighbors.
    look = {"facecolors": shades, "edgecolors": shades, "linewidths": 0.3}
    ax.add_collection(PolyCollection(list(places[triangles]), rasterized=True, **look))
    draw_corners(ax, solution.names)
    ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(0.98, 1.0))


def _draw_line(ax: "Axes", solution: Solution) -> None:
    """Both objectives in units of their ranges along the simplex of two; gaps are gray."""
    found, colors, names = solution.set, piece_colors(solution), solution.names
    t = grid(2, 2000)
    loss = (found.front(t) - found.front(np.eye(2)).min(axis=0)) / np.abs(found.scale)
    numbers = found.owners(t)
    for m, style in enumerate(("-", "--")):
        # The legend tells objectives by their dashes; colors tell pieces.
        ax.plot([], [], color="#555555", linestyle=style, label=names.objective_labels[m])
        ax.plot(t[:, 1], loss[:, m], color="#bbbbbb", linewidth=1, linestyle=style, zorder=1)
        for number in np.unique(numbers[numbers >= 0]):
            if found.pieces[number].dimension == 1:
                shown = np.where(numbers == number, loss[:, m], np.nan)
                color = colors.get(int(number), FLOW_COLOR)
                ax.plot(t[:, 1], shown, color=color, linewidth=2.4, linestyle=style)
    ends = [f"{names.best_word(m)} {name}" for m, name in enumerate(names.objectives)]
    ax.set_xlabel(f"t: from {ends[0]} to {ends[1]}")
    ax.set_ylabel("loss, share of range")
    ax.legend(frameon=False, fontsize=8)
