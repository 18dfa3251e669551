"""The triangle of three objectives, colored by whatever has a value at each t."""

from collections.abc import Callable
from typing import TYPE_CHECKING

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
    axes_or_new,
    grid_triangles,
    heading,
    of_solution,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
