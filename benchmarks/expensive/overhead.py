"""What a search costs and where it goes: processor seconds per design, and how many designs fail.

`python -m benchmarks.expensive.overhead` times batches of four; `… failing` counts the designs that
fail of 48, and of the last 24 of them, where a part of the box cannot be evaluated.
"""

import os
import sys
import time

import numpy as np

BATCH = 4

FAILING = {
    "a third of the box, x1 > 2/3": (2, lambda x: x[0] > 2 / 3),
    "a ball on the Pareto set": (3, lambda x: np.sum((x - 0.5) ** 2) < 0.28**2),
}
"""Number of variables, and what fails; the Pareto set is the diagonal from 0.2 to 0.8."""


def overhead(n_variables: int, n_objectives: int, n: int) -> float:
    """Mean seconds per design while n evaluations grow by a quarter."""
    import bezierflow as bf

    rng = np.random.default_rng(0)
    centers = rng.random((n_objectives, n_variables))

    def values(x: np.ndarray) -> np.ndarray:
        parts = [((x - c) ** 2).sum(axis=1) + 0.3 * np.sin(6 * x @ c) for c in centers]
        return np.stack(parts, axis=1)

    box = np.zeros(n_variables), np.ones(n_variables)
    search = bf.surrogate.Search(box, n_objectives, tol=0.0)
    x = rng.random((n - BATCH, n_variables))
    search.tell(x, values(x))
    spent = []
    for _ in range(n // 4 // BATCH):
        began = time.process_time()
        x = search.ask(BATCH)
        spent.append(time.process_time() - began)
        search.tell(x, values(x))
    return float(np.mean(spent)) / BATCH


def failing(n_variables: int, fails, seed: int) -> tuple[int, int]:
    """How many of 48 designs failed, and of the last 24."""
    import bezierflow as bf

    box = np.zeros(n_variables), np.ones(n_variables)
    search, failed = bf.surrogate.Search(box, 2, seed=seed, tol=0.0), []
    while len(failed) < 48:
        for x in search.ask(BATCH):
            failed.append(bool(fails(x)))
            y = [np.sum((x - 0.2) ** 2), np.sum((x - 0.8) ** 2)]
            search.tell(x, None if failed[-1] else y)
    return sum(failed), sum(failed[24:])


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if sys.argv[1:] == ["failing"]:
        for words, (n_variables, fails) in FAILING.items():
            counts = [failing(n_variables, fails, seed) for seed in range(3)]
            cells = (", ".join(str(one[k]) for one in counts) for k in range(2))
            print(f"| {words} | {' | '.join(cells)} |", flush=True)
    else:
        for shape in ((2, 2), (5, 2), (10, 2)):
            # the second time all programs are compiled
            seconds = [min(overhead(*shape, n) for _ in range(2)) for n in (25, 50, 100, 160)]
            cells = " | ".join(f"{one:.2f}" for one in seconds)
            print(f"| {shape[0]} | {shape[1]} | {cells} |", flush=True)
