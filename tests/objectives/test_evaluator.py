import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.evaluations import Evaluations
from bezierflow.objectives import BudgetSpentError, JaxEvaluator, count_objectives


def objectives(x):
    return jnp.stack([jnp.sum(x**2), x[0] * x[1] ** 2])


def test_values_gradients_and_hessians():
    x = np.random.default_rng(0).normal(size=(37, 2))
    found = JaxEvaluator(objectives, 2, 2).hessians(x)
    np.testing.assert_allclose(
        found.values, np.stack([np.sum(x**2, axis=1), x[:, 0] * x[:, 1] ** 2], axis=1)
    )
    np.testing.assert_allclose(
        found.gradients[:, 1], np.stack([x[:, 1] ** 2, 2 * x[:, 0] * x[:, 1]], axis=1)
    )
    np.testing.assert_allclose(found.hessians[:, 0], np.tile(2 * np.eye(2), (37, 1, 1)))
    np.testing.assert_allclose(found.hessians[:, 1, 0, 1], 2 * x[:, 1])


def test_products_are_hessians_times_directions():
    rng = np.random.default_rng(1)
    x, v = rng.normal(size=(2, 20, 2))
    evaluator = JaxEvaluator(objectives, 2, 2)
    expected = np.einsum("nmij,nj->nmi", evaluator.hessians(x).hessians, v)
    np.testing.assert_allclose(evaluator.products(x, v), expected, atol=1e-12)


def test_counts_points_and_not_the_padding():
    evaluator = JaxEvaluator(objectives, 2, 2)
    evaluator.hessians(np.ones((3, 2)))
    evaluator.jacobians(np.ones((20, 2)))
    evaluator.values(np.ones((5, 2)))
    evaluator.products(np.ones((2, 2)), np.ones((2, 2)))
    assert evaluator.evaluations == Evaluations(objective=30, jacobian=25, hessian=3)


def test_never_goes_beyond_the_budget():
    evaluator = JaxEvaluator(objectives, 2, 2, budget=10)
    evaluator.hessians(np.ones((7, 2)))
    with pytest.raises(BudgetSpentError):
        evaluator.jacobians(np.ones((4, 2)))
    assert evaluator.evaluations.objective == 7
    evaluator.values(np.ones((3, 2)))
    assert evaluator.left == 0


def test_goes_on_from_the_counts_of_a_state():
    evaluator = JaxEvaluator(objectives, 2, 2, budget=10, spent=Evaluations(9, 5, 1))
    evaluator.values(np.ones((1, 2)))
    assert evaluator.evaluations == Evaluations(10, 5, 1)
    assert evaluator.left == 0


def test_a_negative_budget_is_refused():
    with pytest.raises(ValueError, match="budget must be at least 0"):
        JaxEvaluator(objectives, 2, 2, budget=-1)


def test_no_points_give_empty_arrays():
    found = JaxEvaluator(objectives, 2, 2).hessians(np.zeros((0, 2)))
    assert found.values.shape == (0, 2)
    assert found.hessians.shape == (0, 2, 2, 2)


def test_objectives_must_return_a_vector():
    assert count_objectives(objectives, 2) == 2
    with pytest.raises(ValueError, match="objectives must return one vector"):
        count_objectives(lambda x: jnp.sum(x), 2)
