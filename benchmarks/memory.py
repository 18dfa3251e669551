"""Memory of a process that minimizes many functions, each made afresh, and asks each solution a
question.

python benchmarks/memory.py --runs 1000
"""

import argparse
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import bezierflow as bf


def resident() -> float:
    """Megabytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def fresh(k: int):
    return lambda x: jnp.array([jnp.sum((x - 1 - k / 1000) ** 2), jnp.sum((x + 1) ** 2)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--questions", action="store_true")
    options = parser.parse_args()
    for k in range(1, options.runs + 1):
        solution = bf.minimize(fresh(k), np.zeros(3))
        if options.questions:
            bf.decisions.knee(solution)
        if k % 50 == 0:
            print(f"{k} runs: {resident():.0f} MB", flush=True)
