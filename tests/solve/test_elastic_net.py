"""The lifted proximal gradient method against scikit-learn's own solver."""

import numpy as np
import pytest


def test_coefficients_at_held_out_weights():
    """Degree 8 follows the kinks of the coefficients to 3 % (docs/own_problems.md), of whatever
    method."""
    pytest.importorskip("sklearn")
    from benchmarks.elastic_net import data, exact, problem

    import bezierflow as bf

    X, y = data()
    step = 1 / (np.linalg.eigvalsh(X.T @ X / len(y)).max() + 1)
    solution = bf.minimize(
        problem(X, y), np.zeros(10), bf.lift(bf.ProximalGradient(step), degree=8, n_iterations=2000)
    )
    t = np.random.default_rng(1).dirichlet(np.ones(3), 200)
    t = t[t[:, 0] > 0.02][:100]
    w, truth = np.asarray(solution.pareto_set(t)), np.stack([exact(X, y, row) for row in t])
    off = np.linalg.norm(w - truth, axis=1) / np.linalg.norm(truth, axis=1).max()
    assert np.sqrt(np.mean(off**2)) < 0.04
