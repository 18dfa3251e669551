"""How a run went, iteration by iteration."""

from typing import TYPE_CHECKING

import numpy as np

from ..flow import Solution
from .palette import SERIES
from .space import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def history(solution: Solution, *, title: str = "", ax: "Axes | None" = None) -> "Axes":
    """Draws what the run recorded in `solution.history` against the iteration, logarithmically; returns the axes."""
    series = {
        name: np.asarray(values, dtype=float)
        for name, values in solution.history.items()
        if np.ndim(values) == 1 and np.issubdtype(np.asarray(values).dtype, np.number) and len(values)
    }
    if not series:
        raise ValueError("this solution has no history to draw: its run recorded nothing, or it is a part of another solution")
    ax = axes_or_new(ax, (6.4, 4.0))
    for color, (name, values) in zip(SERIES * len(series), series.items(), strict=False):
        marker = "." if len(values) < 40 else ""
        ax.plot(np.arange(1, len(values) + 1), np.where(values > 0, values, np.nan), color=color, label=name, marker=marker)
    ax.set_yscale("log")
    ax.set_xlabel("iteration")
    ax.legend(frameon=False)
    ax.grid(True, color="#e4e4e4", linewidth=0.6)
    ax.set_title(title)
    return ax
