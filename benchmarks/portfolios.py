"""The five efficient frontiers of OR-Library (Chang, Meade, Beasley and Sharaiha, 2000; 31 to 225
assets): mean return against variance, Σ x = 1, x ≥ 0, beside the 2,000 points that are published for
each.

    python -m benchmarks.portfolios          # all five; rows in results/portfolios.csv
    python -m benchmarks.portfolios 1 5      # these, anew

Each is solved twice with default settings, and the second run's processor seconds count, since the
first one compiles. The error is by how much our variance differs from the published one at the same
return, in units of the range of published variances, at every published point; the ends are compared
as they are, the one of least variance by its return too. Published numbers have ten decimals, which
is 2e-8 to 4e-8 of the ranges.
"""

import csv
import sys
import time
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from scipy.optimize import LinearConstraint

import bezierflow as bf

from .fronts import keep

DATA = Path(__file__).parent / "data" / "orlib_portfolios.npz"
RESULTS = Path(__file__).parent / "results" / "portfolios.csv"
COLUMNS = (
    *("problem", "assets", "reason", "stated", "first_seconds", "seconds", "values", "hessians"),
    *("patches", "error_max", "error_median", "most_return", "least_variance", "its_return"),
)


def published(number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean returns, covariance matrix, and the frontier as rows of return and variance."""
    with np.load(DATA) as file:
        assets = file[f"assets{number}"] / 1e6
        frontier = file[f"frontier{number}"] / 1e10
        correlations = np.eye(len(assets))
        above = np.triu_indices(len(assets), 1)
        correlations[above] = file[f"correlations{number}"] / 1e6
    correlations.T[above] = correlations[above]
    return assets[:, 0], correlations * np.outer(assets[:, 1], assets[:, 1]), frontier


def at_returns(solution: bf.Solution, frontier: np.ndarray) -> np.ndarray:
    """Our variances at these returns: the answers above the points, then twice along the slopes of
    the front there, whose second order is below rounding by then."""
    aims, span = frontier.copy(), np.ptp(frontier, axis=0)
    for _ in range(3):
        t = solution.t(aims)
        values, w = np.asarray(solution.front(t)), solution.weights(t)
        # w is (slope of variance by return, 1) up to a factor; an end may have any w
        slope = w[:, 0] / np.maximum(w[:, 1], 1e-300)
        slope = np.where(slope < 1e3 * span[1] / span[0], slope, 0)
        aims[:, 1] = values[:, 1] + slope * (frontier[:, 0] - values[:, 0])
    return aims[:, 1]


def measure(number: int) -> dict[str, object]:
    """One frontier, solved and compared."""
    mean, covariance, frontier = published(number)
    n, seconds = len(mean), []

    def f(x):
        return jnp.array([mean @ x, x @ covariance @ x])

    for _ in range(2):
        began = time.process_time()
        found = bf.minimize(
            f,
            np.full(n, 1 / n),
            bounds=(np.zeros(n), np.ones(n)),
            constraints=LinearConstraint(np.ones(n), 1, 1),
            maximize=[True, False],
        )
        seconds.append(round(time.process_time() - began, 1))
    keep(f"port{number}", found)
    ends, span = np.asarray(found.front(np.eye(2))), np.ptp(frontier, axis=0)
    off = np.abs(at_returns(found, frontier) - frontier[:, 1]) / span[1]
    return {
        "problem": f"port{number}",
        "assets": n,
        "reason": found.result.reason.name,
        "stated": f"{found.error.front:.2g}",
        "first_seconds": seconds[0],
        "seconds": seconds[1],
        "values": found.nfev,
        "hessians": found.nhev,
        "patches": len(found.pareto_set.patches),
        "error_max": f"{off.max():.2g}",
        "error_median": f"{np.median(off):.2g}",
        "most_return": f"{(ends[0] - frontier[0])[0] / span[0]:.2g}",
        "least_variance": f"{(ends[1] - frontier[-1])[1] / span[1]:.2g}",
        "its_return": f"{(ends[1] - frontier[-1])[0] / span[0]:.2g}",
    }


def main() -> None:
    rows = {}
    if RESULTS.exists():
        with RESULTS.open() as file:
            rows = {row["problem"]: row for row in csv.DictReader(file)}
    for number in map(int, sys.argv[1:] or range(1, 6)):
        rows[f"port{number}"] = measure(number)
        print(rows[f"port{number}"], flush=True)
        with RESULTS.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows[name] for name in sorted(rows))


if __name__ == "__main__":
    main()
