"""Quadratic programs in batches: first-order conditions hold, and SciPy finds nothing better."""

import numpy as np
from scipy.optimize import minimize

from bezierflow.atlas.quadratic import solve_programs


def programs(seed, n=6, unknowns=4, rows=9):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, unknowns, unknowns))
    Q = root @ np.swapaxes(root, 1, 2) + 0.1 * np.eye(unknowns)
    q, G = rng.normal(size=(n, unknowns)), rng.normal(size=(n, rows, unknowns))
    # 0 is inside; the last unknown has no bounds
    bounds = -rng.uniform(0.1, 0.5, (n, unknowns - 1)), rng.uniform(0.1, 0.5, (n, unknowns - 1))
    return Q, q, G, rng.uniform(0.1, 1.0, (n, rows)), bounds


def in_rows(G, b, bounds):
    """The same conditions without bounds."""
    low, high = bounds
    unit = np.broadcast_to(np.eye(G.shape[2])[: low.shape[1]], (len(G), *low.shape[1:], G.shape[2]))
    return np.concatenate([G, unit, -unit], axis=1), np.concatenate([b, high, -low], axis=1)


def test_optima_obey_their_first_order_conditions():
    Q, q, G, b, bounds = programs(0)
    best = solve_programs(Q, q, G, b, bounds, np.zeros_like(q))
    G, b = in_rows(G, b, bounds)
    slope = np.einsum("nij,nj->ni", Q, best.y) + q + np.einsum("nij,ni->nj", G, best.multiplier)
    np.testing.assert_allclose(slope, 0, atol=1e-6)
    room = b - np.einsum("nij,nj->ni", G, best.y)
    assert room.min() > -1e-9
    assert best.multiplier.min() >= 0
    np.testing.assert_allclose(best.multiplier * room, 0, atol=1e-6)
    np.testing.assert_allclose(best.slack, room, atol=1e-8)


def test_scipy_finds_nothing_better():
    Q, q, G, b, bounds = programs(1)
    best = solve_programs(Q, q, G, b, bounds, np.zeros_like(q)).y
    G, b = in_rows(G, b, bounds)
    for k in range(len(q)):
        value = lambda y, k=k: y @ Q[k] @ y / 2 + q[k] @ y
        inside = {"type": "ineq", "fun": lambda y, k=k: b[k] - G[k] @ y}
        other = minimize(
            value, np.zeros(q.shape[1]), constraints=inside, method="SLSQP", options={"ftol": 1e-14}
        )
        assert value(best[k]) < other.fun + 1e-8


def test_a_batch_answers_as_its_members_do():
    parts = programs(2)
    together = solve_programs(*parts, np.zeros((6, 4))).y
    alone = []
    for k in range(6):
        Q, q, G, b, (low, high) = parts
        mine = (part[k, None] for part in (Q, q, G, b))
        sides = low[k, None], high[k, None]
        alone.append(solve_programs(*mine, sides, np.zeros((1, 4))).y[0])
    np.testing.assert_allclose(together, alone, atol=1e-9)
