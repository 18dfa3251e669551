"""Runs BoTorch's methods on all problems in many processes, for a machine with an accelerator: evaluations only, no scores.

    python -m benchmarks.expensive.many 16 --minutes 9      # 16 processes; runs are kept in runs/ after every batch
    python -m benchmarks.expensive peers 150 --seeds 5      # afterwards, anywhere: rows from what is kept

All runs come to 40 evaluations first, then to 80, then to 150; of each budget runs without noise first, then those with 2 %.
"""

import argparse
import multiprocessing
import time

from .__main__ import BUDGETS, advance
from .problems import PROBLEMS

N_SEEDS = 5

Job = tuple[str, str, float, int, int, float]


def main() -> None:
    """As the module says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.expensive.many")
    parser.add_argument("processes", type=int)
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--methods", nargs="*", default=["qLogNEHVI", "qNParEGO"])
    parser.add_argument("--noises", nargs="*", type=float, default=[0.0, 0.02])
    parser.add_argument("--budgets", nargs="*", type=int, default=list(BUDGETS))
    parser.add_argument("--problems", nargs="*", default=list(PROBLEMS))
    given = parser.parse_args()
    until = time.time() + 60 * given.minutes
    jobs = [
        (name, method, noise, seed, budget, until)
        for budget in given.budgets
        for noise in given.noises
        for method in given.methods
        for seed in range(N_SEEDS)
        for name in sorted(given.problems, key=lambda one: -PROBLEMS[one].n_objectives)
    ]
    with multiprocessing.get_context("spawn").Pool(given.processes) as pool:
        for line in pool.imap_unordered(run, jobs, chunksize=1):
            print(line, flush=True)


def run(job: Job) -> str:
    """One run, as far as time allows."""
    name, method, noise, seed, budget, until = job
    words = f"{name} {method} {noise:g} {seed}"
    if time.time() > until:
        return f"{words}: not begun"
    began = time.time()
    try:
        x, _ = advance(PROBLEMS[name], method, noise, seed, budget, until)
    except Exception as error:  # the other runs go on
        return f"{words}: {type(error).__name__} before {budget}: {error}"
    return f"{words}: {len(x)} in {time.time() - began:.0f} s"


if __name__ == "__main__":
    main()
