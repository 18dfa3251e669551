"""Runs ours and the peers on expensive problems, each from where it stopped, and writes one row for
each result.

    python -m benchmarks.expensive ours 80 --seeds 1            # every problem, without noise; the library's environment
    python -m benchmarks.expensive peers 80 --seeds 1           # the environment of the peers (see `peers.py`)
    python -m benchmarks.expensive ours 80 --noise 0.02 --problems zdt1 re21
    python -m benchmarks.expensive kept                         # rows of all runs of peers that are kept, as far as they went
    python -m benchmarks.expensive report                       # the tables of docs/expensive.md from the rows

Rows that are there already are not made again; evaluations of peers are kept in `runs/` beside this
file, so that a run of 150 goes on from one of 80. Every score is of exact objective values,
whatever noise the methods saw. A method's "surface" is scored by 400 points of it for two
objectives, 500 for three; "points" are all designs evaluated; those
that violate a constraint do not count, nor do such of the surface, whose whole numbers are rounded. Processor seconds of "points" are
those of choosing them; to those of "surface" making the surface is added.
"""

import argparse
import csv
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from ..rows import append
from .problems import PROBLEMS, Expensive
from .report import report
from .scoring import floor, gap, igd_plus

RESULTS = Path(__file__).parent.parent / "results" / "expensive.csv"
RUNS = Path(__file__).parent / "runs"
COLUMNS = (
    "problem",
    "noise",
    "method",
    "seed",
    "budget",
    "gap",
    "floor",
    "igd_plus",
    "cpu_seconds",
    "error",
    "reason",
)
N_SURFACE = {2: 400, 3: 500}
BUDGETS = (40, 80, 150)


def main() -> None:
    """As the module says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["ours", "peers", "kept", "report"])
    parser.add_argument("budget", type=int, nargs="?", default=80)
    parser.add_argument("--seeds", type=int, default=1, help="how many, from 0")
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--problems", nargs="*", default=list(PROBLEMS))
    parser.add_argument(
        "--methods", nargs="*", default=["sobol", "NSGA-II", "qLogNEHVI", "qNParEGO"]
    )
    given = parser.parse_args()
    if given.what == "report":
        print(report(RESULTS))
        return
    if given.what == "kept":
        kept()
        return
    methods = ["ours"] if given.what == "ours" else given.methods
    for seed in range(given.seeds):
        for method in methods:
            for name in given.problems:
                run = ours if method == "ours" else peer
                run(PROBLEMS[name], method, given.noise, seed, given.budget)


def done() -> set[tuple[str, ...]]:
    """The keys of the rows that are there."""
    if not RESULTS.exists():
        return set()
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return {
            (r["problem"], r["noise"], r["method"], r["seed"], r["budget"])
            for r in csv.DictReader(file)
        }


def write(row: dict[str, Any]) -> None:
    """Appends a row and shows it."""
    append(RESULTS, COLUMNS, row)
    print(row, flush=True)


def row(problem: Expensive, noise: float, method: str, seed: int, budget: int) -> dict[str, Any]:
    """The key of a row."""
    return {
        "problem": problem.name,
        "noise": f"{noise:g}",
        "method": method,
        "seed": seed,
        "budget": budget,
    }


def key(one: dict[str, Any]) -> tuple[str, ...]:
    """The same, to be looked up."""
    return tuple(str(one[name]) for name in ("problem", "noise", "method", "seed", "budget"))


def scores(problem: Expensive, x: np.ndarray, n: int, seconds: float | None) -> dict[str, Any]:
    """Of designs, beside what n points can do."""
    f = problem.values(x)
    return {
        "gap": f"{gap(problem, f):.5f}",
        "floor": f"{floor(problem, n):.5f}",
        "igd_plus": f"{igd_plus(problem, f):.5f}",
        "cpu_seconds": "" if seconds is None else f"{seconds:.1f}",
    }


def peer(problem: Expensive, method: str, noise: float, seed: int, budget: int) -> None:
    """Evaluations of a peer up to the budget, and rows for every budget on the way."""
    for n in [n for n in BUDGETS if n <= budget] or [budget]:
        one = row(problem, noise, method, seed, n)
        if key(one) not in done():
            x, spent = advance(problem, method, noise, seed, n)
            write({**one, **scores(problem, x[:n], n, spent)})


def kept() -> None:
    """Rows of the runs in `RUNS`, for every budget that they have reached."""
    for path in sorted(RUNS.glob("*.npz")):
        name, method, noise, seed = path.stem.rsplit("_", 3)
        with np.load(path) as run:
            reached = max([n for n in BUDGETS if n <= len(run["x"])], default=0)
        if reached:
            peer(PROBLEMS[name], method, float(noise), int(seed), reached)


def advance(
    problem: Expensive, method: str, noise: float, seed: int, n: int, until: float = np.inf
) -> tuple[np.ndarray, float | None]:
    """A peer's designs up to n of them, batch by batch from those that are kept, and the processor
    seconds they took.

    No batch begins after `until`, a time of `time.time()`. The seconds are None where an
    accelerator did some of the work.
    """
    from .peers import PEERS, accelerated

    RUNS.mkdir(exist_ok=True)
    path = RUNS / f"{problem.name}_{method}_{noise:g}_{seed}.npz"
    x, y, spent = (
        np.zeros((0, problem.n_variables)),
        np.zeros((0, problem.n_objectives + problem.n_constraints)),
        np.zeros(0),
    )
    if path.exists():
        with np.load(path) as kept:
            x, y, spent = kept["x"], kept["y"], kept["spent"]
    while len(x) < n and time.time() < until:
        began = time.process_time()
        evaluate = problem.noisy(noise, 1000 * seed + len(x))
        x, y = PEERS[method](problem, evaluate, x, y, n, seed)
        took = np.nan if accelerated() else time.process_time() - began
        spent = np.append(spent, np.full(len(x) - len(spent), took / (len(x) - len(spent))))
        np.savez(path, x=x, y=y, spent=spent)
    total = float(spent[:n].sum())
    return x, None if np.isnan(total) else total


def ours(problem: Expensive, method: str, noise: float, seed: int, budget: int) -> None:
    """One search, looked at whenever a budget is reached: a row for its surface, one for the points
    that it evaluated."""
    budgets = [n for n in BUDGETS if n <= budget] or [budget]
    wanted = [
        (n, [row(problem, noise, f"ours, {part}", seed, n) for part in ("surface", "points")])
        for n in budgets
    ]
    if all(key(one) in done() for _, pair in wanted for one in pair):
        return
    import bezierflow as bf

    began = time.process_time()
    search = bf.surrogate.Search(
        problem.bounds,
        problem.n_objectives,
        seed=seed,
        budget=budget,
        tol=0.0,
        worst=problem.worst,
        n_constraints=problem.n_constraints or None,
        steps=dict.fromkeys(problem.whole, 1.0) or None,
    )
    searching, x, n_surface = (
        time.process_time() - began,
        np.zeros((0, problem.n_variables)),
        N_SURFACE[problem.n_objectives],
    )
    for n, pair in wanted:
        while len(x) < n:
            began = time.process_time()
            new = search.ask(
                min(
                    search.n_initial - len(x) if len(x) < search.n_initial else search.batch,
                    n - len(x),
                )
            )
            searching += time.process_time() - began
            search.tell(new, problem.noisy(noise, 1000 * seed + len(x))(new))
            x = np.vstack([x, new])
        began = time.process_time()
        solution = search.solution()
        surface = problem.settable(np.asarray(solution.spread(n_surface).X))
        ends = {"error": f"{float(solution.error):.2g}", "reason": solution.result.reason.value}
        of_both = scores(problem, surface, n_surface, searching + time.process_time() - began)
        for one, score in zip(
            pair, ({**of_both, **ends}, scores(problem, x, n, searching)), strict=True
        ):
            if key(one) not in done():
                write({**one, **score})


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
