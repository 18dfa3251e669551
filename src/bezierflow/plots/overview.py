"""The picture to begin with: whatever suits a solution's numbers of objectives and variables."""

from typing import TYPE_CHECKING, cast

from ..bezier import BezierSimplex
from ..flow import Solution
from .door import of_solution
from .front import front
from .matplotlib_import import pyplot
from .pairs import pairs
from .paths import paths
from .space import heading
from .surface import surface

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@of_solution
def overview(solution: Solution, *, title: str = "") -> "Figure":
    """Draws the set beside the front where both can be seen in space, else all pairs of objectives; returns the figure."""
    n_objectives, n_variables = solution.n_objectives, solution.raveling.n_variables
    if n_objectives > 3:
        return pairs(solution, title=title)
    if n_variables not in (2, 3):
        along = n_objectives == 2 and isinstance(solution.pareto_set, BezierSimplex)  # an atlas has no one way through it
        return paths(solution, title=title) if along else cast("Figure", front(solution, title=title).figure)
    figure = pyplot().figure(figsize=(11.0, 4.8), layout="constrained")
    left = figure.add_subplot(1, 2, 1, projection="3d" if n_variables == 3 else None)
    right = figure.add_subplot(1, 2, 2, projection="3d" if n_objectives == 3 else None)
    surface(solution, ax=left, title="Pareto set")
    front(solution, ax=right, title="Pareto front")
    figure.suptitle(heading(title, solution))
    return figure
