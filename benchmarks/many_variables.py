"""Convex problems with many variables: boxes, portfolios, and a fair classifier whose penalties are
both least at 0, against independent solves.

    python -m benchmarks.many_variables [box|portfolio|fair L M ...]

Each problem is solved twice, and the second run's processor seconds count, since the first one
compiles. True points are minimizers of 60 weighted sums (SciPy's bounded and nonnegative least
squares, L-BFGS); the error is by how much the answer below a true point exceeds it in any objective, in
units of the ranges.
"""

import csv
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from scipy.optimize import LinearConstraint, lsq_linear, minimize, nnls

import bezierflow as bf

FILE = Path(__file__).parent / "results" / "many_variables.csv"
COLUMNS = ("problem", "variables", "objectives", "seconds", "error", "stated", "reason", "patches")
PROBLEMS = (
    *(("box", 40, 2), ("box", 200, 2), ("box", 40, 3), ("box", 100, 3)),
    *(("portfolio", 40, 2), ("portfolio", 100, 2), ("portfolio", 225, 2)),
    *(("portfolio", 12, 3), ("portfolio", 40, 3), ("box", 200, 3), ("fair", 15, 3)),
)

Problem = tuple[Callable, dict, Callable[[np.ndarray], np.ndarray]]


def box(L: int, M: int, seed: int = 0) -> Problem:
    """Quadratics, diagonal plus low rank, with centers partly outside of the unit box."""
    rng = np.random.default_rng(seed)
    centers, roots = rng.uniform(-0.5, 1.5, (M, L)), []
    for _ in range(M):
        low_rank = 1.7 * rng.normal(size=(5, L)) / np.sqrt(L)
        roots.append(np.vstack([np.diag(np.sqrt(rng.uniform(0.5, 2, L))), low_rank]) / np.sqrt(L))
    R = np.array(roots)

    def f(x):
        return jnp.sum(jnp.einsum("mij,mj->mi", R, x - centers) ** 2, axis=1)

    def best(w: np.ndarray) -> np.ndarray:
        A = np.vstack([np.sqrt(weight) * root for weight, root in zip(w, R, strict=True)])
        parts = [np.sqrt(v) * r @ c for v, r, c in zip(w, R, centers, strict=True)]
        return lsq_linear(A, np.concatenate(parts), (0, 1), method="bvls", tol=1e-14).x

    return f, {"bounds": (np.zeros(L), np.ones(L))}, best


def portfolio(L: int, M: int, seed: int = 0) -> Problem:
    """Variance of a factor model, return, and for M = 3 a distance from equal weights."""
    rng = np.random.default_rng(seed)
    factors, own = rng.normal(size=(L, max(3, L // 10))) * 0.1, rng.uniform(0.01, 0.05, L)
    gain, weight = rng.uniform(0.02, 0.12, L), 0.1 + rng.uniform(0, 1, L)
    C = factors @ factors.T + np.diag(own)
    root = np.linalg.cholesky(C).T

    def f(x):
        values = [x @ C @ x, -gain @ x, weight @ (x - 1 / L) ** 2]
        return jnp.array(values[:M])

    def best(w: np.ndarray) -> np.ndarray:
        # ½|Ax − b|² with the linear part in b, and the sum by a heavy row
        rows = [np.sqrt(w[0]) * root]
        right = np.zeros(L)
        if M == 3:
            rows.append(np.diag(np.sqrt(w[2] * weight)))
            right = np.concatenate([right, np.sqrt(w[2] * weight) / L])
        A = np.vstack(rows)
        shift = np.linalg.lstsq(A.T, 0.5 * w[1] * gain, rcond=None)[0]
        heavy = 1e3 * np.ones((1, L))
        x = nnls(np.vstack([A, heavy]), np.concatenate([right + shift, [1e3]]), maxiter=50 * L)[0]
        return x / x.sum()

    sums = LinearConstraint(np.ones(L), 1, 1)
    return f, {"bounds": (np.zeros(L), np.ones(L)), "constraints": sums}, best


def fair(L: int, M: int) -> Problem:
    """Low birth weight (189 births) by logistic regression, the squared gap of mean scores between
    white mothers and others, and a ridge."""
    from experiments.birthwt import load

    data = load()
    low = (data.y < np.median(data.y)).astype(float)
    white = data.columns.index("white")
    group, X = data.X[:, white] > 0, np.delete(data.X, white, axis=1)[:, :L]
    gap = X[group].mean(axis=0) - X[~group].mean(axis=0)

    def f(w):
        score = X @ w
        loss = jnp.mean(jnp.logaddexp(0.0, score) - low * score)
        return jnp.array([loss, (gap @ w) ** 2, w @ w][:M])

    def best(v: np.ndarray) -> np.ndarray:
        def weighted(w: np.ndarray) -> tuple[float, np.ndarray]:
            score = X @ w
            loss = np.mean(np.logaddexp(0.0, score) - low * score)
            slope = X.T @ (1 / (1 + np.exp(-score)) - low) / len(X)
            value = v[0] * loss + v[1] * (gap @ w) ** 2 + v[2] * w @ w
            return value, v[0] * slope + 2 * v[1] * (gap @ w) * gap + 2 * v[2] * w

        options = {"ftol": 1e-16, "gtol": 1e-12, "maxiter": 10_000}
        return minimize(weighted, np.zeros(L), jac=True, method="L-BFGS-B", options=options).x

    return f, {}, best


def measure(name: str, L: int, M: int) -> dict[str, object]:
    f, options, best = {"box": box, "portfolio": portfolio, "fair": fair}[name](L, M)
    seconds = 0.0
    for _ in range(2):
        began = time.process_time()
        solution = bf.minimize(f, np.full(L, 1 / L), **options)
        seconds = time.process_time() - began
    rng = np.random.default_rng(1)
    span = np.abs(solution.pareto_set.units.span)
    weights = rng.dirichlet(np.ones(M), 60) / span
    true = np.array([np.asarray(f(best(w))) for w in weights])
    answers = np.array(
        [np.asarray(f(x)) for x in np.asarray(solution.pareto_set(solution.t(true)))]
    )
    return {
        "problem": name,
        "variables": L,
        "objectives": M,
        "seconds": round(seconds, 1),
        "error": f"{((answers - true) / span).max():.2g}",
        "stated": f"{solution.error.front:.2g}",
        "reason": solution.result.reason.name,
        "patches": len(solution.pareto_set.patches),
    }


def main() -> None:
    given = sys.argv[1:]
    chosen = [(given[i], int(given[i + 1]), int(given[i + 2])) for i in range(0, len(given), 3)]
    known = {}
    if FILE.exists():
        with FILE.open() as file:
            for row in csv.DictReader(file):
                known[row["problem"], int(row["variables"]), int(row["objectives"])] = row
    for one in chosen or PROBLEMS:
        known[one] = measure(*one)
        print(*known[one].values(), flush=True)
        with FILE.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(known.values())


if __name__ == "__main__":
    main()
