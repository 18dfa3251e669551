"""COCO's best known hypervolumes on its smooth unimodal pairs, from surfaces that values alone gave.

    python -m benchmarks.best_known 2 3 5 --processes 2          # rows that are not there yet
    python -m benchmarks.best_known 2 3 5 --instances 1 --designs 1000000
    python -m benchmarks.best_known report                       # the table of docs/coco.md

The surface is that of `minimize(f, x0, bounds=…)` on the black box, with a budget of 100,000
evaluations at most. Then 100,000 designs of it (or a million), evenly spread over t, are evaluated,
and COCO's own logger states how far their hypervolume is from the best that is known, below 0 where
it is better. It misses what lies between 100,000 points, some 3e-6, however exact these are. The
ten pairs are those of the sphere, the ellipsoid, Rosenbrock's function and the sum of different
powers, smooth and with one minimum each but for Rosenbrock's (two from four variables on).
"""

import argparse
import csv
import os
import re
import tempfile
import time
from pathlib import Path

import numpy as np

from .coco import PAGE, SINGLE
from .rows import append, write_table

RESULTS = Path(__file__).parent / "results" / "best_known.csv"
START, END = "<!-- table: python -m benchmarks.best_known report -->", "<!-- end of best known -->"
NAMES = "function", "dimension", "instance", "evaluated"
COLUMNS = (*NAMES, "side", "searched", "reason", "stated", "gap", "cpu_seconds")
SMOOTH = 1, 2, 8, 14
BUDGET, DESIGNS, REACHED = 100_000, 100_000, 1e-5
SIDES = 5.0, 100.0
"""Single functions are least within the first; the region of interest is the second."""

Key = tuple[int, int, int, int]
"""Pair, dimension, instance, and how many designs of the surface are evaluated."""


def pairs(single: tuple[int, ...]) -> list[int]:
    """The numbers of the pairs of some of the single functions."""
    firsts, seconds = np.triu_indices(len(SINGLE))
    both = zip(firsts, seconds, strict=True)
    return [k for k, (i, j) in enumerate(both, 1) if {SINGLE[i], SINGLE[j]} <= set(single)]


def problem_of(key: Key):
    """A problem of the suite, with the suite, which must live as long."""
    import cocoex

    pair, dimension, instance, _ = key
    only = f"dimensions: {dimension} function_indices: {pair}"
    suite = cocoex.Suite("bbob-biobj", f"instances: {instance}", only)
    return suite.get_problem(0), suite


def gap(key: Key, designs: np.ndarray) -> float:
    """How far the hypervolume of designs is from the best known, as COCO's logger states it."""
    import cocoex

    problem, _suite = problem_of(key)
    with tempfile.TemporaryDirectory() as folder:
        before = Path.cwd()
        os.chdir(folder)
        try:
            problem.observe_with(
                cocoex.Observer("bbob-biobj", "result_folder: run log_nondominated: none")
            )
            for x in designs:
                problem(x)
            problem.free()
            (info,) = Path("exdata", "run").glob("*.info")
            return float(re.findall(r":\d+\|(\S+)", info.read_text(encoding="utf-8"))[-1])
        finally:
            os.chdir(before)


def row_of(key: Key) -> dict[str, object]:
    """One search, in the region of interest where its set leaves the smaller box."""
    import bezierflow as bf

    began, searched = time.process_time(), 0
    t = np.linspace(0.0, 1.0, key[3])
    for side in SIDES:
        problem, _suite = problem_of(key)
        box = np.full(key[1], -side), np.full(key[1], side)
        solution = bf.minimize(
            lambda x, f=problem: np.asarray(f(np.asarray(x, dtype=float))),
            np.zeros(key[1]),
            bounds=box,
            budget=BUDGET,
        )
        searched += int(problem.evaluations)
        designs = np.asarray(solution.design(np.stack([1 - t, t], axis=1)))
        if np.abs(designs).max() < side * (1 - 1e-6):
            break
    spent = time.process_time() - began
    return {
        **dict(zip(NAMES, key, strict=True)),
        "side": side,
        "searched": searched,
        "reason": solution.result.reason.name,
        "stated": f"{solution.error.front:.2g}" if solution.error else "",
        "gap": gap(key, designs),
        "cpu_seconds": f"{spent:.1f}",
    }


def read() -> dict[Key, dict[str, str]]:
    """The rows that are known."""
    if not RESULTS.exists():
        return {}
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return {tuple(int(row[name]) for name in NAMES): row for row in csv.DictReader(file)}


def work(key: Key) -> None:
    """A row for a key, in a process of its own."""
    row = row_of(key)
    append(RESULTS, COLUMNS, row)
    print(row, flush=True)


def table() -> str:
    """How many of the values were reached and beaten, by dimension and number of designs."""
    lines = [
        "| D | designs | runs | reached to 1e-5 | beaten | median gap | largest | evaluations of the"
        " search, median | processor seconds, median | largest |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    rows = sorted(read().items())
    for designs, dimension in sorted({(key[3], key[1]) for key, _ in rows}):
        mine = [row for key, row in rows if (key[3], key[1]) == (designs, dimension)]
        gaps, searched, seconds = (
            np.array([float(row[name]) for row in mine])
            for name in ("gap", "searched", "cpu_seconds")
        )
        counts = f"{len(mine)} | {(gaps <= REACHED).sum()} | {(gaps < 0).sum()}"
        sizes = f"{np.median(gaps):.1e} | {gaps.max():.1e}"
        costs = f"{np.median(searched):,.0f} | {np.median(seconds):.0f} | {seconds.max():.0f}"
        lines.append(f"| {dimension} | {designs:,} | {counts} | {sizes} | {costs} |")
    return "\n".join(lines)


def main() -> None:
    """As the module says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dimensions", nargs="+", help="2, 3, 5, or the word report")
    parser.add_argument("--instances", type=int, nargs="+", default=list(range(1, 11)))
    parser.add_argument("--pairs", type=int, nargs="+", default=pairs(SMOOTH))
    parser.add_argument("--designs", type=int, default=DESIGNS)
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    if given.dimensions == ["report"]:
        write_table(PAGE, START, END, table())
        return
    from loky import get_reusable_executor

    dimensions, known = [int(d) for d in given.dimensions], read()
    keys = [
        (p, d, i, given.designs) for d in dimensions for p in given.pairs for i in given.instances
    ]
    list(get_reusable_executor(given.processes).map(work, [k for k in keys if k not in known]))


if __name__ == "__main__":
    main()
