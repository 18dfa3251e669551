"""Quadratic programs in batches: first-order conditions hold, and SciPy finds nothing better."""

import numpy as np
from scipy.optimize import minimize

from bezierflow.atlas.quadratic import solve_programs


def programs(seed, n=6, unknowns=4, rows=9):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, unknowns, unknowns))
    Q = root @ np.swapaxes(root, 1, 2) + 0.1 * np.eye(unknowns)
    q, G = rng.normal(size=(n, unknowns)), rng.normal(size=(n, rows, unknowns))
    return Q, q, G, rng.uniform(0.1, 1.0, (n, rows))  # 0 is inside


def test_optima_obey_their_first_order_conditions():
    Q, q, G, b = programs(0)
    best = solve_programs(Q, q, G, b, np.zeros_like(q))
    slope = np.einsum("nij,nj->ni", Q, best.y) + q + np.einsum("nij,ni->nj", G, best.multiplier)
    np.testing.assert_allclose(slope, 0, atol=1e-6)
    room = b - np.einsum("nij,nj->ni", G, best.y)
    assert room.min() > -1e-9
    assert best.multiplier.min() >= 0
    np.testing.assert_allclose(best.multiplier * room, 0, atol=1e-6)
    np.testing.assert_allclose(best.slack, room, atol=1e-8)


def test_scipy_finds_nothing_better():
    Q, q, G, b = programs(1)
    best = solve_programs(Q, q, G, b, np.zeros_like(q)).y
    for k in range(len(q)):
        value = lambda y, k=k: y @ Q[k] @ y / 2 + q[k] @ y
        inside = {"type": "ineq", "fun": lambda y, k=k: b[k] - G[k] @ y}
        other = minimize(
            value, np.zeros(q.shape[1]), constraints=inside, method="SLSQP", options={"ftol": 1e-14}
        )
        assert value(best[k]) < other.fun + 1e-8


def test_a_batch_answers_as_its_members_do():
    Q, q, G, b = programs(2)
    together = solve_programs(Q, q, G, b, np.zeros_like(q)).y
    alone = [
        solve_programs(Q[k, None], q[k, None], G[k, None], b[k, None], np.zeros((1, 4))).y[0]
        for k in range(len(q))
    ]
    np.testing.assert_allclose(together, alone, atol=1e-9)
