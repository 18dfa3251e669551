"""The tables of results: medians over seeds, with how many there were where that is not
`N_SEEDS`."""

import csv
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np

N_SEEDS = 5
METHODS = ("ours, surface", "ours, points", "qLogNEHVI", "qNParEGO", "NSGA-II", "sobol")

Row = dict[str, str]
Group = dict[str, list[Row]]


class Measure(NamedTuple):
    """A column of the results: what it is, by what it is multiplied, and how many digits are
    shown."""

    words: str
    scale: float
    digits: int


MEASURES = {
    "gap": Measure("Hypervolume gap, in percent", 100, 2),
    "igd_plus": Measure("IGD+, in percent of the ranges", 100, 2),
    "cpu_seconds": Measure("Processor seconds", 1, 0),
}


def report(path: Path) -> str:
    """Each measure as a table in Markdown for each noise, one line for each problem and budget of
    ours; then run by run."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    tables = [
        f"{measure.words}, {float(noise):.0%}"
        f" noise\n\n{_table([row for row in rows if row['noise'] == noise], name)}"
        for name, measure in MEASURES.items()
        for noise in sorted({row["noise"] for row in rows})
    ]
    return "\n\n".join([*tables, _run_by_run(rows)])


def _run_by_run(rows: list[Row]) -> str:
    """In how many runs of the same problem, noise, seed and number of evaluations the gap of ours
    is smaller than each peer's."""
    gaps: dict[str, dict[tuple[str, ...], float]] = defaultdict(dict)
    for row in rows:
        gaps[row["method"]][row["problem"], row["noise"], row["seed"], row["budget"]] = float(
            row["gap"]
        )
    lines = []
    for ours in METHODS[:2]:
        for peer in METHODS[2:]:
            shared = gaps[ours].keys() & gaps[peer].keys()
            ahead = sum(gaps[ours][run] < gaps[peer][run] for run in shared)
            lines.append(f"- {ours} ahead of {peer} in {ahead} of {len(shared)}")
    return "Run by run, by the hypervolume gap\n\n" + "\n".join(lines)


def _table(rows: list[Row], measure: str) -> str:
    groups: dict[tuple[str, int], Group] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        groups[row["problem"], int(row["budget"])][row["method"]].append(row)
    floors = ("floor of the surface", "floor of points") if measure == "gap" else ()
    names = ("problem", "evaluations", *METHODS, *floors)
    lines = ["| " + " | ".join(names) + " |", "|---" * len(names) + "|"]
    for (problem, budget), group in sorted(groups.items()):
        if "ours, surface" in group:
            cells = [
                _cell([row[measure] for row in group[method]], MEASURES[measure])
                for method in METHODS
            ]
            cells += [
                f"{100 * float(group[method][0]['floor']):.2f}" for method in METHODS[: len(floors)]
            ]
            lines.append("| " + " | ".join([problem, str(budget), *cells]) + " |")
    return "\n".join(lines)


def _cell(values: list[str], measure: Measure) -> str:
    """The median, and of how many seeds; a dash where there is none."""
    numbers = [float(value) for value in values if value]
    if not numbers:
        return "–"
    seeds = "" if len(numbers) == N_SEEDS else f" ({len(numbers)})"
    return f"{measure.scale * float(np.median(numbers)):.{measure.digits}f}{seeds}"
