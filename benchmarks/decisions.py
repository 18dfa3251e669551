"""How long a question to a finished surface takes, once it has been asked before.

`python benchmarks/decisions.py` asks several questions of every kind, on problems of two to five
objectives, each question again and again. Reported in milliseconds: the median and the best of all
calls of a kind, its hardest question (the best of that question's own calls), and the median
processor time, which does not count what else the machine does.
"""

import argparse
import csv
import dataclasses
import importlib.metadata
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import bezierflow as bf
from bezierflow import decisions

RESULTS = Path(__file__).parent / "results" / "decisions.csv"

PROBLEMS = {
    "M=2 quadratics, L=4": bf.problems.Quadratic.random(2, 4, seed=3),
    "M=2 Fonseca": bf.problems.Fonseca(2),
    "M=3 scaled-MED": bf.problems.ScaledMED(),
    "M=3 quadratics, L=20": bf.problems.Quadratic.random(3, 20, seed=4),
    "M=3 skew-3MED, with kinks": bf.problems.SkewMED(3),
    "M=4 quadratics, L=5": bf.problems.Quadratic.random(4, 5, seed=1),
    "M=5 quadratics, L=6": bf.problems.Quadratic.random(5, 6, seed=2),
}

HEADER = ["problem", "query", "median_ms", "best_ms", "hardest_question_ms", "median_cpu_ms"]


def questions(solution: bf.Solution, rng: np.random.Generator) -> dict[str, Callable[[], object]]:
    """One question of every kind, its figures drawn at random."""
    span, n_objectives = decisions.ranges(solution), solution.n_objectives

    def level(low: float, high: float) -> np.ndarray:
        return span.ideal + rng.uniform(low, high, n_objectives) * span.width

    t, limit, hope, price = (
        rng.dirichlet(np.ones(n_objectives)),
        level(0.3, 0.7),
        level(0.1, 0.3),
        rng.uniform(1, 2, n_objectives),
    )
    f, x = np.asarray(solution.front(t)), np.asarray(solution.pareto_set(t))
    others = {m: (None, f[m] + 0.1 * span.width[m]) for m in range(1, n_objectives)}
    excluded = {
        m: (None, span.ideal[m] + 0.02 * span.width[m]) for m in range(min(2, n_objectives))
    }
    all_excluded = dict.fromkeys(range(n_objectives), (None, None)) | {
        m: (None, level(-0.1, 0.05)[m]) for m in range(n_objectives)
    }
    region = decisions.keep(solution, {0: (None, limit[0])})
    box = {0: (0.5, 2.0), 1: (1.0, 1.5)}
    wide = {m: (price[m], 2 * price[m]) for m in range(n_objectives)}
    return {
        "best": lambda: decisions.best(solution, 0),
        "best, one bound": lambda: decisions.best(solution, 0, {1: (None, limit[1])}),
        "best, all others bounded": lambda: decisions.best(solution, 0, others),
        "best, 2 wishes that exclude each other": lambda: decisions.best(
            solution, n_objectives - 1, excluded
        ),
        "best, no wish can be met": lambda: decisions.best(solution, 0, all_excluded),
        "best, in a region": lambda: decisions.best(region, 1),
        "nearest": lambda: decisions.nearest(solution, hope),
        "nearest, one bound": lambda: decisions.nearest(
            solution, hope, subject_to={0: (None, limit[0])}
        ),
        "knee": lambda: decisions.knee(solution),
        "knee, one bound": lambda: decisions.knee(solution, {0: (None, limit[0])}),
        "compromise": lambda: decisions.compromise(solution, price),
        "robust, 2 weights": lambda: decisions.robust(solution, box),
        "robust, all weights": lambda: decisions.robust(solution, wide),
        "robust, in a region": lambda: decisions.robust(region, box),
        "robust, 2 wishes that exclude each other": lambda: decisions.robust(
            solution, box, excluded
        ),
        "ranges": lambda: decisions.ranges(solution),
        "ranges, of a region": lambda: decisions.ranges(region),
        "rates": lambda: decisions.rates(solution, t),
        "locate": lambda: decisions.locate(solution, x + 0.05),
        "locate_front": lambda: decisions.locate_front(solution, hope),
        "keep": lambda: decisions.keep(solution, {0: (None, limit[0])}),
        "zoom": lambda: decisions.zoom(solution, 0.5 * np.eye(n_objectives) + 0.5 / n_objectives),
    }


def measure(ask: Callable[[], object], repeats: int) -> np.ndarray:
    """Wall and processor milliseconds of each call, (repeats, 2); a call before them does not
    count."""
    ask()
    taken = []
    for _ in range(repeats):
        began = time.perf_counter(), time.process_time()
        ask()
        taken.append((time.perf_counter() - began[0], time.process_time() - began[1]))
    return 1000 * np.array(taken)


def rows_of(name: str, solution: bf.Solution, n_questions: int, repeats: int) -> list[list[str]]:
    """A row for every kind of question to one solution."""
    rng = np.random.default_rng(0)
    asked = [questions(solution, rng) for _ in range(n_questions)]
    rows = []
    for kind in asked[0]:
        wall, cpu = np.moveaxis(np.array([measure(one[kind], repeats) for one in asked]), 2, 0)
        figures = np.median(wall), wall.min(), wall.min(axis=1).max(), np.median(cpu)
        rows.append([name, kind, *(f"{figure:.3f}" for figure in figures)])
    return rows


def main() -> None:
    """Asks everything, prints the times and keeps them as CSV."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    rows = []
    for name, problem in PROBLEMS.items():
        solution = bf.minimize(problem, np.zeros(problem.n_variables))
        from_file = dataclasses.replace(
            solution, objectives=None, known_front=solution.fitted_front
        )
        for label, one in ((name, solution), (f"{name}, from a file", from_file)):
            rows += rows_of(label, one, options.questions, options.repeats)
            for row in rows[-sum(row[0] == label for row in rows) :]:
                print(
                    "{:36} {:40} median {:>8}  best {:>8}  hardest {:>8}  cpu {:>8} ms".format(
                        *row
                    ),
                    flush=True,
                )
    versions = ", ".join(
        f"{package} {importlib.metadata.version(package)}"
        for package in ("bezierflow", "jax", "numpy", "scipy")
    )
    command = (
        f"python benchmarks/decisions.py --questions {options.questions} --repeats"
        f" {options.repeats}"
    )
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        file.write(f"# {command}; {versions}; Python {platform.python_version()}\n")
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
