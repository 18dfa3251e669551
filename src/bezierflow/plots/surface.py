"""The surface in space, beside the true Pareto set where it is known; and the picture to begin
with."""

from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from ..answer import Solution
from ..bezier import BezierSimplex
from ..names import decode
from .drawing import (
    CHOICE_COLOR,
    NET_COLOR,
    Map,
    axes_or_new,
    draw_evaluated,
    draw_image,
    draw_points,
    finish,
    heading,
    net_edges,
    of_solution,
    pyplot,
)
from .front import front, pairs
from .paths import draw_designs
from .simplex import draw_pieces

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
    alone = isinstance(solution, BezierSimplex)
    M = solution.n_objectives
    L = solution.n_variables if alone else solution.set.n_variables
    if M not in (2, 3) or L not in (2, 3):
        raise ValueError(
            f"surface draws 2 or 3 objectives in 2 or 3 variables, got {M} objectives in"
            f" {L} variables; plots.paths draws any number of variables, plots.pairs any number of"
            " objectives"
        )
    ax = axes_or_new(ax, n_coordinates=L)
    if alone:
        labels = [f"x{i + 1}" for i in range(L)]
        draw_image(ax, solution, truth, M, "Bézier simplex", "Pareto set")
    else:
        labels = solution.names.variable_labels
        _draw_set(ax, solution, truth, points is not None)
    if net and (alone or not solution.set.trimmed):
        _draw_net(ax, solution)
    if points is not None:
        ax.scatter(*np.atleast_2d(points).T, s=22, color=CHOICE_COLOR, label="points", zorder=6)
    return finish(ax, labels, heading(title, solution))


def _draw_set(ax: "Axes", solution: Solution, truth: Map | None, other_entries: int) -> None:
    """The set of a solution, the exact one where it is known, and a surrogate's best designs."""
    if solution.set.trimmed:
        others = other_entries + (solution.evaluated is not None)
        draw_pieces(ax, solution, solution.flat_designs, others)
    else:
        exact = truth or getattr(solution.objectives, "pareto_point", None)
        M = solution.n_objectives
        draw_image(ax, solution.flat_designs, exact, M, "Bézier simplex", "Pareto set")
    if solution.evaluated is not None:
        found = solution.evaluated
        designs = np.asarray(solution.raveling.plain.ravel(found.X, batch_axes=1))
        draw_evaluated(ax, designs[found.nondominated])


def _draw_net(ax: "Axes", solution: Solution | BezierSimplex) -> None:
    shape = solution if isinstance(solution, BezierSimplex) else solution.flat_surface
    points = np.asarray(shape.control_points)
    if isinstance(solution, Solution):  # as people see variables
        points = np.asarray(decode(points, solution.names.transforms)) * solution.raveling.units
    for pair in net_edges(shape.n_objectives, shape.degree):
        ax.plot(*points[pair].T, color=NET_COLOR, linewidth=0.6, alpha=0.5)
    draw_points(ax, points, s=14, color=NET_COLOR, label="control points", zorder=5)


@of_solution
def overview(solution: Solution, *, title: str = "") -> "Figure":
    """Draws the front beside the designs on it, returns the figure.

    Designs of two or three variables are drawn in space. For other numbers of variables the front
    of two objectives has them drawn along it, and that of three stands alone; from four objectives
    on all pairs of objectives are drawn.
    """
    n_objectives, n_variables = solution.n_objectives, solution.raveling.n_variables
    if n_objectives > 3:
        return pairs(solution, title=title)
    in_space = n_variables in (2, 3)
    if n_objectives == 3 and not in_space:
        return cast("Figure", front(solution, title=title).figure)
    figure = pyplot().figure(figsize=(12.0, 5.4), layout="constrained")
    left = figure.add_subplot(1, 2, 1, projection="3d" if n_variables == 3 else None)
    right = figure.add_subplot(1, 2, 2, projection="3d" if n_objectives == 3 else None)
    if in_space:
        surface(solution, ax=left)
    else:
        draw_designs(left, solution)
    front(solution, ax=right)
    left.set_title("Pareto set")
    right.set_title("Pareto front")
    figure.suptitle(heading(title, solution))  # that a result is doubtful is said once
    return figure
