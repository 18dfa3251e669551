"""The contest's tables as Markdown and its plot, from the CSV: `python -m
benchmarks.contest.report`."""

from pathlib import Path

import numpy as np

from .__main__ import RESULTS, read
from .contestants import CONTESTANTS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "contest.md"
PICTURE = ROOT / "docs" / "images" / "contest.png"
START, END = "<!-- tables: python -m benchmarks.contest.report -->", "<!-- end of tables -->"
COLORS = [
    "#2a78d6",
    "#12806a",
    "#8a5cd0",
    "#b59be6",
    "#c9780a",
    "#1b1b19",
    "#5c5c58",
    "#d9603b",
    "#3aa6a0",
    "#a64c7c",
    "#7a7a74",
    "#a9a9a1",
]
MARKERS = ("o", "s", "^", "v", "D", "P", "X", "<", ">", "*", "x", "+")
TITLES = {
    "max": "Largest distance, both ways, over the diameter of the set",
    "igd_plus": "IGD+, objectives in units of their range",
    "hypervolume_lost": "Hypervolume lost, 1 − hypervolume/that of the exact front",
}

Row = dict[str, str]


def tables(rows: list[Row]) -> str:
    """A table for each score, and one of what the runs cost and said."""
    parts = [
        f"### {title}\n\n{_table(rows, lambda own, score=score: _spread(own, score))}"
        for score, title in TITLES.items()
    ]
    return "\n\n".join(
        [
            *parts,
            (
                "### Gradient-equivalents, seconds, and what the method said (seed"
                f" 0)\n\n{_table(rows, _cost)}"
            ),
        ]
    )


def _table(rows: list[Row], cell) -> str:
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    shown = [key for key in CONTESTANTS if any(row["method"] == key for row in rows)]
    lines = [
        "| problem | " + " | ".join(CONTESTANTS[key].title for key in shown) + " |",
        "|---" * (len(shown) + 1) + "|",
    ]
    for problem in problems:
        own = [
            [row for row in rows if (row["problem"], row["method"]) == (problem, key)]
            for key in shown
        ]
        lines.append(
            "| "
            + " | ".join([problem, *(cell(group) if group else "not run" for group in own)])
            + " |"
        )
    return "\n".join(lines)


def _spread(rows: list[Row], score: str) -> str:
    """The median over the seeds, and the least and the largest."""
    values = [float(row[score]) for row in rows if row.get(score, "") not in ("", "nan")]
    if not values:
        return "–"
    missing = f", {len(rows) - len(values)} without" if len(values) < len(rows) else ""
    return f"{np.median(values):.1e} ({min(values):.1e} to {max(values):.1e}{missing})"


def _cost(rows: list[Row]) -> str:
    row = rows[0]
    if not row.get("gradient_equivalents"):
        return row["said"]
    return f"{int(row['gradient_equivalents']):,}; {row['warm_seconds']} s; {row['said']}".rstrip(
        "; "
    )


def plot(rows: list[Row]) -> None:
    """Largest distance against cost, one marker a method and problem: the median over the seeds."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 5.4), layout="constrained")
    for (key, contestant), color, marker in zip(CONTESTANTS.items(), COLORS, MARKERS, strict=True):
        points = []
        for problem in dict.fromkeys(row["problem"] for row in rows):
            own = [
                row
                for row in rows
                if (row["problem"], row["method"]) == (problem, key)
                and row["max"] not in ("", "nan")
            ]
            if own:
                points.append(
                    [
                        np.median([float(row[name]) for row in own])
                        for name in ("gradient_equivalents", "max")
                    ]
                )
        if points:
            cost, error = np.array(points).T
            axes.scatter(
                cost,
                np.maximum(error, 1e-16),
                s=34,
                color=color,
                marker=marker,
                label=contestant.title,
                alpha=0.85,
            )
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="cost [gradient-equivalents]",
        ylabel="largest distance, both ways / diameter",
    )
    axes.grid(True, which="major", alpha=0.25)
    figure.legend(frameon=False, fontsize=8, loc="outside right center")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=130)
    plt.close(figure)


def main() -> None:
    """Puts the tables into the page and draws the plot."""
    rows = read(RESULTS)
    plot(rows)
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(START)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{START}\n\n{tables(rows)}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
