"""The table of results: medians over seeds, with how many there were."""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

ORDER = ("ours, surface", "ours, points", "qLogNEHVI", "qNParEGO", "NSGA-II", "sobol")


def report(path: Path) -> str:
    """Hypervolume gaps in percent as Markdown, one line for each problem, noise and budget that ours ran on."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    groups: dict[tuple[str, str, int], dict[str, list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        groups[row["problem"], row["noise"], int(row["budget"])][row["method"]].append(row)
    lines = ["| problem | noise | evaluations | " + " | ".join(ORDER) + " |", "|---" * (3 + len(ORDER)) + "|"]
    for (problem, noise, budget), methods in sorted(groups.items(), key=lambda item: (item[0][1], item[0][0], item[0][2])):
        if "ours, surface" not in methods:
            continue
        cells = [_cell(methods.get(method, [])) for method in ORDER]
        lines.append(f"| {problem} | {float(noise):.0%} | {budget} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(rows: list[dict[str, str]]) -> str:
    if not rows:
        return "–"
    median = float(np.median([float(row["gap"]) for row in rows]))
    floor = float(rows[0]["floor"])
    seeds = "" if len(rows) == 1 else f", {len(rows)} seeds"
    return f"{100 * median:.2f} ({100 * floor:.2f}{seeds})"
