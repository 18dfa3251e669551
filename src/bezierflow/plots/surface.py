"""The surface in space, beside the true Pareto set where it is known."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..answer import BezierAtlas, Solution
from ..bezier import BezierSimplex
from ..names import decode
from .atlas import draw_pieces
from .palette import CHOICE_COLOR, NET_COLOR, net_edges
from .space import Map, axes_or_new, draw_evaluated, draw_image, finish, heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def surface(
    solution: Solution | BezierSimplex,
    *,
    truth: Map | None = None,
    net: bool = False,
    points: ArrayLike | None = None,
    title: str = "",
    ax: "Axes | None" = None,
) -> "Axes":
    """Draws the Pareto set of two or three objectives in two or three variables, and returns the
    axes.

    That of a surrogate has the designs of its best evaluations beside it.

    Args:
        solution: a solution, or a surface alone. The pieces of an atlas have colors of their own.
        truth: the exact set as a map t -> x, drawn as a wire frame. Taken from the problem where it
            knows one; not for an atlas.
        net: draw the control points and the lines between neighbors too; not for an atlas.
        points: designs to mark, one a row: samples, or the x of choices.
        title: text above the picture.
        ax: axes to draw into; a new figure if None.
    """
    shape = _shape(solution)
    n_variables = shape.n_variables
    if shape.n_objectives not in (2, 3) or n_variables not in (2, 3):
        raise ValueError(
            f"surface draws 2 or 3 objectives in 2 or 3 variables, got {shape.n_objectives}"
            f" objectives in {n_variables} variables; plots.paths draws any number of variables,"
            " plots.pairs any number of objectives"
        )
    labels = (
        solution.names.variable_labels
        if isinstance(solution, Solution)
        else [f"x{i + 1}" for i in range(n_variables)]
    )
    if truth is None and isinstance(solution, Solution):
        truth = getattr(solution.objectives, "pareto_point", None)
    ax = axes_or_new(ax, n_coordinates=n_variables)
    seen = partial(_seen, solution)
    if isinstance(shape, BezierAtlas):
        names = solution.names.variables if isinstance(solution, Solution) else labels
        draw_pieces(ax, shape, lambda a: seen(shape.flat(a)), names)
    else:
        draw_image(
            ax, lambda t: seen(shape(t)), truth, shape.n_objectives, "Bézier simplex", "Pareto set"
        )
    if net and isinstance(shape, BezierSimplex):
        _draw_net(ax, shape, seen(shape.control_points))
    _draw_best(ax, solution)
    if points is not None:
        ax.scatter(*np.atleast_2d(points).T, s=22, color=CHOICE_COLOR, label="points", zorder=6)
    return finish(ax, labels, heading(title, solution))


def _seen(solution: Solution | BezierSimplex, x: ArrayLike) -> np.ndarray:
    """Flat vectors of a solver as people see them."""
    if not isinstance(solution, Solution):
        return np.asarray(x)
    return np.asarray(decode(np.asarray(x), solution.names.transforms)) * solution.raveling.units


def _shape(solution: Solution | BezierSimplex) -> BezierSimplex | BezierAtlas:
    """What is to be drawn, with flat vectors for values."""
    if not isinstance(solution, Solution):
        return solution
    return (
        solution.pareto_set
        if isinstance(solution.pareto_set, BezierAtlas)
        else solution.flat_surface
    )


def _draw_best(ax: "Axes", solution: Solution | BezierSimplex) -> None:
    """The designs of a surrogate's best evaluations."""
    if isinstance(solution, Solution) and solution.evaluated is not None:
        found = solution.evaluated
        draw_evaluated(
            ax, np.asarray(solution.raveling.plain.ravel(found.X, batch_axes=1))[found.nondominated]
        )


def _draw_net(ax: "Axes", shape: BezierSimplex, points: np.ndarray) -> None:
    for pair in net_edges(shape.n_objectives, shape.degree):
        ax.plot(*points[pair].T, color=NET_COLOR, linewidth=0.6, alpha=0.5)
    in_space = {"depthshade": False} if points.shape[1] == 3 else {}
    ax.scatter(*points.T, s=14, color=NET_COLOR, label="control points", zorder=5, **in_space)
