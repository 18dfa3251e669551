"""The picture to begin with: whatever suits a solution's numbers of objectives and variables."""

from typing import TYPE_CHECKING, cast

from ..answer import Solution
from .front import front
from .pairs import pairs
from .paths import draw_designs
from .space import heading
from .style import of_solution, pyplot
from .surface import surface

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
