"""Sets thinner than their number of objectives allows are called so."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import LinearConstraint

import bezierflow as bf


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([[0, 0], [1, 1], [3, 0]], None),
        ([[0, 0], [1, 1]], None),
        ([[0, 0], [1, 1], [3, 3]], "a curve"),
        ([[0, 0], [1, 1], [3, 3 + 1e-6]], "a curve"),
    ],
)
def test_the_dimension_of_a_set_is_said_where_it_is_less_than_that_of_its_simplex(points, said):
    """Squared distances to points: the set is their hull."""
    places = np.array(points, dtype=float)
    solution = bf.minimize(lambda x: jnp.sum((x - places) ** 2, axis=1), np.zeros(2))
    words = "thinner than" if said is None else f"the set is {said}, thinner than"
    assert (words in solution.result.message) == (said is not None)


@pytest.mark.parametrize("bounds", [None, (-2.0, 2.0), (1.5, 3.0)], ids=["free", "inside", "edge"])
@pytest.mark.parametrize("n_objectives", [2, 3])
def test_objectives_that_do_not_conflict_have_one_best_design(n_objectives, bounds):
    """Increasing functions of one squared distance; beyond an edge the nearest corner is best."""

    def agreeing(x):
        d = jnp.sum((x - jnp.array([0.7, 1.2])) ** 2)
        return jnp.array([d, jnp.exp(d), jnp.sqrt(1 + d)])[:n_objectives]

    solution = bf.minimize(agreeing, np.full(2, 1.8), bounds=bounds)
    best = [1.5, 1.5] if bounds == (1.5, 3.0) else [0.7, 1.2]
    assert solution.result.reason is bf.Reason.CONVERGED
    assert solution.result.message.startswith("The objectives do not conflict: x = [")
    assert "not certified" not in solution.result.message
    t = np.random.default_rng(0).dirichlet(np.ones(n_objectives), 20)
    np.testing.assert_allclose(solution.pareto_set(t), np.tile(best, (20, 1)), atol=1e-7)


def test_a_single_feasible_point_is_the_set():
    """Two equality constraints of two variables, and objectives that would conflict."""
    solution = bf.minimize(
        lambda x: jnp.array([jnp.sum((x - 1) ** 2), jnp.sum((x + 1) ** 2)]),
        np.array([0.1, 0.2]),
        bounds=(-1.0, 1.0),
        constraints=LinearConstraint([[1, 2], [1, -1]], [0.7, -0.2], [0.7, -0.2]),
    )
    assert solution.result.reason is bf.Reason.CONVERGED
    assert solution.result.message.startswith("The objectives do not conflict")
    np.testing.assert_allclose(solution.pareto_set(np.eye(2)), [[0.1, 0.3]] * 2, atol=1e-8)
