"""The simplex: a triangle colored by whatever has a value at each t; and the pieces of a set,
there, in objectives and in variables, one color per piece."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

import numpy as np
from jaxtyping import Float

from ..answer import Solution
from ..names import Names
from ..simplex import grid, largest_degree_within
from .drawing import (
    FLOW_COLOR,
    HEAT,
    RESOLUTION,
    TRUTH_COLOR,
    Map,
    axes_or_new,
    draw_triangles,
    face,
    fill_triangles,
    grid_triangles,
    heading,
    of_solution,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from mpl_toolkits.mplot3d.axes3d import Axes3D

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
"""Where e_1, e_2 and e_3 are drawn."""

LEAST_SHOWN = 1e-4
"""On a logarithmic scale, values below this share of the largest have the color of this share."""

Quantity = Callable[[np.ndarray], np.ndarray]
"""A function of many t at once, one a row, with one number for each."""


@of_solution
def ternary(
    solution: Solution,
    what: str | int | Quantity = 0,
    *,
    title: str = "",
    ax: "Axes | None" = None,
    log: bool = False,
) -> "Axes":
    """Draws an objective, a variable or any function of t as a heat map over the triangle, and
    returns the axes.

    Args:
        solution: a solution with three objectives.
        what: the number of an objective; the name of an objective or a variable; or a function of t
            of shape (n, 3) -> (n,).
        title: text above the picture.
        ax: axes to draw into; a new figure if None.
        log: color by powers of ten.
    """
    if solution.n_objectives != 3:
        raise ValueError(
            f"ternary draws 3 objectives, got {solution.n_objectives}; plots.edges and plots.pairs"
            " draw any number"
        )
    quantity, label = _quantity(solution, what)
    values = np.asarray(quantity(grid(3, RESOLUTION)), dtype=float)
    return _draw_heat(ax, solution, values, label, title, log)


@of_solution
def error(solution: Solution, *, title: str = "", ax: "Axes | None" = None) -> "Axes":
    """Draws the estimated distance of the surface to the Pareto set: a heat map for three
    objectives, a curve for two.

    It needs the objectives, with gradients and Hessians at some hundred points.
    """
    M, label = solution.n_objectives, "distance to the Pareto set"
    if M not in (2, 3):
        raise ValueError(
            f"error draws 2 or 3 objectives, got {M}; solution.error sums it up for any number"
        )
    t = grid(M, 2 * RESOLUTION if M == 2 else RESOLUTION // 2)
    distance = solution.error_at(t)
    if np.isnan(distance).all():
        raise ValueError(
            f"the error at single t takes Hessians, which {solution.flat_surface.n_variables}"
            " variables are too many for or these objectives do not have; solution.error sums it"
            " up without them"
        )
    if M == 3:
        return _draw_heat(ax, solution, distance, label, title, log=True)
    ax = axes_or_new(ax, (6.4, 3.6))
    # A distance of 0 has no logarithm.
    ax.semilogy(t[:, 1], np.maximum(distance, np.finfo(float).tiny), color=FLOW_COLOR)
    ax.set_xlabel(f"weight of {solution.names.objectives[1]}")
    ax.set_ylabel(label)
    ax.set_title(heading(title, solution))
    return ax


def _quantity(solution: Solution, what: str | int | Quantity) -> tuple[Quantity, str]:
    """What is drawn as a function of t, and its label."""
    names = solution.names
    if callable(what):
        return what, ""
    # A name of both kinds is the objective's.
    if what in names.variables and what not in names.objectives:
        i = names.variables.index(what)
        return lambda t: solution.flat_designs(t)[:, i], names.variable_labels[i]
    m = names.objectives.index(what) if what in names.objectives else what
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or not 0 <= m < 3:
        known = ", ".join(map(repr, (*names.objectives, *names.variables)))
        raise ValueError(
            f"what must be an objective's number from 0 to 2, a function of t, or one of {known};"
            f" got {what!r}"
        )
    return lambda t: np.asarray(solution.front(t))[:, m], names.axis_labels[m]


def _draw_heat(
    ax: "Axes | None",
    solution: Solution,
    values: Float[np.ndarray, " n"],
    label: str,
    title: str,
    log: bool,
) -> "Axes":
    """Values on a regular grid as colors with a scale beside them; triangles with a value that is
    not finite stay empty."""
    from matplotlib.colors import LogNorm
    from matplotlib.tri import Triangulation

    ax = axes_or_new(ax, (5.6, 4.8))
    draw_corners(ax, solution.names)
    ax.set_title(heading(title, solution))
    # The values are on a whole grid, so that their number tells its resolution.
    resolution = largest_degree_within(3, len(values))
    known, triangles = np.isfinite(values), grid_triangles(resolution)
    x, y = (grid(3, resolution) @ CORNERS).T
    mesh = Triangulation(x, y, triangles, mask=~known[triangles].all(axis=1))
    largest = max(float(values[known].max(initial=0.0)), np.finfo(float).tiny)
    least = LEAST_SHOWN * largest
    norm = LogNorm(least, largest) if log else None
    shown = np.where(known, np.maximum(values, least) if log else values, least)
    heat = ax.tripcolor(mesh, shown, cmap=HEAT, norm=norm, shading="gouraud", rasterized=True)
    if not log and np.ptp(values[known]) > 0:
        ax.tricontour(mesh, shown, levels=8, colors="white", linewidths=0.6, alpha=0.8)
    ax.figure.colorbar(heat, ax=ax, shrink=0.75, label=label)
    return ax


def draw_corners(ax: "Axes", names: Names) -> None:
    """The triangle's outline, with the objective that is best at each corner."""
    ax.plot(*np.vstack([CORNERS, CORNERS[:1]]).T, color=TRUTH_COLOR, linewidth=1.2)
    for m, (corner, below) in enumerate(zip(CORNERS, (True, True, False), strict=True)):
        ax.annotate(
            f"{names.best_word(m)} {names.objectives[m]}",
            corner,
            (0, -16 if below else 8),
            textcoords="offset points",
            ha="center",
        )
    ax.set_aspect("equal")
    ax.set_axis_off()


FINE = 320
"""Steps along a side of the simplex of three objectives."""

LONGEST = 12.0
"""Triangles with a side this many times longer than usual span a gap."""

MOST_ENTRIES = 8
"""Of a legend: more of them cover the picture, and their colors are no longer told apart."""

SHARES = 60
"""Steps along a side of the simplex by which pieces are compared."""


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


def draw_pieces(ax: "Axes", solution: Solution, image: Map, other_entries: int = 0) -> None:
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


def _draw_surfaces(ax: "Axes", solution: Solution, image: Map) -> list[int]:
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
