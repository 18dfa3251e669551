"""Runs BoTorch's methods on all problems in many processes, for a machine with an accelerator:
evaluations only, no scores.

    python -m benchmarks.expensive.many 16 --minutes 9      # 16 processes; runs are kept in runs/ after every batch
    python -m benchmarks.expensive peers 150 --seeds 5      # afterwards, anywhere: rows from what is kept

A run that has come to 40 evaluations goes on to 80 after all others have come so far, and then to
150; runs without noise come first.
"""

import argparse
import concurrent.futures
import multiprocessing
import os
import time

from .__main__ import BUDGETS, advance
from .problems import PROBLEMS

PAUSE = 20
"""Seconds after which a run that failed, for want of memory on the accelerator say, is tried
again."""

Job = tuple[str, str, float, int, list[int], float]


def main() -> None:
    """As the module says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.expensive.many")
    parser.add_argument("processes", type=int)
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--seeds", type=int, default=5, help="how many, from 0")
    parser.add_argument("--methods", nargs="*", default=["qLogNEHVI", "qNParEGO"])
    parser.add_argument("--noises", nargs="*", type=float, default=[0.0, 0.02])
    parser.add_argument("--budgets", nargs="*", type=int, default=list(BUDGETS))
    parser.add_argument("--problems", nargs="*", default=list(PROBLEMS))
    given = parser.parse_args()
    until = time.time() + 60 * given.minutes
    jobs = [
        (name, method, noise, seed, given.budgets, until)
        for noise in given.noises
        for method in given.methods
        for seed in range(given.seeds)
        for name in sorted(given.problems, key=lambda one: -PROBLEMS[one].n_objectives)
    ]
    os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
    with concurrent.futures.ProcessPoolExecutor(
        given.processes, multiprocessing.get_context("spawn")
    ) as pool:
        going = {pool.submit(run, job): job for job in jobs}
        while going:
            for ended in concurrent.futures.wait(going, return_when="FIRST_COMPLETED").done:
                *run_, budgets, until = going.pop(ended)
                print(ended.result(), flush=True)
                if budgets[1:]:
                    job = (*run_, budgets[1:], until)
                    going[pool.submit(run, job)] = job


def run(job: Job) -> str:
    """One run to the first of its budgets, as far as time allows."""
    name, method, noise, seed, (budget, *_), until = job
    words, began, problems = f"{name} {method} {noise:g} {seed}", time.time(), ""
    while time.time() < until:
        try:
            x, _ = advance(PROBLEMS[name], method, noise, seed, budget, until)
        except Exception as error:  # the other runs go on
            problems = f", after {type(error).__name__}: {str(error)[:200]}"
            time.sleep(PAUSE)
        else:
            return f"{words}: {len(x)} in {time.time() - began:.0f} s{problems}"
    return f"{words}: not to {budget}{problems}"


if __name__ == "__main__":
    main()
