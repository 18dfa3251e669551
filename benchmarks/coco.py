"""`Surrogate` on the bi-objective suite of COCO after 20 D evaluations, beside two optimizers whose
gaps COCO's archive has, run by run.

    python -m benchmarks.coco 2 3 --instances 3 4 5 --processes 2   # rows that are not there yet
    python -m benchmarks.coco 5 --pairs 1 2 11 28                   # some of the 55 pairs
    python -m benchmarks.coco report                                # the tables and the picture of docs/coco.md

`pip install coco-experiment` brings the suite. A row is the gap to the best hypervolume that COCO
knows, as COCO's own logger states it, in units of the normalized front; all evaluations count, none
of the surface. The search is that of `minimize(f, None, Surrogate(), bounds=…, budget=20 D)` with
one design at a time and the whole budget spent. Settings were chosen on other problems.
"""

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from .rows import append, write_table

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "coco.csv"
PEERS = ROOT / "benchmarks" / "data" / "bbob_biobj_20D.csv"
PAGE, PICTURE = ROOT / "docs" / "coco.md", ROOT / "docs" / "images" / "coco.png"
START, END = "<!-- table: python -m benchmarks.coco report -->", "<!-- end of table -->"
COLUMNS = ("function", "dimension", "instance", "evaluations", "gap", "cpu_seconds")
PAIRS = range(1, 56)
GROUPS = ("separable", "moderate", "ill-conditioned", "multimodal", "weakly structured")
SINGLE = (1, 2, 6, 8, 13, 14, 15, 17, 20, 21)
"""The functions of the single-objective suite that are paired, two for each group."""

Key = tuple[int, int, int]


def groups(pair: int) -> tuple[str, str]:
    """The groups of both functions of a pair."""
    firsts, seconds = np.triu_indices(len(SINGLE))
    return GROUPS[firsts[pair - 1] // 2], GROUPS[seconds[pair - 1] // 2]


def solve(pair: int, dimension: int, instance: int) -> dict[str, object]:
    """One run in this process; COCO's files lie in a temporary folder."""
    import cocoex

    import bezierflow as bf

    folder, budget = Path.cwd() / "exdata" / "run", 20 * dimension
    suite = cocoex.Suite(
        "bbob-biobj",
        f"instances: {instance}",
        f"dimensions: {dimension} function_indices: {pair}",
    )
    problem = suite.get_problem(0)
    problem.observe_with(cocoex.Observer("bbob-biobj", "result_folder: run"))
    # COCO's region of interest is [-100, 100]; its single functions are least within [-5, 5]
    sides = np.full(dimension, -5.0), np.full(dimension, 5.0)
    search = bf.surrogate.Search(sides, 2, seed=instance, tol=0.0, budget=budget)
    began = time.process_time()
    for _ in range(budget):
        (x,) = search.ask(1)
        search.tell(x, np.asarray(problem(x)))
    spent = time.process_time() - began
    problem.free()
    (info,) = folder.glob("*.info")
    found = re.findall(rf"{instance}:(\d+)\|(\S+)", info.read_text(encoding="utf-8"))
    evaluations, gap = found[-1]
    return {
        "function": pair,
        "dimension": dimension,
        "instance": instance,
        "evaluations": int(evaluations),
        "gap": float(gap),
        "cpu_seconds": f"{spent:.1f}",
    }


def read(path: Path, algorithm: str | None = None) -> dict[Key, float]:
    """Gaps by pair, dimension and instance."""
    with path.open(newline="", encoding="utf-8") as file:
        return {
            (int(row["function"]), int(row["dimension"]), int(row["instance"])): float(row["gap"])
            for row in csv.DictReader(file)
            if algorithm is None or row["algorithm"] == algorithm
        }


def run(keys: list[Key], processes: int) -> None:
    """Runs keys that have no row, in processes that take pairs in turn."""
    missing = [key for key in keys if not RESULTS.exists() or key not in read(RESULTS)]
    shares = [missing[k::processes] for k in range(processes)]

    def work(share: list[Key]) -> None:
        # programs are compiled once for all runs of a process
        text = "\n".join(" ".join(map(str, key)) for key in share)
        command = [sys.executable, "-m", "benchmarks.coco", "worker"]
        paths = [str(ROOT / "src"), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(command, input=text, text=True, cwd=folder, env=env, check=True)

    with ThreadPoolExecutor(processes) as pool:
        list(pool.map(work, [share for share in shares if share]))


def work() -> None:
    """Runs that standard input names, a row for each."""
    for line in sys.stdin.read().splitlines():
        pair, dimension, instance = map(int, line.split())
        row = solve(pair, dimension, instance)
        shutil.rmtree("exdata")
        append(RESULTS, COLUMNS, row)
        print(row, flush=True)


def compared() -> Iterator[tuple[int, dict[str, np.ndarray], list[Key]]]:
    """For each dimension the gaps of the runs that all have."""
    gaps = {"ours": read(RESULTS), "TPB": read(PEERS, "TPB"), "MOTPE": read(PEERS, "MOTPE")}
    for dimension in sorted({key[1] for key in gaps["ours"]}):
        keys = [k for k in gaps["ours"] if k[1] == dimension and all(k in g for g in gaps.values())]
        yield dimension, {name: np.array([g[k] for k in keys]) for name, g in gaps.items()}, keys


def table() -> str:
    """Medians and shares of runs ahead, for each dimension and for each group."""
    lines = [
        "| D | runs | median gap: ours | TPB | MOTPE | ahead of TPB | ahead of MOTPE | ahead of both |",
        "|---|---|---|---|---|---|---|---|",
    ]
    by_group: dict[str, list[tuple[float, float, float]]] = {name: [] for name in GROUPS}
    for dimension, gaps, keys in compared():
        ours, tpb, motpe = gaps["ours"], gaps["TPB"], gaps["MOTPE"]
        medians = " | ".join(f"{np.median(g):.2g}" for g in (ours, tpb, motpe))
        shares = (ours < tpb, ours < motpe, (ours < tpb) & (ours < motpe))
        ahead = " | ".join(f"{share.mean():.0%}" for share in shares)
        lines.append(f"| {dimension} | {len(ours)} | {medians} | {ahead} |")
        for k, key in enumerate(keys):
            for group in set(groups(key[0])):
                by_group[group].append((ours[k], tpb[k], motpe[k]))
    lines += [
        "",
        "| one of both functions is | runs | median gap: ours | TPB | MOTPE | ahead of both |",
        "|---|---|---|---|---|---|",
    ]
    for group, gaps in by_group.items():
        a = np.array(gaps)
        medians = " | ".join(f"{m:.2g}" for m in np.median(a, axis=0))
        lines.append(
            f"| {group} | {len(a)} | {medians} | {(a[:, 0] < a[:, 1:].min(axis=1)).mean():.0%} |"
        )
    return "\n".join(lines)


def draw() -> None:
    """Shares of runs whose gap is at most so large, for each dimension."""
    import matplotlib.pyplot as plt

    found = list(compared())
    figure, axes = plt.subplots(
        1, len(found), figsize=(4 * len(found), 3.4), sharey=True, squeeze=False
    )
    for axis, (dimension, gaps, keys) in zip(axes[0], found, strict=True):
        for name, values in gaps.items():
            share = np.arange(1, len(values) + 1) / len(values)
            style = {"lw": 2.2} if name == "ours" else {"lw": 1.4, "ls": "--"}
            axis.step(np.sort(np.maximum(values, 1e-6)), share, where="post", label=name, **style)
        axis.set(
            xscale="log", xlabel="gap to the best known hypervolume", ylim=(0, 1),
            title=f"D = {dimension}, {20 * dimension} evaluations, {len(keys)} runs",
        )  # fmt: skip
        axis.grid(alpha=0.3)
    axes[0, 0].set_ylabel("share of runs")
    axes[0, 0].legend(frameon=False)
    figure.savefig(PICTURE, dpi=130, bbox_inches="tight")


def report() -> None:
    """Writes the tables into the page, and the picture."""
    write_table(PAGE, START, END, table())
    draw()


def main() -> None:
    """As the module says."""
    if sys.argv[1:] == ["report"]:
        report()
    elif sys.argv[1:] == ["worker"]:
        work()
    else:
        parser = argparse.ArgumentParser(
            description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        parser.add_argument("dimensions", type=int, nargs="+", choices=(2, 3, 5, 10))
        parser.add_argument("--instances", type=int, nargs="+", default=[3, 4, 5])
        parser.add_argument("--pairs", type=int, nargs="+", default=list(PAIRS))
        parser.add_argument("--processes", type=int, default=os.cpu_count())
        given = parser.parse_args()
        keys = [(p, d, i) for d in given.dimensions for i in given.instances for p in given.pairs]
        run(keys, given.processes)


if __name__ == "__main__":
    main()
