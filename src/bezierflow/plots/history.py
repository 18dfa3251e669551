"""How a run went, iteration by iteration."""

from typing import TYPE_CHECKING

import numpy as np

from ..answer import Solution
from .space import axes_or_new, heading
from .style import SERIES, of_solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@of_solution
def history(solution: Solution, *, title: str = "", ax: "Axes | None" = None) -> "Axes":
    """Draws what the run recorded in `solution.history` against the iteration; returns the axes.

    Distances go with the logarithmic axis on the left, whole numbers (the degree) as steps with an
    axis on the right.
    """
    from matplotlib.ticker import MaxNLocator

    recorded = {name: np.asarray(values) for name, values in solution.history.items()}
    series = {
        name: v
        for name, v in recorded.items()
        if v.ndim == 1 and np.issubdtype(v.dtype, np.number) and len(v)
    }
    if not series:
        raise ValueError(
            "this solution has no history to draw: its run recorded nothing, or it is a part of"
            " another solution"
        )
    ax = axes_or_new(ax, (6.4, 4.0))
    lines = []
    for color, (name, values) in zip(SERIES * len(series), series.items(), strict=False):
        number = np.arange(1, len(values) + 1)
        if np.issubdtype(values.dtype, np.integer):
            # Degrees and counts do not belong on the logarithmic axis of distances.
            right = ax.twinx()
            right.set_ylabel(name)
            right.yaxis.set_major_locator(MaxNLocator(integer=True))
            lines += right.step(number, values, color=color, label=name, where="mid", linewidth=0.8)
        else:
            marker = "." if len(values) < 40 else ""
            lines += ax.plot(
                number, np.where(values > 0, values, np.nan), color=color, label=name, marker=marker
            )
    ax.set_yscale("log")
    ax.set_xlabel("iteration")
    ax.legend(handles=lines, frameon=False)
    ax.grid(True, color="#e4e4e4", linewidth=0.6)
    ax.set_title(heading(title, solution))
    return ax
