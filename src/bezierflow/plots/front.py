"""The front: objective values over the whole surface."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import jax
import numpy as np
from numpy.typing import ArrayLike

from ..answer import Solution
from ..precision import double_precision
from .atlas import draw_pieces
from .space import Map, axes_or_new, draw_evaluated, draw_image, draw_points, finish, heading
from .style import CHOICE_COLOR, FLOW_COLOR, of_solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CHOICE_MARKERS = "osD^vP*X"
"""Choices are told apart by their shape, in print and by color-blind eyes too."""

N_CROSSES, WIDE = 15, 2.0
"""At so many points the front of a surrogate has crosses that say how uncertain it is: so many
standard deviations each way."""


@runtime_checkable
class HasValues(Protocol):
    """What can be marked on a front: it has objective values."""

    @property
    def f(self) -> ArrayLike:
        """The M objective values."""
        ...


@of_solution
def front(
    solution: Solution,
    *,
    choices: Sequence[HasValues] | Mapping[str, HasValues] = (),
    points: ArrayLike | None = None,
    title: str = "",
    ax: "Axes | None" = None,
) -> "Axes":
    """Draws the front of two or three objectives, and returns the axes. The pieces of an atlas have
    colors of their own.

    That of a surrogate has its best evaluations beside it, and, for two objectives, crosses of two
    standard deviations each way.

    Args:
        solution: the solution. Where its problem knows the exact Pareto set, the exact front is
            drawn as black lines.
        choices: answers of `bezierflow.decisions`, or anything with `f`, each marked in its own
            shape; the legend has the keys of a mapping, else what was asked.
        points: objective vectors to mark, one a row, such as another method's samples.
        title: text above the picture.
        ax: axes to draw into; a new figure if None.
    """
    n_objectives = solution.n_objectives
    if n_objectives not in (2, 3):
        raise ValueError(
            f"front draws 2 or 3 objectives, got {n_objectives}; plots.pairs draws any number"
        )
    ax = axes_or_new(ax, n_coordinates=n_objectives)
    if solution.set.trimmed:
        others = len(choices) + sum(
            one is not None for one in (solution.evaluated, solution.surrogate, points)
        )
        draw_pieces(ax, solution, lambda t: np.asarray(solution.front(t)), others)
    else:
        exact = _exact_front(solution)
        draw_image(ax, solution.front, exact, n_objectives, "Bézier simplex", "Pareto front")
    if solution.evaluated is not None:
        draw_evaluated(ax, solution.evaluated.F[solution.evaluated.nondominated])
    if solution.surrogate is not None and n_objectives == 2:
        t = solution.spread(N_CROSSES).t
        across, up = WIDE * np.asarray(solution.front_std(t)).T
        look = {"fmt": "none", "ecolor": FLOW_COLOR, "elinewidth": 1.0, "alpha": 0.6}
        f, label = np.asarray(solution.front(t)), f"±{WIDE:g} standard deviations"
        ax.errorbar(*f.T, xerr=across, yerr=up, label=label, **look)
    if points is not None:
        ax.scatter(*np.atleast_2d(points).T, s=12, color="#777777", label="points")
    if isinstance(choices, Mapping):
        named = list(choices.items())
    else:
        named = [(getattr(choice, "question", "choice"), choice) for choice in choices]
    look = {"s": 60, "color": CHOICE_COLOR, "edgecolor": "white", "zorder": 6}
    for (name, choice), marker in zip(named, cycle(CHOICE_MARKERS), strict=False):
        draw_points(ax, np.atleast_2d(choice.f), label=name, marker=marker, **look)
    return finish(ax, solution.names.axis_labels, heading(title, solution))


def _exact_front(solution: Solution) -> Map | None:
    """The map from t to the objective values of the exact Pareto set, for a problem that knows
    it."""
    objectives = solution.objectives
    pareto_point = getattr(objectives, "pareto_point", None)
    # it is that of the minimized problem
    if objectives is None or pareto_point is None or (solution.names.signs < 0).any():
        return None

    def exact(t: np.ndarray) -> np.ndarray:
        with double_precision():
            return np.asarray(jax.vmap(objectives)(np.asarray(pareto_point(t))))

    return exact
