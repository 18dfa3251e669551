"""A solution in about six lines, for `print` and for notebooks: how it ended, ranges, error, cost, and what to ask next."""

import html
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ..normal import ErrorEstimate
from .result import Result, Stats

LONGEST = 300
"""Characters of a message that a description shows; `solution.result` has all of it."""

MOST_LISTED = 8
"""So many objectives have a line of their own."""

NEXT = "solution.at(weights=[...]), solution.spread(20), bf.decisions.knee(solution), bf.explore(solution, 'page.html')"
"""What a person may want to ask next."""

WIDTH, HEIGHT, MARGIN = 320, 180, 28
"""Of the picture, in pixels."""


class Description(NamedTuple):
    """What a description says.

    Attributes:
        result: how the run ended.
        shape: what the set is, in words.
        labels: the objectives.
        F: objective values of some points of the front.
        error: the error estimate, or None where nobody has asked for it.
        stats: what the run cost.
    """

    result: Result
    shape: str
    labels: Sequence[str]
    F: Float[np.ndarray, "n n_objectives"]
    error: ErrorEstimate | None
    stats: Stats

    def rows(self) -> list[tuple[str, str]]:
        """Headings and texts."""
        message = str(self.result)
        low, high = self.F.min(axis=0), self.F.max(axis=0)
        ranges = [f"{label} {a:.4g} to {b:.4g}" for label, a, b in zip(self.labels, low, high, strict=True)]
        listed = ranges[:MOST_LISTED] + [f"and {len(ranges) - MOST_LISTED} more"] * (len(ranges) > MOST_LISTED)
        return [
            ("result", message if len(message) <= LONGEST else message[: LONGEST - 1].rstrip() + "…"),
            ("set", self.shape),
            ("objectives", "; ".join(listed)),
            ("error", _error_text(self.error)),
            ("evaluations", _cost_text(self.stats)),
            (
                "ask",
                "solution.at(weights=[...]), solution.spread(20), bf.decisions.knee(solution), bf.explore(solution, 'page.html')",
            ),
        ]

    def text(self) -> str:
        """For a terminal."""
        return "\n".join(f"{heading + ':':<13}{text}" for heading, text in self.rows())

    def html(self) -> str:
        """For a notebook: a small table beside a picture of the front."""
        cells = "".join(
            f'<tr><th style="text-align:left">{heading}</th><td style="text-align:left">{html.escape(text)}</td></tr>'
            for heading, text in self.rows()
        )
        return f"<table>{cells}</table>{picture(self.F, self.labels)}"


def _error_text(error: ErrorEstimate | None) -> str:
    if error is None:
        return "not estimated yet; solution.error does"
    if error.by_objective is not None:
        share = f"{error.rms:.2g} rms and {error.max:.2g} at most, in units of the objectives' ranges"
        return f"{share}, of the last {error.n_samples} evaluations as the surrogate predicted them"
    text = f"{error.rms:.2g} rms, {error.max:.2g} at most, over {error.n_samples} held-out points; diameter {error.diameter:.3g}"
    coverage = "" if error.coverage is None else f"; {error.coverage:.1%} of them certified"
    return f"{text}{coverage}; {error.n_probes} probes elsewhere" if error.n_probes else f"{text}{coverage}"


def _cost_text(stats: Stats) -> str:
    counts = stats.evaluations
    values = f"{int(counts.objective):,} values, {int(counts.jacobian):,} Jacobians, {int(counts.hessian):,} Hessians"
    return f"{values} in {stats.iterations:,} iterations, {stats.seconds:.2g} s"


def picture(F: Float[np.ndarray, "n n_objectives"], labels: Sequence[str]) -> str:
    """The front as SVG: a curve for two objectives, else one line a point across an axis for each objective."""
    span = np.ptp(F, axis=0)
    places = (F - F.min(axis=0)) / np.where(span > 0, span, 1.0)
    if F.shape[1] == 2:
        lines = [places[np.argsort(places[:, 0])]]
    else:
        across = np.linspace(0, 1, F.shape[1])
        lines = [np.column_stack([across, row]) for row in places]
    drawn = "".join(
        f'<polyline points="{_coordinates(line)}" fill="none" stroke="#2a6f97" stroke-opacity="{1 if len(lines) == 1 else 0.4}"/>'
        for line in lines
    )
    named = "".join(
        f'<text x="{x:.0f}" y="{y}" font-size="11" text-anchor="{anchor}">{html.escape(label)}</text>'
        for (x, y, anchor), label in zip(_label_places(F.shape[1]), labels, strict=True)
    )
    return f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="Pareto front">{drawn}{named}</svg>'


def _label_places(n_objectives: int) -> list[tuple[float, float, str]]:
    """Where the labels of the axes stand."""
    left, right, below = MARGIN, WIDTH - MARGIN, HEIGHT - 6
    if n_objectives == 2:
        return [(right, below, "end"), (left, 14, "start")]
    steps = np.linspace(left, right, n_objectives).tolist()
    return [(x, below, "middle" if left < x < right else "start" if x == left else "end") for x in steps]


def _coordinates(line: Float[np.ndarray, "n 2"]) -> str:
    x = MARGIN + (WIDTH - 2 * MARGIN) * line[:, 0]
    y = HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * line[:, 1]
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
