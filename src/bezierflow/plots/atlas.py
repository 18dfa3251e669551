"""Pictures of a set that is made of pieces: over the simplex, in objectives and in variables, one
color per piece."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

import numpy as np

from ..answer import Solution
from ..simplex import grid
from .drawing import (
    FLOW_COLOR,
    axes_or_new,
    draw_triangles,
    face,
    fill_triangles,
    grid_triangles,
    heading,
    of_solution,
)
from .ternary import CORNERS, draw_corners

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from mpl_toolkits.mplot3d.axes3d import Axes3D

FINE = 320
"""Steps along a side of the simplex of three objectives."""

LONGEST = 12.0
"""Triangles with a side this many times longer than usual span a gap."""

MOST_ENTRIES = 8
"""Of a legend: more of them cover the picture, and their colors are no longer told apart."""

SHARES = 60
"""Steps along a side of the simplex by which pieces are compared."""

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


def draw_pieces(ax: "Axes", solution: Solution, image: Image, other_entries: int = 0) -> None:
    """The pieces of a set under a map from the simplex: curves and points as such, surfaces as
    triangles.

    The legend says which variables are at their bounds on each piece, and which constraints hold
    with equality, by their names. It leaves room for `other_entries`.
    """
    found, colors = solution.set, piece_colors(solution)
    drawn: dict[int, Line2D | None] = {}
    if solution.n_objectives == 3:
        drawn |= dict.fromkeys(_draw_surfaces(ax, solution, image))
    for number, piece in enumerate(found.pieces):
        if piece.face:
            continue
        if piece.dimension == 0:
            x = image(found.piece_points(number)[:1])
            ax.scatter(*x.T, s=30, color=colors[number], zorder=5)
            drawn |= {number: None} if piece.choice else {}
        elif piece.dimension == 1:
            x = image(found.piece_points(number))
            drawn[number] = ax.plot(*x.T, color=colors[number], linewidth=2.2)[0]
    _name_pieces(ax, solution, drawn, max(2, MOST_ENTRIES - other_entries))


def _name_pieces(
    ax: "Axes", solution: Solution, drawn: "Mapping[int, Line2D | None]", room: int
) -> None:
    """Entries of the legend for pieces. Where there is not room for all, those that answer the
    largest shares of the simplex have one, and the last entry counts the others. A choice has one
    entry, however many pieces it has."""
    found, colors, names = solution.set, piece_colors(solution), solution.names
    texts: dict[int, str] = {}
    for number in drawn:
        choice = found.choice_text(number, names)
        if not choice or choice not in texts.values():
            texts[number] = choice or found.piece_text(number, names)
    named = sorted(texts)
    if len(named) > room:
        answered_by = found.owners(grid(solution.n_objectives, SHARES))
        by_share = sorted(named, key=lambda number: -np.sum(answered_by == number))
        named = sorted(by_share[: room - 1])
    for number in named:
        # surfaces have no line of their own to stand in a legend
        line = drawn[number] or ax.plot([], [], color=colors[number], linewidth=6)[0]
        line.set_label(texts[number])
    # Pieces that are all called the same have no legend, and need none for the others.
    if len(named) < len(texts) and len(set(texts.values())) > 1:
        ax.plot([], [], color="none", label=f"and {len(texts) - len(named)} more pieces")


def piece_colors(solution: Solution) -> dict[int, tuple[float, ...]]:
    """A color for each piece by its number: one per choice where there are any, else one per
    piece."""
    from matplotlib import colormaps

    pieces = {n: piece for n, piece in enumerate(solution.set.pieces) if not piece.face}
    keys = list(dict.fromkeys(piece.choice or number for number, piece in pieces.items()))
    table = colormaps["tab20" if len(keys) > 10 else "tab10"]
    return {
        number: tuple(table(keys.index(piece.choice or number) % table.N))
        for number, piece in pieces.items()
    }


def _draw_surfaces(ax: "Axes", solution: Solution, image: Image) -> list[int]:
    """Triangles of the simplex, each on the piece that its middle is on; those that span a gap of
    the set are left out. Returns the numbers of the pieces that have some."""
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
    drawn = []
    for number, piece in enumerate(found.pieces):
        mine = answered_by == number
        if piece.dimension < 2 or piece.face or not mine.any():
            continue
        inside = triangles[mine & (length <= LONGEST * np.median(length[mine]))]
        used, local = np.unique(inside, return_inverse=True)
        local = local.reshape(inside.shape)
        drawn.append(number)
        if x.shape[1] == 3:
            draw_triangles(cast("Axes3D", ax), x[used], local, colors[number])
        else:
            fill_triangles(ax, x[used], local, colors[number])
    return drawn


def _draw_regions(ax: "Axes", solution: Solution) -> None:
    """The triangle with a color for each piece."""
    from matplotlib.collections import PolyCollection

    found, colors = solution.set, piece_colors(solution)
    t, triangles = grid(3, FINE), grid_triangles(FINE)
    numbers, places = found.owners(t[triangles].mean(axis=1)), t @ CORNERS
    shades, named = np.ones((len(triangles), 3)), []
    for number in np.unique(numbers[numbers >= 0]):
        gray = (0.94 - 0.05 * (int(number) % 4),) * 3
        shades[numbers == number] = colors.get(int(number), gray)[:3]
        if int(number) in colors and found.pieces[number].dimension == 2:
            named.append(int(number))
    _name_pieces(ax, solution, dict.fromkeys(named), MOST_ENTRIES)
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
