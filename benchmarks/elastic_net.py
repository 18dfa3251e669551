"""All elastic nets of scikit-learn's diabetes data as one surface, against scikit-learn's own
solver at held-out weights.

    python -m benchmarks.elastic_net [degree]

Objectives: mean squared error over two, ‖w‖₁, ‖w‖²/2, by the lifted proximal gradient method. The
surface's w at t minimizes t₁ error + t₂ ‖w‖₁ + t₃ ‖w‖²/2, which is scikit-learn's
`ElasticNet(alpha, l1_ratio)` with alpha = (t₂ + t₃)/t₁ and l1_ratio = t₂/(t₂ + t₃). Printed: how
far coefficients and objectives are off at 100 weights that no iteration used.
"""

import sys

import jax.numpy as jnp
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import ElasticNet

import bezierflow as bf

N_HELD_OUT, LEAST_WEIGHT = 100, 0.02
"""Held-out weights keep this much for the error: at 0 scikit-learn's alpha is infinite."""


def data() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_diabetes(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


def problem(X: np.ndarray, y: np.ndarray) -> bf.problems.Composite:
    Xj, yj = jnp.asarray(X), jnp.asarray(y)
    smooth = lambda w: jnp.array([jnp.mean((Xj @ w - yj) ** 2) / 2, 0.0, jnp.sum(w**2) / 2])
    nonsmooth = lambda w: jnp.array([0.0, jnp.sum(jnp.abs(w)), 0.0])
    return bf.problems.Composite(
        smooth, nonsmooth, lambda w, c: jnp.sign(w) * jnp.maximum(jnp.abs(w) - c[1], 0.0)
    )


def exact(X: np.ndarray, y: np.ndarray, t: np.ndarray) -> np.ndarray:
    model = ElasticNet(
        alpha=(t[1] + t[2]) / t[0],
        l1_ratio=t[1] / (t[1] + t[2]),
        fit_intercept=False,
        tol=1e-12,
        max_iter=1_000_000,
    )
    return model.fit(X, y).coef_


def main() -> None:
    degree = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    X, y = data()
    step = 1 / (np.linalg.eigvalsh(X.T @ X / len(y)).max() + 1)
    with_kinks = problem(X, y)
    solution = bf.minimize(
        with_kinks,
        np.zeros(10),
        bf.lift(bf.ProximalGradient(step), degree=degree, n_iterations=3000),
    )
    t = np.random.default_rng(0).dirichlet(np.ones(3), 10 * N_HELD_OUT)
    t = t[t[:, 0] > LEAST_WEIGHT][:N_HELD_OUT]
    w, truth = np.asarray(solution.pareto_set(t)), np.stack([exact(X, y, row) for row in t])
    off = np.linalg.norm(w - truth, axis=1) / np.linalg.norm(truth, axis=1).max()
    f, best = (np.stack([np.asarray(with_kinks(row)) for row in rows]) for rows in (w, truth))
    excess = ((f - best) * t).sum(axis=1) / (
        (np.asarray(with_kinks(jnp.zeros(10))) - best) * t
    ).sum(axis=1).max()
    print(f"degree {degree}: {solution.result.reason.value}, {solution.stats.seconds:.1f} s")
    print(
        f"coefficients off by {np.sqrt(np.mean(off**2)):.1e} rms, {off.max():.1e} at most, of the"
        " largest |w|"
    )
    print(
        f"weighted objectives above their least by {excess.max():.1e} at most, of what w = 0 loses"
    )


if __name__ == "__main__":
    main()
