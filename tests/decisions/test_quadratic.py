import numpy as np
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from bezierflow.decisions.quadratic import shortest
from bezierflow.simplex import tangent_basis


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 6), st.integers(1, 10), st.integers(0, 2**31))
def test_the_first_order_conditions_hold_for_each(size, n_constraints, seed):
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(3, size, n_constraints))
    b = (rng.normal(size=(3, 1, size)) @ G)[:, 0] - rng.uniform(0, 1, (3, n_constraints))  # a point that is feasible
    u = shortest(np.concatenate([G, b[:, None]], axis=1))
    above = (np.swapaxes(G, 1, 2) @ (G @ u[..., None]))[..., 0] - b
    assert (u >= 0).all()
    assert (above >= -1e-9).all()
    np.testing.assert_allclose(u * above, 0, atol=1e-8)


def test_no_vector_where_nothing_is_feasible():
    G, b = np.array([[[1.0, -1.0]]] * 2), np.array([[1.0, 1.0], [-2.0, -2.0]])  # y ≥ 1 and y ≤ −1; −2 ≤ y ≤ 2
    np.testing.assert_array_equal(shortest(np.concatenate([G, b[:, None]], axis=1)), 0)


def on_an_edge(seed):
    """The constraints of a search on an edge of the simplex, with a goal and a bound that only change along it."""
    rng = np.random.default_rng(seed)
    n_objectives = int(rng.integers(3, 7))
    k, ends = n_objectives - 1, rng.permutation(n_objectives)[:2]
    t, along = np.zeros(n_objectives), np.zeros(n_objectives)
    t[ends], along[ends] = rng.dirichlet(np.ones(2)), [1, -1]
    way = tangent_basis(n_objectives).T @ along
    sizes, axes = np.linalg.eigh(10 ** rng.uniform(-1, 1) * np.eye(k) - rng.uniform(0.1, 1) * np.outer(way, way))
    root = axes / np.sqrt(np.maximum(np.where(sizes < 0, -0.1 * sizes, sizes), 1e-6))
    G = np.zeros((k + 2, n_objectives + 3))
    G[:k, :-1] = -(np.stack([rng.uniform(0.3, 1) * way, -rng.uniform(0.3, 1) * way, *-tangent_basis(n_objectives)]) @ root).T
    G[k, 0] = G[k + 1, 1] = G[k + 1, -1] = 30.0
    return np.concatenate([G, [[1 / 30, 1.0, *(-t / 3e4), 1.0]]])


def keeps(constraints, u):
    G, b = constraints[:-1], constraints[-1]
    return (u >= 0).all() and u.max() > 0 and (G @ u @ G >= b - 1e-8).all()


def test_constraints_that_say_the_same_several_times_are_kept():
    for seed in range(1000):  # nonnegative least squares alone gets one in a hundred wrong
        constraints = on_an_edge(seed)
        assert keeps(constraints, shortest(constraints[None])[0])


def test_what_was_found_wrong_is_sought_again(monkeypatch):
    asked = []

    def wrong_at_first(matrix, target, maxiter):
        u, rest = nnls(matrix, target, maxiter=maxiter)
        asked.append(matrix[-1])
        return (u if len(asked) > 2 else 2 * u), rest

    monkeypatch.setattr(scipy.optimize, "nnls", wrong_at_first)
    constraints = on_an_edge(0)
    u = shortest(np.stack([constraints, constraints]))
    assert len(asked) == 4
    assert not np.allclose(asked[0], asked[2])
    assert all(keeps(constraints, one) for one in u)
