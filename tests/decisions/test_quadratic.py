import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.decisions.quadratic import solve_quadratics


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 6), st.integers(1, 10), st.integers(0, 2**31))
def test_the_first_order_conditions_hold_for_each(size, n_constraints, seed):
    rng = np.random.default_rng(seed)
    h, g, C = rng.uniform(0.1, 10, (3, size)), rng.normal(size=(3, size)), rng.normal(size=(3, n_constraints, size))
    e = (C @ rng.normal(size=(3, size, 1)))[..., 0] + rng.uniform(0, 1, (3, n_constraints))  # a point that is feasible
    z, duals = solve_quadratics(h, g, C, e)
    left = (C @ z[..., None])[..., 0] - e
    assert (duals >= 0).all()
    assert (left <= 1e-9).all()
    np.testing.assert_allclose(h * z + g + (duals[:, None] @ C)[:, 0], 0, atol=1e-8)
    np.testing.assert_allclose(duals * left, 0, atol=1e-8)


def test_no_step_where_nothing_is_feasible():
    h, g = np.ones((2, 1)), np.full((2, 1), -1.0)
    C, e = np.array([[[1.0], [-1.0]]] * 2), np.array([[-1.0, -1.0], [2.0, 2.0]])  # z ≤ −1 and z ≥ 1; −2 ≤ z ≤ 2
    z, duals = solve_quadratics(h, g, C, e)
    np.testing.assert_allclose(z, [[0.0], [1.0]], atol=1e-12)
    np.testing.assert_array_equal(duals, 0)
