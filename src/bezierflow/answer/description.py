"""A solution in a few lines, for `print` and for notebooks: how it ended, ranges, error, cost, and
what to do next."""

import html
from collections.abc import Sequence
from textwrap import wrap
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .error import ErrorEstimate
from .result import Result, Stats
from .verdict import describe

LONGEST = 300
"""Characters of a message that a description shows; `solution.result` has all of it."""

MOST_LISTED = 8
"""So many objectives have a line of their own."""

NEXT = (
    "solution.at(weights=[...]), solution.spread(20), bf.decisions.knee(solution),"
    " bf.explore(solution, 'page.html')"
)
"""What a person may want to do with a good result."""

NEXT_IN_DOUBT = (
    "read all of solution.result first; bf.check(objectives, x0, bounds=...) looks for what is"
    " wrong with a problem"
)
"""What a person has to do with a doubtful one."""

INDENT, LINE = 13, 96
"""Columns of the headings, and of a whole line, in a terminal."""

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
        """Headings and texts. What a message says about the error is left to the error's own
        row."""
        message = str(self.result)
        message = (
            message if self.error is None else message.replace(f"; {describe(self.error)}", "")
        )
        return [
            (
                "result",
                message if len(message) <= LONGEST else message[: LONGEST - 1].rstrip() + "…",
            ),
            ("set", self.shape),
            ("objectives", "\n".join(self._ranges())),
            ("error", error_text(self.error)),
            ("evaluations", cost_text(self.stats)),
            ("next", NEXT_IN_DOUBT if self.result.doubtful else NEXT),
        ]

    def text(self) -> str:
        """For a terminal."""
        return "\n".join(line for heading, text in self.rows() for line in _lines(heading, text))

    def html(self) -> str:
        """For a notebook: a small table beside a picture of the front; what is doubtful is red."""
        return f"{table(self.rows(), alarm=self.result.doubtful)}{picture(self.F, self.labels)}"

    def _ranges(self) -> list[str]:
        """A line for each objective, with its least and its largest value on the front."""
        width = max(map(len, self.labels[:MOST_LISTED]))
        each = zip(self.labels, self.F.min(axis=0), self.F.max(axis=0), strict=True)
        lines = [
            f"{label:<{width}}  {_tidy(a, b):.4g} to {_tidy(b, a):.4g}" for label, a, b in each
        ]
        return lines[:MOST_LISTED] + [f"and {len(lines) - MOST_LISTED} more"] * (
            len(lines) > MOST_LISTED
        )


def table(rows: Sequence[tuple[str, str]], alarm: bool = False) -> str:
    """Headings and texts as an HTML table, the first row red if there is something to be alarmed
    about."""
    look = [
        ' style="color:#b3141c;font-weight:600"' if alarm and not number else ""
        for number in range(len(rows))
    ]
    name, said = (
        'style="text-align:left;vertical-align:top;white-space:pre"',
        'style="text-align:left;white-space:pre-wrap"',
    )
    cells = [
        f"<th {name}>{html.escape(heading)}</th><td {said}>{html.escape(text)}</td>"
        for heading, text in rows
    ]
    lines = [f"<tr{style}>{cell}</tr>" for style, cell in zip(look, cells, strict=True)]
    return f"<table>{''.join(lines)}</table>"


def _lines(heading: str, text: str) -> list[str]:
    """A heading with its text beside it, broken into lines at spaces."""
    parts = [part for line in text.splitlines() for part in _broken(line)]
    return [
        f"{heading + ':' if not number else '':<{INDENT}}{part}"
        for number, part in enumerate(parts)
    ]


def _broken(line: str) -> list[str]:
    """A line as it is where it fits, else several."""
    room = LINE - INDENT
    return (
        [line]
        if len(line) <= room
        else wrap(line, room, break_long_words=False, break_on_hyphens=False)
    )


def _tidy(value: float, other: float) -> float:
    """The value, or 0 where it is next to nothing beside the other end of a range."""
    return 0.0 if abs(value) < 1e-7 * abs(other) else value


def error_text(error: ErrorEstimate | None) -> str:
    """How far the set may be off, and how that is known."""
    if error is None:
        return "not estimated yet; solution.error does"
    if np.isnan(error.rms):
        return "not known"
    if error.by_objective is not None:
        share = (
            f"{error.rms:.2g} rms and {error.max:.2g} at most, in units of the objectives' ranges"
        )
        return f"{share}, of the last {error.n_samples} evaluations as the surrogate predicted them"
    front = "" if error.front is None else f" ({error.front:.2g} of the objectives' ranges)"
    where = f"at {error.n_samples} held-out points; diameter {error.diameter:.3g}"
    text = f"{error.rms:.2g} rms, {error.max:.2g} at most{front}, {where}"
    coverage = "" if error.coverage is None else f"; {error.coverage:.1%} of them certified"
    return (
        f"{text}{coverage}; {error.n_probes} probes elsewhere"
        if error.n_probes
        else f"{text}{coverage}"
    )


def cost_text(stats: Stats) -> str:
    """Evaluations, iterations and seconds."""
    counts = stats.evaluations
    values = (
        f"{int(counts.objective):,} values, {int(counts.jacobian):,} Jacobians,"
        f" {int(counts.hessian):,} Hessians"
    )
    return f"{values} in {stats.iterations:,} iterations, {stats.seconds:.2g} s"


def picture(F: Float[np.ndarray, "n n_objectives"], labels: Sequence[str]) -> str:
    """The front as SVG: a curve for two objectives, else one line a point across an axis for each
    objective."""
    # Drawn by hand: a notebook shows SVG without any plotting library.
    span = np.ptp(F, axis=0)
    places = (F - F.min(axis=0)) / np.where(span > 0, span, 1.0)
    if F.shape[1] == 2:
        lines = [places[np.argsort(places[:, 0])]]
    else:
        across = np.linspace(0, 1, F.shape[1])
        lines = [np.column_stack([across, row]) for row in places]
    drawn = "".join(
        f'<polyline points="{_coordinates(line)}" fill="none" stroke="#2a6f97"'
        f' stroke-opacity="{1 if len(lines) == 1 else 0.4}"/>'
        for line in lines
    )
    named = "".join(
        f'<text x="{x:.0f}" y="{y}" font-size="11"'
        f' text-anchor="{anchor}">{html.escape(label)}</text>'
        for (x, y, anchor), label in zip(_label_places(F.shape[1]), labels, strict=True)
    )
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="Pareto'
        f' front">{drawn}{named}</svg>'
    )


def share_bar(t: Float[np.ndarray, " n_objectives"], names: Sequence[str]) -> str:
    """A point of the simplex as one bar, a part for each objective."""
    ends = WIDTH * np.concatenate([[0.0], np.cumsum(t)])
    parts = "".join(
        f'<rect x="{a:.1f}" y="0" width="{b - a:.1f}" height="18" fill="#2a6f97"'
        f' fill-opacity="{1 - 0.7 * m / len(t):.2f}"><title>{html.escape(name)}:'
        f" {share:.3g}</title></rect>"
        for m, (a, b, share, name) in enumerate(zip(ends[:-1], ends[1:], t, names, strict=True))
    )
    return (
        f'<svg width="{WIDTH}" height="18" role="img" aria-label="shares of the objectives in'
        f' t">{parts}</svg>'
    )


def _label_places(n_objectives: int) -> list[tuple[float, float, str]]:
    """Where the labels of the axes stand."""
    left, right, below = MARGIN, WIDTH - MARGIN, HEIGHT - 6
    if n_objectives == 2:
        return [(right, below, "end"), (left, 14, "start")]
    steps = np.linspace(left, right, n_objectives).tolist()
    return [
        (x, below, "middle" if left < x < right else "start" if x == left else "end") for x in steps
    ]


def _coordinates(line: Float[np.ndarray, "n 2"]) -> str:
    x = MARGIN + (WIDTH - 2 * MARGIN) * line[:, 0]
    y = HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * line[:, 1]
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
