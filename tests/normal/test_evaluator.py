import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.normal import BudgetSpentError, Evaluator


def objectives(x):
    return jnp.stack([jnp.sum(x**2), x[0] * x[1] ** 2])


def test_values_gradients_and_hessians():
    x = np.random.default_rng(0).normal(size=(37, 2))
    at = Evaluator(objectives, 2, 2).at(x)
    np.testing.assert_allclose(at.values, np.stack([np.sum(x**2, axis=1), x[:, 0] * x[:, 1] ** 2], axis=1))
    np.testing.assert_allclose(at.gradients[:, 1], np.stack([x[:, 1] ** 2, 2 * x[:, 0] * x[:, 1]], axis=1))
    np.testing.assert_allclose(at.hessians[:, 0], np.tile(2 * np.eye(2), (37, 1, 1)))
    np.testing.assert_allclose(at.hessians[:, 1, 0, 1], 2 * x[:, 1])


def test_counts_points_and_not_the_padding():
    count = Evaluator(objectives, 2, 2)
    count.at(np.ones((3, 2)))
    count.at(np.ones((20, 2)), hessians=False)
    count.values(np.ones((5, 2)))
    assert count.counts == {"objective": 28, "jacobian": 23, "hessian": 3}
    assert count.spent == 28


def test_never_goes_beyond_the_budget():
    count = Evaluator(objectives, 2, 2, budget=10)
    count.at(np.ones((7, 2)))
    with pytest.raises(BudgetSpentError):
        count.at(np.ones((4, 2)))
    assert count.spent == 7
    count.at(np.ones((3, 2)))
    assert count.left == 0


def test_a_negative_budget_is_refused():
    with pytest.raises(ValueError, match="budget"):
        Evaluator(objectives, 2, 2, budget=-1)
