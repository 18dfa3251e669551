"""The tables of docs/gallery.md from the rows of a run."""

from collections.abc import Sequence

import numpy as np

from .outcomes import SMALLEST, Outcome

OUTCOMES = (
    "right",
    "less exact",
    "flagged",
    "flagged although right",
    "refused",
    "stopped",
    "silently wrong",
    "error",
)


def report(rows: Sequence[Outcome]) -> str:
    """Outcomes by kind, and how the estimate stands to the true error."""
    kinds = list(dict.fromkeys(row.kind for row in rows))
    lines = [
        "| kind | problems | " + " | ".join(OUTCOMES) + " |",
        "|---" * (2 + len(OUTCOMES)) + "|",
    ]
    for kind in [*kinds, "all"]:
        mine = [row for row in rows if kind in (row.kind, "all")]
        counts = [sum(row.outcome == outcome for row in mine) for outcome in OUTCOMES]
        lines.append(f"| {kind} | {len(mine)} | " + " | ".join(map(str, counts)) + " |")
    stated = [
        row for row in rows if row.reason in ("converged", "not at tolerance") and row.estimate > 0
    ]
    ratios = [row.true / row.estimate for row in stated if row.true > SMALLEST]
    if ratios:
        words = ", ".join(
            f"{value:.2g}" for value in np.quantile(ratios, [0.1, 0.5, 0.9, 1.0], method="nearest")
        )
        lines.append(
            f"\ntrue / estimated, above {SMALLEST:g} ({len(ratios)} problems): 10 %, 50 %, 90 %,"
            f" largest: {words}"
        )
    wrong = [
        row
        for row in rows
        if row.outcome in ("flagged although right", "stopped", "silently wrong", "error")
    ]
    lines += [
        f"\n{row.outcome}: {row.kind}: {row.problem}: true {row.true:.1e}, said {row.estimate:.1e}"
        for row in wrong
    ]
    return "\n".join(lines)
