"""A solution in a few lines or in a table: how the run ended, ranges, error, cost, what to do
next."""

import csv
import io
import json
from collections.abc import Sequence
from textwrap import wrap

import numpy as np
from jaxtyping import Float

from ..names import Names
from .error import ErrorEstimate
from .pareto_set import Points
from .result import Result, Stats, describe

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A text that starts with one of these, spaces apart, is a formula to a spreadsheet; an apostrophe
before it makes it a text."""


def columns(points: Points, designs: list[np.ndarray], names: Names) -> dict[str, np.ndarray]:
    """The columns of a table by name: variables, objectives, and t1, t2, … for where a point lies
    on the simplex or chart.

    `designs` are the variables one by one. A name that is taken already gets a remark: "mass
    (objective)" beside a variable "mass".
    """
    # Variables first: these are what a person builds; the rest says why.
    table = dict(zip(names.variables, designs, strict=True))
    places = tuple(f"t{m + 1}" for m in range(points.t.shape[1]))
    for kind, texts, values in (
        ("objective", names.objectives, points.F),
        ("simplex", places, points.t),
    ):
        for text, column in zip(texts, np.asarray(values, dtype=float).T, strict=True):
            table[f"{text} ({kind})" if text in table else text] = column
    return table


def to_csv_text(table: dict[str, np.ndarray]) -> str:
    """The table as CSV: a heading, then one point a line, each number with the digits that it takes
    to read it back exactly."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_harmless(name) for name in table])
    for row in zip(*(column.tolist() for column in table.values()), strict=True):
        writer.writerow([_harmless(one) if isinstance(one, str) else one for one in row])
    return text.getvalue()


def _harmless(text: str) -> str:
    """The text, which no spreadsheet takes for a formula."""
    return f"'{text}" if text.lstrip().startswith(FORMULA_STARTS) else text


def to_json_text(points: Points, designs: list[np.ndarray], names: Names) -> str:
    """The points as a JSON object: "names" and, one point a row, "X" (flat designs), "F" and
    "t"."""
    x = [list(row) for row in zip(*(column.tolist() for column in designs), strict=True)]
    rows = {"X": x, "F": np.asarray(points.F).tolist(), "t": points.t.tolist()}
    return (
        json.dumps({"names": names.to_dict(), **rows}, ensure_ascii=False, allow_nan=False) + "\n"
    )


LONGEST = 300
"""Characters of details that a description shows; `solution.result` has all of them."""

MOST_LISTED = 8
"""So many objectives have a line of their own."""

NEXT_IN_DOUBT = (
    "read all of solution.result first; bf.check(objectives, x0, bounds=...) looks for what is"
    " wrong with a problem"
)
GOES_ON = "bf.minimize(objectives, solution) goes on where the run was stopped"

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
    # The error has a row of its own.
    notes = "; ".join(note for note in result.details if note != describe(error))
    if len(notes) > LONGEST:
        notes = notes[: LONGEST - 1].rstrip() + "…"
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
        ("result", f"{result.reason.value}: {result.claim}" if result.claim else str(result)),
        ("set", shape),
        ("objectives", "\n".join(ranges)),
        ("error", error_text(error)),
        ("evaluations", cost_text(stats)),
        *([("details", notes)] if result.claim and notes else []),
        *([("derivatives", str(objectives))] if objectives else []),
    ]


def next_steps(
    result: Result, F: Float[np.ndarray, "n n_objectives"], goes_on: bool = False
) -> str:
    """What makes sense to do with such a result.

    Args:
        result: how the run ended.
        F: objective values of some points of the front.
        goes_on: whether the run can be gone on with.
    """
    M, span = F.shape[1], np.ptp(F, axis=0)
    steps = [NEXT_IN_DOUBT] if result.doubtful else []
    steps += [GOES_ON] * goes_on
    if M == 1 or not (span > 1e-9 * np.abs(F).max(axis=0)).any():
        one = f"[{', '.join(['1.0', *['0.0'] * (M - 1)])}]"
        steps.append(f"solution.design({one}) is the best design")
    elif not result.doubtful:
        # A knee is one of a curve or a surface that a person can see.
        knee = ["bf.decisions.knee(solution)"] if M <= 3 else []
        equal = ", ".join([f"{1 / M:.2g}"] * M)
        steps += [f"solution.at(weights=[{equal}])", "solution.spread(20)", *knee]
        steps.append("bf.explore(solution, 'page.html')")
    return ", ".join(steps)


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
    missing = ""
    if error.missing is not None:
        missing = f"; {error.missing:.2%} of the front's hypervolume is expected to be missing"
        missing += f", below {error.missing_below:.2%} with a confidence of 90 %"
    if np.isnan(error.rms):
        return f"not known{missing}"
    if error.by_objective is not None:
        return (
            f"{error.rms:.2g} rms and {error.max:.2g} at most, in units of the objectives' ranges,"
            f" of the last {error.n_samples} evaluations as the surrogate predicted them{missing}"
        )
    front = "" if error.front is None else f" ({error.front:.2g} of the objectives' ranges)"
    coverage = "" if error.coverage is None else f"; {error.coverage:.1%} of them confirmed"
    probes = f"; {error.n_probes} probes elsewhere" if error.n_probes else ""
    return (
        f"{error.rms:.2g} rms, {error.max:.2g} at most{front}, at {error.n_samples} held-out"
        f" points; diameter {error.diameter:.3g}{coverage}{probes}"
    )


def cost_text(stats: Stats) -> str:
    """Evaluations, iterations and seconds."""
    counts, seconds, calls = stats.evaluations, stats.seconds, ""
    if stats.calls is not None:  # of a function on the host, by purpose
        parts = [f"{sum(map(int, made)):,} for {what}" for what, made in stats.calls.made.items()]
        calls = f" (calls: {', '.join(parts)})"
    return (
        f"{int(counts.objective):,} values, {int(counts.jacobian):,} Jacobians,"
        f" {int(counts.hessian):,} Hessians in {stats.iterations:,} iterations,"
        f" {f'{seconds:.2g}' if seconds < 99.5 else f'{seconds:,.0f}'} s{calls}"
    )
