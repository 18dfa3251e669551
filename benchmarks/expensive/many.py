"""Runs BoTorch's methods on all problems in many processes, for a machine with an accelerator: evaluations only, no scores.

    python -m benchmarks.expensive.many 16 --minutes 9      # 16 processes; runs are kept in runs/ after every batch
    python -m benchmarks.expensive peers 150 --seeds 5      # afterwards, anywhere: rows from what is kept

Runs without noise come first, then those with 2 %; qLogNEHVI before qNParEGO; all problems of a seed before the next seed.
"""

import argparse
import multiprocessing
import time

from .__main__ import BUDGETS, advance
from .problems import PROBLEMS

N_SEEDS = 5

Job = tuple[str, str, float, int, float]


def main() -> None:
    """As the module says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.expensive.many")
    parser.add_argument("processes", type=int)
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--methods", nargs="*", default=["qLogNEHVI", "qNParEGO"])
    parser.add_argument("--noises", nargs="*", type=float, default=[0.0, 0.02])
    given = parser.parse_args()
    until = time.time() + 60 * given.minutes
    jobs = [
        (name, method, noise, seed, until)
        for noise in given.noises
        for method in given.methods
        for seed in range(N_SEEDS)
        for name in sorted(PROBLEMS, key=lambda one: -PROBLEMS[one].n_objectives)
    ]
    with multiprocessing.get_context("spawn").Pool(given.processes) as pool:
        for line in pool.imap_unordered(run, jobs, chunksize=1):
            print(line, flush=True)


def run(job: Job) -> str:
    """One run, as far as time allows."""
    name, method, noise, seed, until = job
    if time.time() > until:
        return f"{name} {method} {noise:g} {seed}: not begun"
    began = time.time()
    try:
        n = 0
        for n in BUDGETS:
            x, _ = advance(PROBLEMS[name], method, noise, seed, n, until)
    except Exception as error:  # the other runs go on
        return f"{name} {method} {noise:g} {seed}: {type(error).__name__} before {n}: {error}"
    return f"{name} {method} {noise:g} {seed}: {len(x)} in {time.time() - began:.0f} s"


if __name__ == "__main__":
    main()
