"""How close engines come to the ideal: 100 evaluations of 20 ms on 2 workers, which take 1 s if
nothing is lost.

    python -m benchmarks.engines

Prints for loky and for a local Dask cluster the time over the ideal time, the least and the median
of ten batches.
"""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from bezierflow.runs import Pool

N, SECONDS, WORKERS, REPEATS = 100, 0.02, 2, 10


def objectives(x: np.ndarray) -> list[float]:
    time.sleep(SECONDS)
    return [float(x[0]), 1 - float(x[0])]


def batch(executor: Any) -> float:
    """Seconds for one batch."""
    pool = Pool(objectives, executor)
    pool.submit((i, np.array([float(i)])) for i in range(N))
    began, found = time.perf_counter(), 0
    while pool.n_open:
        found += sum(not one.failed for one in pool.arrivals())
    assert found == N
    return time.perf_counter() - began


def measure(name: str, executor: Callable[[], Any]) -> None:
    batch(executor())  # workers start
    ratios = [batch(executor()) / (N * SECONDS / WORKERS) for _ in range(REPEATS)]
    print(
        f"{name}: {min(ratios):.2f} to {max(ratios):.2f} times the ideal, median"
        f" {median(ratios):.2f}"
    )


def main() -> None:
    import loky
    from distributed import Client, LocalCluster

    measure("loky", lambda: loky.get_reusable_executor(WORKERS))
    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        measure("Dask", client.get_executor)


if __name__ == "__main__":
    main()
