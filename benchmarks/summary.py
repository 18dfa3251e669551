"""One line per class of problems, from the rows that the other commands left, for docs/benchmarks.md.

python -m benchmarks.summary      # the table and the picture of that page
"""

import csv
from pathlib import Path

import numpy as np

from .rows import write_table

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE, PICTURE = ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "images" / "benchmarks.png"
START, END = "<!-- table: python -m benchmarks.summary -->", "<!-- end of table -->"

Line = dict[str, object]


def rows(name: str) -> list[dict[str, str]]:
    with (RESULTS / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def median(numbers: list[str] | list[float]) -> float:
    return float(np.nanmedian([float(number) for number in numbers]))


def smooth() -> Line:
    """The contest: medians over problems of medians over seeds; the best peer of each problem."""
    own_methods = {"auto", "weights", "algorithm-2", "algorithm-2-equal"}
    found: dict[str, dict[str, list[dict[str, str]]]] = {}
    for row in rows("contest"):
        if row["max"] not in ("", "nan"):
            found.setdefault(row["problem"], {}).setdefault(row["method"], []).append(row)
    ours, best = [], []
    for methods in found.values():
        own = [
            median([row["max"] for row in methods[name]]) for name in methods.keys() - own_methods
        ]
        if "auto" in methods and own:
            ours += methods["auto"]
            best.append(min(own))
    return {
        "class": f"smooth, without bounds ({len(best)} problems)",
        "measured": "largest distance to the exact set, over its diameter",
        "ours": median([row["max"] for row in ours]),
        "peer": median(best),
        "best peer": "the best of eight per problem",
        "evaluations": median([row["gradient_equivalents"] for row in ours]),
        "seconds": median([row["warm_seconds"] for row in ours]),
        "page": "[contest](contest.md)",
    }


def bounded(n_objectives: int) -> Line:
    """Named problems with bounds and constraints: 22 rows of ours, populations of 100,000."""
    name = {2: "NSGA-II, 100,000", 3: "NSGA-III, 100,000"}[n_objectives]
    named = rows("atlas_named")
    peers = {row["problem"]: row for row in named if row["method"] == name}
    ours = [row for row in named if row["method"] == "minimize" and row["problem"] in peers]
    return {
        "class": f"bounds and constraints, {n_objectives} objectives ({len(ours)} problems)",
        "measured": "largest distance from the true front, in ranges",
        "ours": median([row["front_max"] for row in ours]),
        "peer": median([peers[row["problem"]]["front_max"] for row in ours]),
        "best peer": name,
        "evaluations": median([row["evaluations"].split()[0] for row in ours]),
        "seconds": median([row["seconds"] for row in ours]),
        "page": "[atlas](atlas.md#what-it-reaches)",
    }


def called(budget: int) -> Line:
    """Values alone, IGD+ beside NSGA-II with as many evaluations; over problems and seeds."""
    ours = [row for row in rows("values_only") if row["budget"] == str(budget)]
    n = len({row["problem"] for row in ours})
    return {
        "class": f"black boxes, {budget:,} evaluations ({n} problems)",
        "measured": "IGD+, in ranges",
        "ours": median([row["igd_plus"] for row in ours]),
        "peer": median([row["peer_igd_plus"] for row in ours]),
        "best peer": "NSGA-II",
        "evaluations": median([row["calls"] for row in ours]),
        "seconds": median([row["seconds"] for row in ours]),
        "page": "[own problems](own_problems.md#values-alone)",
    }


def expensive() -> Line:
    """80 evaluations without noise: the gap of the hypervolume, medians over problems that peers
    have rows of."""
    chosen = [row for row in rows("expensive") if row["budget"] == "80" and row["noise"] == "0"]
    gaps: dict[str, dict[str, list[str]]] = {}
    for row in chosen:
        gaps.setdefault(row["method"], {}).setdefault(row["problem"], []).append(row["gap"])
    medians = {
        method: {problem: median(own) for problem, own in by.items()} for method, by in gaps.items()
    }
    own = medians.pop("ours, surface")
    del medians["ours, points"]
    found = {problem: [by[problem] for by in medians.values() if problem in by] for problem in own}
    peer = {problem: min(gaps) for problem, gaps in found.items() if gaps}
    ours = {problem: own[problem] for problem in peer}
    return {
        "class": f"80 evaluations in all ({len(ours)} problems)",
        "measured": "share of the hypervolume that is missed",
        "ours": median(list(ours.values())),
        "peer": median(list(peer.values())),
        "best peer": "the best of qLogNEHVI, qNParEGO, NSGA-II, Sobol",
        "evaluations": 80,
        "seconds": median(
            [row["cpu_seconds"] for row in chosen if row["method"] == "ours, surface"]
        ),
        "page": "[expensive](expensive.md)",
    }


def coco() -> Line:
    """The gaps of evaluations; the better peer of each run."""
    from benchmarks.coco import compared

    gaps = [gaps for _, gaps, _ in compared()]
    ours = np.concatenate([one["ours"] for one in gaps])
    peers = np.concatenate([np.minimum(one["TPB"], one["MOTPE"]) for one in gaps])
    return {
        "class": f"20 evaluations per variable, COCO's pairs ({len(ours)} runs)",
        "measured": "gap to the best known hypervolume",
        "ours": median(list(ours)),
        "peer": median(list(peers)),
        "best peer": "the better of TPB and MOTPE in each run",
        "evaluations": median([row["evaluations"] for row in rows("coco")]),
        "seconds": median([row["cpu_seconds"] for row in rows("coco")]),
        "page": "[COCO](coco.md)",
    }


def published_fronts() -> Line:
    """RE: by how much a published point and one of ours is dominated at most, where the run
    converged."""
    done = [row for row in rows("engineering") if row["reason"] == "CONVERGED"]
    compared = [row for row in done if row["by_at_most"]]
    return {
        "class": f"engineering designs of the RE suite ({len(compared)} problems)",
        "measured": "dominated by the other side by at most, in ranges",
        "ours": max(float(row["behind_at_most"]) for row in compared),
        "peer": max(float(row["by_at_most"]) for row in compared),
        "best peer": "the published reference fronts",
        "evaluations": median([row["values"] for row in compared]),
        "seconds": median([row["cpu_seconds"] for row in compared]),
        "page": "[certified fronts](fronts.md)",
    }


def against_exact(name: str, what: str, measured: str, error: str, page: str) -> Line:
    """Rows that are compared with exact solutions, without a peer."""
    done = rows(name)
    return {
        "class": f"{what} ({len(done)} problem{'s' * (len(done) > 1)})",
        "measured": measured,
        "ours": median([row[error] for row in done]),
        "peer": None,
        "best peer": "",
        "evaluations": median([row["values"] for row in done]) if "values" in done[0] else None,
        "seconds": median([row["seconds"] for row in done]),
        "page": page,
    }


def lines() -> list[Line]:
    """All lines, in the order of the page."""
    return [
        smooth(),
        bounded(2),
        bounded(3),
        called(20_000),
        called(2_000),
        expensive(),
        coco(),
        published_fronts(),
        against_exact(
            "portfolios",
            "portfolios of OR-Library",
            "variance at equal return beside the published, in ranges, at most",
            "error_max",
            "[certified fronts](fronts.md#portfolios)",
        ),
        against_exact(
            "many_variables",
            "40 to 225 variables in bounds",
            "largest miss of a true point, in ranges",
            "error",
            "[atlas](atlas.md#what-meshes-reach)",
        ),
    ]


def table(found: list[Line]) -> str:
    """As Markdown."""
    head = ("problems", "what is measured", "ours", "peer", "evaluations", "seconds", "everything")
    text = [f"| {' | '.join(head)} |", "|---|---|---|---|---|---|---|"]
    for line in found:
        peer = f"{line['peer']:.1e}, {line['best peer']}" if line["peer"] is not None else "–"
        spent = f"{line['evaluations']:,.0f}" if line["evaluations"] is not None else "–"
        cells = (line["class"], line["measured"], f"**{line['ours']:.1e}**", peer, spent)
        text.append(
            f"| {' | '.join(map(str, cells))} | {line['seconds']:.{0 if line['seconds'] > 9.95 else 1}f} | {line['page']} |"
        )
    return "\n".join(text)


def picture(found: list[Line]) -> None:
    """Ours and the peer of each line, on one logarithmic scale."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 0.42 * len(found) + 0.9), layout="constrained")
    for place, line in enumerate(reversed(found)):
        if line["peer"] is not None:
            axes.plot([line["ours"], line["peer"]], [place, place], color="#c9c9c4", zorder=1)
            axes.plot(line["peer"], place, "o", color="#d9603b", label="best peer")
        axes.plot(line["ours"], place, "o", color="#2a78d6", label="bezierflow")
    axes.set_xscale("log")
    axes.set_yticks(range(len(found)), [str(line["class"]) for line in reversed(found)])
    axes.set_xlabel("error (what is measured is in the table); left is better")
    axes.grid(axis="x", color="#eeeeea")
    handles, labels = axes.get_legend_handles_labels()
    named = dict(zip(labels, handles, strict=True))
    axes.legend(named.values(), named.keys(), loc="lower right", frameon=False)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    figure.savefig(PICTURE, dpi=120)


def main() -> None:
    """As the module says."""
    found = lines()
    write_table(PAGE, START, END, f"\n{table(found)}\n")
    picture(found)


if __name__ == "__main__":
    main()
