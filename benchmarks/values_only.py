"""Sets from values alone beside NSGA-II with as many evaluations: 51 problems of pymoo, three of
the UF suite (Zhang et al. 2008) and a rotated ZDT4, called through `float` so that nothing of them
is traced; or, with `--traced`, given as they are, with exact derivatives and no budget.

    python -m benchmarks.values_only [--budget 20000] [--seeds 5] [--traced] [problem ...]
    python -m benchmarks.values_only --report         # the tables of docs/suites.md (traced rows) and
                                                      # docs/own_problems.md (all others)

The peer's points (pymoo's NSGA-II, population 100) are all nondominated feasible ones that it
evaluated. Ours are as many of the answer, from 1,000 to 5,000, evaluated once more: with fewer IGD+ says
more about their number than about the surface. IGD+ is in
units of the front's ranges, hypervolumes to 1.1 of them. Where pymoo has no front, it is what either
of the two found. A row is written when it is made, and rows that are in the file already are not
made again: the command may be stopped, and goes on where it was.

The engine was developed on zdt1, zdt3, kursawe, bnh, tnk, ctp5, mw1, mw2, mw11 and dtlz2.
"""

import argparse
import csv
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import moocore
import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import Problem
from pymoo.optimize import minimize as evolve
from pymoo.problems import get_problem
from pymoo.util.ref_dirs import get_reference_directions

import bezierflow as bf
from bezierflow.objectives import InfeasibleError

from .rows import write_table

RESULTS = Path(__file__).parent / "results"
DOCS = Path(__file__).parent.parent / "docs"
START, END = "<!-- table: python -m benchmarks.values_only --report -->", "<!-- end of table -->"
COLUMNS = [
    *("problem", "budget", "seed", "igd_plus", "peer_igd_plus", "hypervolume", "peer_hypervolume"),
    *("calls", "stated", "violation", "reason", "seconds"),
]
SUITES = {
    "ctp": range(1, 9),
    "mw": range(1, 15),
    "dascmop": range(1, 10),
    "dtlz": range(1, 8),
    "uf": range(1, 4),
}
SINGLE = (
    *("zdt1", "zdt2", "zdt3", "zdt4", "zdt6", "bnh", "srn", "tnk", "osy", "kursawe"),
    *("welded_beam", "truss2d", "carside", "rotated_zdt4"),
)
NAMES = [*SINGLE, *(f"{suite}{k}" for suite, ks in SUITES.items() for k in ks)]
N_POINTS = 1000, 5000


class Written(Problem):
    """A problem that pymoo does not have."""

    def __init__(self, f: Any, low: np.ndarray, high: np.ndarray, front: np.ndarray):
        super().__init__(n_var=len(low), n_obj=2, xl=low, xu=high)
        self.f, self.front = f, front

    def _evaluate(self, x: np.ndarray, out: dict, *args: Any, **kwargs: Any) -> None:
        out["F"] = self.f(x)

    def _calc_pareto_front(self, *args: Any, **kwargs: Any) -> np.ndarray:
        return self.front


def uf(number: int, L: int = 30) -> Problem:
    j = np.arange(2, L + 1)
    odd, t = j % 2 == 1, np.linspace(0, 1, 3000)

    def f(x: np.ndarray) -> np.ndarray:
        first, rest = x[:, :1], x[:, 1:]
        if number == 1:
            y = rest - np.sin(6 * np.pi * first + j * np.pi / L)
        elif number == 2:
            wave = 0.3 * first**2 * np.cos(24 * np.pi * first + 4 * j * np.pi / L) + 0.6 * first
            angle = 6 * np.pi * first + j * np.pi / L
            y = rest - wave * np.where(odd, np.cos(angle), np.sin(angle))
        else:
            y = rest - first ** (0.5 * (1 + 3 * (j - 2) / (L - 2)))
        if number < 3:
            parts = [2 * (y[:, k] ** 2).mean(axis=1) for k in (odd, ~odd)]
        else:
            waves = np.cos(20 * y * np.pi / np.sqrt(j))
            parts = [
                2 / k.sum() * (4 * (y[:, k] ** 2).sum(axis=1) - 2 * waves[:, k].prod(axis=1) + 2)
                for k in (odd, ~odd)
            ]
        return np.stack([x[:, 0] + parts[0], 1 - np.sqrt(x[:, 0]) + parts[1]], axis=1)

    low = np.r_[0.0, np.full(L - 1, 0.0 if number == 3 else -1.0)]
    return Written(f, low, np.ones(L), np.stack([t, 1 - np.sqrt(t)], axis=1))


def rotated_zdt4(L: int = 10) -> Problem:
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(L - 1, L - 1)))[0]
    t = np.linspace(0, 1, 3000)

    def f(x: np.ndarray) -> np.ndarray:
        z = (x[:, 1:] - 0.7) @ turn
        g = 1 + 10 * (L - 1) + (z**2 - 10 * np.cos(4 * np.pi * z)).sum(axis=1)
        return np.stack([x[:, 0], g * (1 - np.sqrt(x[:, 0] / g))], axis=1)

    low = np.r_[0.0, np.full(L - 1, -5.0)]
    return Written(f, low, np.r_[1.0, np.full(L - 1, 5.0)], np.stack([t, 1 - np.sqrt(t)], axis=1))


def problem(name: str) -> Problem:
    if name == "rotated_zdt4":
        return rotated_zdt4()
    if name.startswith("uf"):
        return uf(int(name[2:]))
    if name.startswith("dtlz"):
        n_var = {"dtlz1": 7, "dtlz7": 22}.get(name, 12)
        return get_problem(name, n_var=n_var, n_obj=3)
    if name.startswith("dascmop"):
        return get_problem(name, 9)
    return get_problem(name)


def front(name: str, known: Problem) -> np.ndarray | None:
    """The true front, where pymoo knows a dense one."""
    directions = get_reference_directions("das-dennis", 3, n_partitions=40)
    for arguments in ((), (directions,)):
        try:
            points = known.pareto_front(*arguments)
        except Exception:
            continue
        if points is not None and len(points) >= 100:
            return np.asarray(points)
    return None


def nondominated(f: np.ndarray) -> np.ndarray:
    return f[np.asarray(moocore.is_nondominated(f), dtype=bool)] if len(f) else f


def ours(
    known: Problem, budget: int, seed: int, traced: bool, n_points: int
) -> tuple[np.ndarray, dict[str, Any]]:
    """The front of an answer, and how it was found."""

    def f(x: Any) -> list[float]:
        x = np.array([float(value) for value in x])
        return [float(value) for value in known.evaluate(x[None], return_values_of=["F"])[0]]

    def g(x: Any) -> list[float]:
        x = np.array([float(value) for value in x])
        return [float(value) for value in known.evaluate(x[None], return_values_of=["G"])[0]]

    began = time.process_time()
    constraints = g if known.n_ieq_constr else None
    try:
        if traced:
            solution = bf.minimize(known, seed=seed)
        else:
            box = known.xl, known.xu
            solution = bf.minimize(f, bounds=box, constraints=constraints, budget=budget, seed=seed)
    except InfeasibleError:
        how = {"calls": budget, "stated": float("nan"), "violation": 0.0, "reason": "REFUSED"}
        return np.zeros((0, known.n_obj)), {**how, "seconds": time.process_time() - began}
    seconds = time.process_time() - began
    x = np.clip(np.asarray(solution.spread(n_points).X), known.xl, known.xu)
    F = known.evaluate(x, return_values_of=["F"])
    G = known.evaluate(x, return_values_of=["G"]) if known.n_ieq_constr else np.zeros((len(x), 1))
    calls = int(solution.stats.evaluations.objective)
    assert traced or calls <= budget
    return nondominated(F[(G <= 1e-6).all(axis=1)]), {
        "calls": calls,
        "stated": solution.error.front,
        "violation": float(np.maximum(G, 0.0).max()),
        "reason": solution.result.reason.name,
        "seconds": round(seconds, 1),
    }


def peers(known: Problem, budget: int, seed: int) -> np.ndarray:
    """All nondominated feasible points that NSGA-II evaluated."""
    values, evaluate = [], known._evaluate

    def record(x: np.ndarray, out: dict, *args: Any, **kwargs: Any) -> None:
        evaluate(x, out, *args, **kwargs)
        F = np.array(out["F"]).reshape(len(np.atleast_2d(x)), -1)
        G = np.array(out["G"]).reshape(len(F), -1) if known.n_ieq_constr else np.zeros((len(F), 1))
        values.append(F[(G <= 0).all(axis=1)])

    known._evaluate = record
    try:
        evolve(known, NSGA2(pop_size=100), ("n_eval", budget), seed=seed + 1)
    finally:
        known._evaluate = evaluate
    return nondominated(np.concatenate(values))


def scores(reference: np.ndarray, found: np.ndarray) -> tuple[float, float]:
    if len(found) == 0:
        return float("inf"), 0.0
    low = reference.min(axis=0)
    span = np.maximum(np.ptp(reference, axis=0), 1e-12)
    reference, found = (reference - low) / span, (found - low) / span
    if len(reference) > 2000:
        reference = reference[np.random.default_rng(0).permutation(len(reference))[:2000]]
    one = float(moocore.igd_plus(found, ref=reference))
    return one, float(moocore.hypervolume(found, ref=np.full(found.shape[1], 1.1)))


def row(name: str, budget: int, seed: int, traced: bool) -> dict[str, Any]:
    """One problem, by both: what a row of results says."""
    known = problem(name)
    peer = peers(known, budget, seed)
    found, how = ours(known, budget, seed, traced, int(np.clip(len(peer), *N_POINTS)))
    reference = front(name, known)
    if reference is None:
        reference = nondominated(np.concatenate([peer, found]))
    made = {"problem": name, "budget": budget, "seed": seed, **how}
    made["igd_plus"], made["hypervolume"] = scores(reference, found)
    made["peer_igd_plus"], made["peer_hypervolume"] = scores(reference, peer)
    return made


def medians(budget: int) -> dict[str, dict[str, float]]:
    """Of each problem, over the seeds, without derivatives."""
    with (RESULTS / "values_only.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["budget"] == str(budget)]
    return {
        name: {
            column: float(np.median([float(row[column]) for row in rows if row["problem"] == name]))
            for column in COLUMNS[3:7]
        }
        for name in NAMES
        if any(row["problem"] == name for row in rows)
    }


def of_values() -> list[str]:
    """The table of black boxes."""
    lines = [
        "| evaluations | problems | closer than NSGA-II | at least five times closer | behind by more"
        " than 1e-3 of IGD+ or 2 % of the hypervolume |",
        "| ---: | ---: | ---: | ---: | --- |",
    ]
    for budget in (2_000, 20_000):
        found = medians(budget)
        ours, peers = (np.array([row[column] for row in found.values()]) for column in COLUMNS[3:5])
        behind = [
            f"{name} ({row['igd_plus']:.1e} to {row['peer_igd_plus']:.1e})"
            for name, row in found.items()
            if row["igd_plus"] > row["peer_igd_plus"] + 1e-3
            or row["hypervolume"] < 0.98 * row["peer_hypervolume"]
        ]
        lines.append(
            f"| {budget:,} | {len(found)} | {(ours < peers).sum()} | {(5 * ours < peers).sum()}"
            f" | {', '.join(behind)} |"
        )
    return lines


def of_suites() -> list[str]:
    """The table of traced rows."""
    with (RESULTS / "suites.csv").open(newline="", encoding="utf-8") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: NAMES.index(row["problem"]))
    lines = [
        "| problem | says | IGD+ | NSGA-II | hypervolume | NSGA-II | violation | points | CPU s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        igd, peer, hv, peer_hv, broken = (
            float(row[name])
            for name in (
                *("igd_plus", "peer_igd_plus", "hypervolume", "peer_hypervolume"),
                "violation",
            )
        )
        bold = "**" if igd < peer else ""
        lines.append(
            f"| {row['problem']} | {row['reason'].lower().replace('_', ' ')} | {bold}{igd:.1e}{bold}"
            f" | {peer:.1e} | {hv:.4f} | {peer_hv:.4f} | {broken:.0e} | {int(row['calls']):,}"
            f" | {float(row['seconds']):.0f} |"
        )
    ours, peers = (
        np.array([float(row[name]) for row in rows]) for name in ("igd_plus", "peer_igd_plus")
    )
    gaps = [float(row["peer_hypervolume"]) / max(float(row["hypervolume"]), 1e-9) for row in rows]
    counts = Counter(row["reason"].lower().replace("_", " ") for row in rows)
    lines += [
        "",
        f"{len(rows)} of {len(NAMES)} problems: "
        + ", ".join(f"{n} {reason}" for reason, n in counts.most_common())
        + f". IGD+ is smaller on {(ours < peers).sum()}, five times smaller on"
        f" {(5 * ours < peers).sum()}; the hypervolume is behind by more than 1 % on"
        f" {sum(gap > 1.01 for gap in gaps)}.",
    ]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("problems", nargs="*", default=NAMES)
    parser.add_argument("--budget", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--traced", action="store_true")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.report:
        write_table(DOCS / "suites.md", START, END, "\n".join(of_suites()))
        write_table(DOCS / "own_problems.md", START, END, "\n".join(of_values()))
        return
    path = RESULTS / ("suites.csv" if options.traced else "values_only.csv")
    warnings.filterwarnings("ignore")
    made = set()
    if path.exists():
        with path.open() as file:
            made = {(r["problem"], int(r["budget"]), int(r["seed"])) for r in csv.DictReader(file)}
    else:
        path.write_text(",".join(COLUMNS) + "\n")
    for seed in range(options.seeds):
        for name in options.problems:
            if (name, options.budget, seed) in made:
                continue
            made_now = row(name, options.budget, seed, options.traced)
            text = [f"{v:.6g}" if isinstance(v := made_now[c], float) else str(v) for c in COLUMNS]
            with path.open("a") as file:
                file.write(",".join(text) + "\n")
            print(*text, flush=True)


if __name__ == "__main__":
    main()
