import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.decisions.quadratic import shortest


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
