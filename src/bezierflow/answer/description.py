"""A solution in a few lines: how the run ended, ranges, error, cost, and what to do next."""

from collections.abc import Sequence
from textwrap import wrap

import numpy as np
from jaxtyping import Float

from ..objectives import Calls
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
NEXT_IN_DOUBT = (
    "read all of solution.result first; bf.check(objectives, x0, bounds=...) looks for what is"
    " wrong with a problem"
)

INDENT, LINE = 13, 96
"""Columns of the headings, and of a whole line, in a terminal."""


def summary_rows(
    result: Result,
    shape: str,
    labels: Sequence[str],
    F: Float[np.ndarray, "n n_objectives"],
    error: ErrorEstimate | None,
    stats: Stats,
    objectives: object = None,
) -> list[tuple[str, str]]:
    """Headings and texts of a description.

    Args:
        result: how the run ended.
        shape: what the set is, in words.
        labels: the objectives.
        F: objective values of some points of the front.
        error: the error estimate, or None where nobody has asked for it.
        stats: what the run cost.
        objectives: what kind of function they are, and where derivatives come from.
    """
    message = str(result)
    if error is not None:  # it has a row of its own
        message = message.replace(f"; {describe(error)}", "")
    if len(message) > LONGEST:
        message = message[: LONGEST - 1].rstrip() + "…"
    ends = np.stack([F.min(axis=0), F.max(axis=0)])
    ends[np.abs(ends) < 1e-7 * np.abs(ends[::-1])] = 0.0  # rounding beside the other end
    width = max(map(len, labels[:MOST_LISTED]))
    ranges = [
        f"{label:<{width}}  {low:.4g} to {high:.4g}"
        for label, low, high in zip(labels, *ends, strict=True)
    ]
    if len(ranges) > MOST_LISTED:
        ranges[MOST_LISTED:] = [f"and {len(ranges) - MOST_LISTED} more"]
    return [
        ("result", message),
        ("set", shape),
        ("objectives", "\n".join(ranges)),
        ("error", error_text(error)),
        ("evaluations", cost_text(stats)),
        *([("derivatives", str(objectives))] if objectives else []),
        ("next", NEXT_IN_DOUBT if result.doubtful else NEXT),
    ]


def as_text(rows: Sequence[tuple[str, str]]) -> str:
    """Rows for a terminal: headings on the left, texts beside them, broken at spaces."""
    lines, room = [], LINE - INDENT
    for heading, text in rows:
        start = f"{heading}:"
        for line in text.splitlines():
            # A line that fits stays as it is: `wrap` would close up the columns of a table.
            fits = len(line) <= room
            for part in (
                [line] if fits else wrap(line, room, break_long_words=False, break_on_hyphens=False)
            ):
                lines.append(f"{start:<{INDENT}}{part}")
                start = ""
    return "\n".join(lines)


def error_text(error: ErrorEstimate | None) -> str:
    """How far the set may be off, and how that is known."""
    if error is None:
        return "not estimated yet; solution.error does"
    if np.isnan(error.rms):
        return "not known"
    if error.by_objective is not None:
        return (
            f"{error.rms:.2g} rms and {error.max:.2g} at most, in units of the objectives' ranges,"
            f" of the last {error.n_samples} evaluations as the surrogate predicted them"
        )
    front = "" if error.front is None else f" ({error.front:.2g} of the objectives' ranges)"
    coverage = "" if error.coverage is None else f"; {error.coverage:.1%} of them certified"
    probes = f"; {error.n_probes} probes elsewhere" if error.n_probes else ""
    return (
        f"{error.rms:.2g} rms, {error.max:.2g} at most{front}, at {error.n_samples} held-out"
        f" points; diameter {error.diameter:.3g}{coverage}{probes}"
    )


def cost_text(stats: Stats) -> str:
    """Evaluations, iterations and seconds."""
    counts = stats.evaluations
    return (
        f"{int(counts.objective):,} values, {int(counts.jacobian):,} Jacobians,"
        f" {int(counts.hessian):,} Hessians in {stats.iterations:,} iterations,"
        f" {stats.seconds:.2g} s{_purposes(stats.calls)}"
    )


def _purposes(calls: Calls | None) -> str:
    """What a function on the host was called for."""
    if calls is None:
        return ""
    parts = [f"{sum(map(int, made)):,} for {what}" for what, made in calls.made.items()]
    return f" (calls: {', '.join(parts)})"
