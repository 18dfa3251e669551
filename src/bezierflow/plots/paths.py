"""Any number of variables along a path through the simplex; and a run along its iterations."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..answer import Solution
from ..simplex import check_on_simplex, grid
from .drawing import SERIES, axes_or_new, heading, of_solution, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEPS = 100
"""Points along each leg of a path."""

NAMED = 12
"""Up to so many variables are told apart by a legend; more are drawn alike."""

CONSTANT = 1e-6
"""What changes by less than this share of its size is constant; or, within the set's estimated
error, of the largest change."""


def paths(solution: Solution, through: ArrayLike | None = None, *, title: str = "") -> "Figure":
    """Draws objectives and variables along a path through points of the simplex, each in its own
    range; returns the figure.

    Parallel coordinates would show a few designs as broken lines; a surface has all the designs
    between them too.

    Args:
        solution: the solution.
        through: points of the simplex, one a row; all corners in turn and back to the first if not
            given.
        title: text above the picture.
    """
    n_objectives, names = solution.n_objectives, solution.names
    if through is None:
        stops = np.eye(n_objectives)[[*range(n_objectives), 0]] if n_objectives > 2 else np.eye(2)
        corners = [int(np.argmax(stop)) for stop in stops]
        marks = [f"{names.best_word(m)}\n{names.objectives[m]}" for m in corners]
    else:
        stops = np.asarray(through, dtype=float)
        if stops.ndim != 2 or len(stops) < 2:
            raise ValueError(
                "through must be at least two points of the simplex, one a row, got shape"
                f" {stops.shape}"
            )
        check_on_simplex(stops, n_objectives, "through")
        marks = [", ".join(f"{value:.2g}" for value in stop) for stop in stops]
    # Without their ends, which the next leg begins with.
    share = np.linspace(0, 1, STEPS, endpoint=False)[:, None]
    t = np.concatenate([*(a + share * (b - a) for a, b in pairwise(stops)), stops[-1:]])
    along = np.arange(len(t)) / STEPS
    figure, (above, below) = pyplot().subplots(
        2, 1, figsize=(7.2, 5.6), layout="constrained", sharex=True
    )
    _draw(above, along, np.asarray(solution.front(t)), names.axis_labels, "objectives")
    _draw(
        below, along, solution.flat_designs(t), names.variable_labels, "variables", _noise(solution)
    )
    for ax in (above, below):
        for k in range(len(stops)):
            ax.axvline(k, color="#cccccc", linewidth=0.8, zorder=0)
    below.set_xticks(range(len(stops)), marks)
    figure.suptitle(heading(title, solution))
    return figure


def draw_designs(ax: "Axes", solution: Solution) -> None:
    """The variables along the front of two objectives, against the first; nothing in the gaps of an
    atlas."""
    t, found = grid(2, 10 * STEPS), solution.set
    full = np.array([piece.dimension == 1 for piece in found.pieces] or [True])
    numbers = found.owners(t)
    shown = (numbers >= 0) & full[numbers]
    # NaN breaks lines where the set has a gap.
    values = np.where(shown[:, None], solution.flat_designs(t), np.nan)
    along = np.where(shown, np.asarray(solution.front(t))[:, 0], np.nan)
    _draw(ax, along, values, solution.names.variable_labels, "variables", _noise(solution))
    ax.set_xlabel(solution.names.axis_labels[0])


def _noise(solution: Solution) -> float:
    """The estimated error of designs, where it is known."""
    known = solution.__dict__.get("error", solution.known_error)
    if known is None or known.by_objective is not None or not np.isfinite(known.rms):
        return 0.0
    return 3 * float(known.rms)


def _draw(
    ax: "Axes",
    along: np.ndarray,
    values: np.ndarray,
    labels: Sequence[str],
    kind: str,
    noise: float = 0.0,
) -> None:
    low = np.nanmin(values, axis=0)
    spread = np.nanmax(values, axis=0) - low
    constant = spread <= CONSTANT * np.nanmax(np.abs(values), axis=0)
    # Within the set's error a change means something only beside the others.
    constant |= (spread <= noise) & (spread <= CONSTANT * spread.max())
    relative = np.where(
        constant,
        np.where(np.isnan(values), np.nan, 0.5),
        (values - low) / np.where(constant, 1.0, spread),
    )
    many = len(labels) > NAMED
    for k, label in enumerate(labels):
        look = {
            "color": SERIES[k % len(SERIES)],
            "linestyle": ":" if constant[k] else "-" if k < len(SERIES) else "--",
            "linewidth": 0.8 if many else 1.6,
        }
        shown = f"{label} = {np.nanmean(values[:, k]):.4g} throughout" if constant[k] else label
        ax.plot(along, relative[:, k], label=None if many else shown, **look)
    ax.set_ylabel(f"{kind},\nshare of range")
    ax.margins(x=0)
    if not many:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)


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
