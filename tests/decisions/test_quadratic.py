import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.decisions.quadratic import solve_quadratic


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 6), st.integers(1, 10), st.integers(0, 2**31))
def test_the_first_order_conditions_hold(n, m, seed):
    rng = np.random.default_rng(seed)
    h, g, C = rng.uniform(0.1, 10, n), rng.normal(size=n), rng.normal(size=(m, n))
    e = C @ rng.normal(size=n) + rng.uniform(0, 1, m)  # a point that is feasible
    z, dual = solve_quadratic(h, g, C, e)
    assert (dual >= 0).all()
    assert (C @ z <= e + 1e-9).all()
    np.testing.assert_allclose(h * z + g + dual @ C, 0, atol=1e-8)
    np.testing.assert_allclose(dual * (C @ z - e), 0, atol=1e-8)
