"""Objectives with kinks through `minimize`, against other solvers: `python -m benchmarks.kinks
[name ...]`.

Each row: how far the answers above the objectives of exact points at held-out weights are from
them, in units of the objectives' ranges. Exact points: cyclic coordinate descent to 1e-15 for
regressions, accelerated proximal gradient to 1e-16 for those with groups, SciPy's SLSQP on the
epigraph form for locations. Rows are appended to `benchmarks/results/kinks.csv`.
"""

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from experiments.birthwt import load
from scipy.optimize import minimize

import bezierflow as bf
from bezierflow.precision import double_precision

RESULTS = Path(__file__).parent / "results" / "kinks.csv"
COLUMNS = (
    "problem",
    "seed",
    "reason",
    "pieces",
    "max",
    "mean",
    "estimate",
    "values",
    "hessians",
    "seconds",
)
N_HELD_OUT = 200


class Case(NamedTuple):
    """Objectives, where to start, and the minimizer of each weighted sum."""

    objectives: Callable
    x0: np.ndarray
    n_objectives: int
    exact: Callable[[np.ndarray], np.ndarray]


def regression(X: np.ndarray, y: np.ndarray, n_objectives: int) -> Case:
    """|Xx − y|²/2n against |x|_1, and against |x|²/2 as a third objective."""
    n, L = X.shape

    def smooth(x):
        return jnp.stack([0.5 * jnp.sum((X @ x - y) ** 2) / n, 0 * x[0], 0.5 * x @ x])[
            :n_objectives
        ]

    def nonsmooth(x):
        return jnp.stack([0 * x[0], jnp.sum(jnp.abs(x)), 0 * x[0]])[:n_objectives]

    def exact(w):
        ridge = w[2] if n_objectives == 3 else 0.0
        H, g, x = w[0] * X.T @ X / n + ridge * np.eye(L), w[0] * X.T @ y / n, np.zeros(L)
        for _ in range(20_000):
            before = x.copy()
            for i in range(L):
                pull = g[i] - H[i] @ x + H[i, i] * x[i]
                x[i] = np.sign(pull) * max(abs(pull) - w[1], 0) / H[i, i]
            if np.abs(x - before).max() < 1e-15:
                break
        return x

    def prox(x, weights):
        return jnp.sign(x) * jnp.maximum(jnp.abs(x) - weights[1], 0)

    return Case(bf.problems.Composite(smooth, nonsmooth, prox), np.zeros(L), n_objectives, exact)


def random_regression(n_variables: int, n_objectives: int, seed: int) -> Case:
    """Correlated normal predictors, three times as many observations, some coefficients 0, noise of
    variance 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3 * n_variables, n_variables)) @ (
        np.eye(n_variables) + 0.3 * rng.normal(size=(n_variables,) * 2)
    )
    x = rng.normal(size=n_variables) * (rng.random(n_variables) < 0.7)
    return regression(X, X @ x + rng.normal(size=len(X)), n_objectives)


def grouped(X: np.ndarray, y: np.ndarray, group: np.ndarray, n_objectives: int) -> Case:
    """|Xx − y|²/2n against Σ √k |x_g| over groups of k variables, and against |x|²/2 as a third
    objective."""
    (n, L), groups = X.shape, [np.flatnonzero(group == g) for g in np.unique(group)]

    def objectives(x):
        norms = sum(np.sqrt(len(g)) * jnp.linalg.norm(x[g]) for g in groups)
        return jnp.stack([0.5 * jnp.sum((X @ x - y) ** 2) / n, norms, 0.5 * x @ x])[:n_objectives]

    def prox(x, price):
        shrink = [
            np.maximum(1 - price * np.sqrt(len(g)) / max(np.linalg.norm(x[g]), 1e-300), 0) * x[g]
            for g in groups
        ]
        return np.concatenate(shrink)[np.argsort(np.concatenate(groups))]

    def exact(w):
        H, g = (
            w[0] * X.T @ X / n + (w[2] if n_objectives == 3 else 0.0) * np.eye(L),
            w[0] * X.T @ y / n,
        )
        step, x, ahead, momentum = 1 / np.linalg.eigvalsh(H)[-1], np.zeros(L), np.zeros(L), 1.0
        for _ in range(200_000):
            before, x = x, prox(ahead - step * (H @ ahead - g), step * w[1])
            if np.abs(x - before).max() < 1e-16:
                break
            restart = (ahead - x) @ (x - before) > 0
            following = 1.0 if restart else (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead, momentum = (
                x + (0.0 if restart else (momentum - 1) / following) * (x - before),
                following,
            )
        return x

    return Case(objectives, np.zeros(L), n_objectives, exact)


def random_groups(n_groups: int, n_objectives: int, seed: int) -> Case:
    """Groups of three of the predictors of `random_regression`, the first and third of which have
    an effect."""
    rng, L = np.random.default_rng([seed, 3]), 3 * n_groups
    X = rng.normal(size=(4 * L, L)) @ (np.eye(L) + 0.3 * rng.normal(size=(L, L)))
    x = rng.normal(size=L) * np.repeat(np.arange(n_groups) % 2 == 0, 3)
    return grouped(
        X, X @ x + rng.normal(size=len(X)), np.repeat(np.arange(n_groups), 3), n_objectives
    )


def location(seed: int) -> Case:
    """The worst and the mean squared distance to six customers in the unit square, and that to a
    depot beside it."""
    customers, depot = np.random.default_rng(seed).random((6, 2)), np.array([1.3, 0.2])

    def objectives(x):
        d = jnp.sum((x - customers) ** 2, axis=1)
        return jnp.stack([jnp.max(d), jnp.mean(d), jnp.sum((x - depot) ** 2)])

    def squares(xu):
        return np.sum((xu[:2] - customers) ** 2, axis=1)

    def exact(w):
        def total(xu):
            return w @ [xu[2], squares(xu).mean(), np.sum((xu[:2] - depot) ** 2)]

        inside = {"type": "ineq", "fun": lambda xu: xu[2] - squares(xu)}
        start = np.append(customers.mean(axis=0), 2.0)
        return minimize(
            total,
            start,
            constraints=inside,
            method="SLSQP",
            options={"ftol": 1e-16, "maxiter": 500},
        ).x[:2]

    return Case(objectives, np.full(2, 0.5), 3, exact)


CASES: dict[str, tuple[Callable[[int], Case], int]] = {
    "lasso, L = 4": (lambda seed: random_regression(4, 2, seed), 3),
    "lasso, L = 8": (lambda seed: random_regression(8, 2, seed), 3),
    "lasso, Birthwt, L = 16": (lambda seed: regression(load().X, load().y, 2), 1),
    "elastic net, L = 4": (lambda seed: random_regression(4, 3, seed), 2),
    "group lasso, L = 9": (lambda seed: random_groups(3, 2, seed), 3),
    "group lasso, Birthwt, L = 16": (lambda seed: grouped(load().X, load().y, load().group, 2), 1),
    "group lasso and ridge, L = 6": (lambda seed: random_groups(2, 3, seed), 2),
    "worst customer, L = 2": (location, 3),
}
"""By name: the problem for each seed, and how many seeds."""


def measure(name: str, case: Case, seed: int) -> dict[str, object]:
    """One row."""
    solution = bf.minimize(case.objectives, case.x0)
    atlas, rng = solution.pareto_set, np.random.default_rng([seed, 1])
    assert isinstance(atlas, bf.BezierAtlas)
    x = np.array([case.exact(w) for w in rng.dirichlet(np.ones(case.n_objectives), N_HELD_OUT)])
    with double_precision():
        values = jax.jit(jax.vmap(case.objectives))
        f = np.asarray(values(x))
        misses = np.abs((np.asarray(values(atlas(atlas.t(f)))) - f) / atlas.units.span).max(axis=1)
    pieces, spent = sum(not piece.face for piece in atlas.pieces), solution.stats.evaluations
    parts = (
        name,
        seed,
        solution.result.reason.value,
        pieces,
        f"{misses.max():.1e}",
        f"{misses.mean():.1e}",
    )
    costs = (
        f"{solution.error.front:.1e}",
        int(spent.objective),
        int(spent.hessian),
        f"{solution.stats.seconds:.1f}",
    )
    return dict(zip(COLUMNS, (*parts, *costs), strict=True))


def main(names: list[str]) -> None:
    """Measures the cases of these names, or all."""
    new = not RESULTS.exists()
    for name, (make, n_seeds) in CASES.items():
        for seed in range(n_seeds if not names or any(part in name for part in names) else 0):
            row = measure(name, make(seed), seed)
            with RESULTS.open("a", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS)
                if new:
                    writer.writeheader()
                    new = False
                writer.writerow(row)
            print(row, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
