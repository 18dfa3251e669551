"""Whether `error.missing_below` holds: what the surface is said to miss of the front, beside what it
does miss of the known one.

    python -m benchmarks.expensive.coverage --problems zdt1 fonseca --budgets 40 80 --seeds 2

A row per run: the hypervolume gap of the surface beyond what its finitely many points miss, the
share that was expected to be missing, and what it was said to be below in nine of ten cases.
"""

import argparse
import time

import numpy as np

import bezierflow as bf

from .__main__ import N_SURFACE
from .problems import PROBLEMS
from .scoring import floor, gap


def main() -> None:
    """Prints rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.expensive.coverage")
    free = [name for name, one in PROBLEMS.items() if not one.n_constraints]
    parser.add_argument("--problems", nargs="*", default=free)
    parser.add_argument("--budgets", nargs="*", type=int, default=[40])
    parser.add_argument("--noises", nargs="*", type=float, default=[0.0, 0.02])
    parser.add_argument("--seeds", type=int, default=1, help="how many, from 0")
    given = parser.parse_args()
    print("problem,noise,seed,evaluations,missed,expected,below,held,seconds", flush=True)
    for seed in range(given.seeds):
        for noise in given.noises:
            for name in given.problems:
                run(name, noise, seed, given.budgets)


def run(name: str, noise: float, seed: int, budgets: list[int]) -> None:
    """A search, whose surface is looked at whenever a budget is reached."""
    problem = PROBLEMS[name]
    settings = {"seed": seed, "budget": max(budgets), "tol": 0.0, "worst": problem.worst}
    search = bf.surrogate.Search(problem.bounds, problem.n_objectives, **settings)
    x = np.zeros((0, problem.n_variables))
    for n in sorted(budgets):
        while len(x) < n:
            first = max(search.n_initial - len(x), 0)
            new = search.ask(min(first or search.batch, n - len(x)))
            search.tell(new, problem.noisy(noise, 1000 * seed + len(x))(new))
            x = np.vstack([x, new])
        began = time.process_time()
        solution, most = search.solution(), N_SURFACE[problem.n_objectives]
        surface = np.asarray(solution.spread(most).X)
        missed = gap(problem, problem.values(surface)) - floor(problem, most)
        error, seconds = solution.error, time.process_time() - began
        cells = f"{missed:.4f},{error.missing:.4f},{error.missing_below:.4f}"
        # a front of finitely many points is known to a few tenths of a percent
        held = missed <= error.missing_below + 0.003
        print(f"{name},{noise:g},{seed},{n},{cells},{held},{seconds:.0f}", flush=True)


if __name__ == "__main__":
    main()
