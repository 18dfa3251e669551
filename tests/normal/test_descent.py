import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.normal import Matrices, find_minimizers
from bezierflow.normal.descent import break_ties, descend, not_unique
from bezierflow.objectives import JaxEvaluator
from bezierflow.problems import SkewMED

CENTERS = np.array([[1.0, 2.0], [-0.5, 0.3], [0.7, -1.1]])
SHAPES = np.array([[[2.0, 0.5], [0.5, 1.0]], [[1.0, -0.2], [-0.2, 4.0]], [[5.0, 1.0], [1.0, 0.9]]])


def powers(exponents, scales=(1, 1, 1), offsets=(0, 0, 0)):
    """Objectives s |x − c|_A^{2p} + o: cusps for p < 1/2, norms for 1/2, flat bottoms for p > 1."""

    def objectives(x):
        away = x - CENTERS
        squares = jnp.einsum("mi,mij,mj->m", away, SHAPES, away)
        return jnp.asarray(scales) * squares ** jnp.asarray(exponents) + jnp.asarray(offsets)

    return objectives


def run(objectives, x0, weights=None, n_variables=2):
    weights = np.eye(3) if weights is None else weights
    evaluator = JaxEvaluator(objectives, weights.shape[1], n_variables)
    starts = np.tile(np.asarray(x0, dtype=float), (len(weights), 1))
    curvature = Matrices(evaluator, starts[: weights.shape[1]])
    return find_minimizers(curvature, weights, starts), evaluator.evaluations


@pytest.mark.parametrize(
    ("objectives", "most"),
    [
        (powers([1, 1, 1]), 6),
        (powers([0.2, 0.5, 0.35]), 30),
        (powers([2.5, 1.5, 3]), 30),
        (powers([1, 0.4, 2], scales=(1e6, 1e-6, 1), offsets=(1e6, 3, -5e3)), 30),
    ],
    ids=["quadratic", "cusps", "flat", "bad scales"],
)
def test_finds_minimizers_with_few_evaluations(objectives, most):
    state, evaluations = run(objectives, [4.0, -3.0])
    assert state.converged.all()
    np.testing.assert_allclose(state.x, CENTERS, atol=1e-8)
    assert evaluations.hessian <= most


def test_starting_at_a_kink_of_one_objective_does_not_stop_the_others():
    state, _ = run(SkewMED(3), [1.0, 0.0, 0.0], n_variables=3)
    assert state.converged.all()
    np.testing.assert_allclose(state.x, np.eye(3), atol=1e-8)


def test_follows_a_curved_valley():
    def rosenbrock(x):
        return jnp.stack(
            [100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, jnp.sum(x**2), jnp.sum((x - 1) ** 2)]
        )

    state, _ = run(rosenbrock, [-1.2, 1.0])
    np.testing.assert_allclose(state.x, [[1, 1], [0, 0], [1, 1]], atol=1e-8)


def test_minimizes_weighted_sums():
    weights = np.array([[0.2, 0.3, 0.5], [0.6, 0.0, 0.4]])
    state, _ = run(powers([1, 1, 1]), [0.0, 0.0], weights)
    expected = [
        np.linalg.solve(np.tensordot(w, SHAPES, 1), np.einsum("m,mij,mj->i", w, SHAPES, CENTERS))
        for w in weights
    ]
    np.testing.assert_allclose(state.x, expected, atol=1e-10)


def test_an_objective_without_minimizer_is_not_called_converged():
    state, _ = run(lambda x: jnp.stack([x[0], jnp.exp(-x[1]), jnp.sum(x**2)]), [0.5, 0.5])
    assert state.converged.tolist() == [False, False, True]


def ties(x):
    """The first does not see x[1]; the second has one minimizer; the third is flat at its minimizer
    but has only one."""
    return jnp.stack([x[0] ** 2, jnp.sum((x - 1) ** 2), jnp.sum((x + 1) ** 2) ** 2])


def found(objectives, n_objectives):
    starts = np.tile([3.0, -2.0], (n_objectives, 1))
    curvature = Matrices(JaxEvaluator(objectives, n_objectives, 2), starts)
    return curvature, find_minimizers(curvature, np.eye(n_objectives), starts)


def test_only_a_singular_hessian_at_a_smooth_minimum_means_that_it_is_not_unique():
    curvature, descent = found(ties, 3)
    assert descent.converged.all()
    np.testing.assert_array_equal(not_unique(curvature, descent), [True, False, False])


def test_a_tie_is_broken_by_the_others_and_the_rest_stays():
    curvature, descent = found(lambda x: ties(x)[:2], 2)
    broken = break_ties(curvature, descent, not_unique(curvature, descent))
    np.testing.assert_array_equal(broken.active, [True, False])
    while broken.active.any():
        broken = descend(curvature, broken)
    np.testing.assert_allclose(broken.x, [[0, 1], [1, 1]], atol=1e-5)
    np.testing.assert_array_equal(broken.x[1], descent.x[1])
