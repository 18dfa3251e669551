"""The contest's table as Markdown and its plot, from the CSV: `python -m benchmarks.contest.report`."""

from pathlib import Path

import numpy as np

from bezierflow.plots.matplotlib_import import pyplot

from .__main__ import RESULTS, read
from .contestants import CONTESTANTS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"
PICTURE = ROOT / "docs" / "images" / "contest.png"
START, END = "<!-- table: python -m benchmarks.contest.report -->", "<!-- end of table -->"
COLORS = ("#2a78d6", "#12806a", "#8a5cd0", "#c9780a", "#d9603b", "#7a7a74", "#a9a9a1")
MARKERS = ("o", "s", "^", "D", "v", "x", "+")


def table(rows: list[dict[str, str]]) -> str:
    """One row a problem, one column a method: largest distance over diameter, and gradient-equivalents."""
    cells = {(row["problem"], row["method"]): row for row in rows}
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    lines = [
        "| problem | " + " | ".join(title for title, *_ in CONTESTANTS.values()) + " |",
        "|---" * (len(CONTESTANTS) + 1) + "|",
    ]
    for problem in problems:
        lines.append("| " + " | ".join([problem, *(_cell(cells.get((problem, key))) for key in CONTESTANTS)]) + " |")
    return "\n".join(lines)


def _cell(row: dict[str, str] | None) -> str:
    if row is None:
        return "not run"
    if row["max"] in ("", "nan"):
        return row["said"] or "–"
    said = f"; {row['said']}" if row["said"] and "converged" not in row["said"] else ""
    cost = int(row["gradient_equivalents"])
    return f"{row['max']} ({cost:,}; {row['warm_seconds']} s{said})"


def plot(rows: list[dict[str, str]]) -> None:
    """Largest distance against cost, one marker a method and problem."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(8, 5.2), layout="constrained")
    for (key, (title, *_)), color, marker in zip(CONTESTANTS.items(), COLORS, MARKERS, strict=True):
        own = [row for row in rows if row["method"] == key and row["max"] not in ("", "nan")]
        if own:
            cost = np.array([float(row["gradient_equivalents"]) for row in own])
            error = np.maximum([float(row["max"]) for row in own], 1e-16)
            axes.scatter(cost, error, s=36, color=color, marker=marker, label=title, alpha=0.85)
    axes.set(xscale="log", yscale="log", xlabel="cost [gradient-equivalents]", ylabel="largest distance, both ways / diameter")
    axes.grid(True, which="major", alpha=0.25)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=150)
    plt.close(figure)


def main() -> None:
    """Puts the table into the page and draws the plot."""
    rows = read(RESULTS)
    plot(rows)
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(START)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{START}\n\n{table(rows)}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
