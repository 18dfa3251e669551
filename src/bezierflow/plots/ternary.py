"""The triangle of three objectives, colored by whatever has a value at each t."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..flow import Solution
from ..flow.local_error import local_error
from ..simplex import grid
from .matplotlib_import import pyplot
from .palette import HEAT, RESOLUTION, grid_triangles

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
"""Where e_1, e_2 and e_3 are drawn."""


def ternary(
    solution: Solution,
    what: str | int | Callable[[np.ndarray], np.ndarray] = 0,
    *,
    title: str = "",
    ax: Any = None,
    log: bool = False,
) -> Any:
    """Draws an objective, a variable or any function of t as a heat map over the triangle, and returns the axes.

    Args:
        solution: a solution with three objectives.
        what: the number of an objective; the name of an objective or a variable; or a function of t of shape (n, 3) -> (n,).
        title: text above the picture.
        ax: axes to draw into; a new figure if None.
        log: color by powers of ten.
    """
    if solution.n_objectives != 3:
        raise ValueError(f"ternary draws 3 objectives, got {solution.n_objectives}; plots.edges and plots.pairs draw any number")
    values, label = _quantity(solution, what)
    t = grid(3, RESOLUTION)
    return _draw(solution, t, np.asarray(values(t), dtype=float), label, RESOLUTION, title, ax, log)


def error(solution: Solution, *, title: str = "", ax: Any = None) -> Any:
    """Draws the estimated distance of the surface to the Pareto set: a heat map for three objectives, a curve for two.

    It needs the objectives, with gradients and Hessians at some hundred points.
    """
    if solution.n_objectives == 2:
        t = grid(2, 2 * RESOLUTION)
        ax = ax or pyplot().figure(figsize=(6.4, 3.6), layout="constrained").add_subplot()
        ax.semilogy(t[:, 1], np.maximum(local_error(solution, t), np.finfo(float).tiny), color="#2a78d6")
        ax.set_xlabel(f"weight of {solution.names.objectives[1]}")
        ax.set_ylabel("distance to the Pareto set")
        ax.set_title(title)
        return ax
    if solution.n_objectives != 3:
        raise ValueError(f"error draws 2 or 3 objectives, got {solution.n_objectives}; solution.error sums it up for any number")
    resolution = RESOLUTION // 2
    t = grid(3, resolution)
    return _draw(solution, t, local_error(solution, t), "distance to the Pareto set", resolution, title, ax, True)


def _quantity(solution: Solution, what: Any) -> tuple[Callable[[np.ndarray], np.ndarray], str]:
    names = solution.names
    if callable(what):
        return lambda t: np.asarray(what(t)), ""
    if isinstance(what, str) and what in names.variables and what not in names.objectives:
        i = names.variables.index(what)
        return lambda t: np.asarray(solution.flat_surface(t))[:, i], names.variable_labels[i]
    m = names.objectives.index(what) if what in names.objectives else what
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or not 0 <= m < 3:
        known = ", ".join(map(repr, (*names.objectives, *names.variables)))
        raise ValueError(f"what must be an objective's number from 0 to 2, a function of t, or one of {known}; got {what!r}")
    return lambda t: np.asarray(solution.front(t))[:, m], names.objective_labels[m]


def _draw(
    solution: Solution, t: np.ndarray, values: np.ndarray, label: str, resolution: int, title: str, ax: Any, log: bool
) -> Any:
    plt = pyplot()
    ax = ax or plt.figure(figsize=(5.6, 4.8), layout="constrained").add_subplot()
    triangles, places = grid_triangles(resolution), t @ CORNERS
    known = np.isfinite(values)
    norm = None
    if log:
        from matplotlib.colors import LogNorm

        top = max(float(values[known].max(initial=0.0)), np.finfo(float).tiny)
        values = np.clip(values, 1e-4 * top, None)
        norm = LogNorm(1e-4 * top, top)
    hidden = ~known[triangles].all(axis=1)
    from matplotlib.tri import Triangulation

    shape = Triangulation(places[:, 0], places[:, 1], triangles, mask=hidden)
    heat = ax.tripcolor(shape, np.where(known, values, 0.0), cmap=HEAT, norm=norm, shading="gouraud", rasterized=True)
    if not log and np.ptp(values[known]) > 0:
        ax.tricontour(shape, np.where(known, values, 0.0), levels=8, colors="white", linewidths=0.6, alpha=0.8)
    ax.plot(*np.vstack([CORNERS, CORNERS[:1]]).T, color="#1b1b19", linewidth=1.2)
    for corner, name, below in zip(CORNERS, solution.names.objectives, (True, True, False), strict=True):
        ax.annotate(f"least {name}", corner, (0, -16 if below else 8), textcoords="offset points", ha="center")
    ax.figure.colorbar(heat, ax=ax, shrink=0.75, label=label)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set_title(title)
    return ax
