"""`minimize(f, x0)` without knobs, and the parametrization by weights."""

import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf

SCALED_MED = bf.problems.ScaledMED()
T = np.random.default_rng(0).dirichlet(np.ones(3), 2000)


@pytest.fixture(scope="module")
def solution():
    return bf.minimize(SCALED_MED, np.zeros(3))


def relative_error(solution, problem):
    """The larger of both one-sided largest distances between surface and exact set, over the
    diameter."""
    t = np.concatenate([bf.simplex.grid(problem.n_objectives, 12), np.eye(problem.n_objectives)])
    there = problem.distance(np.asarray(solution.pareto_set(t))).max()
    _, back = bf.bezier.project(solution.flat_surface, np.asarray(problem.pareto_point(t)))
    return max(there, back.max()) / solution.error.diameter


def test_no_knobs_reach_the_set(solution):
    assert relative_error(solution, SCALED_MED) < 1e-7
    assert solution.result.reason is bf.Reason.CONVERGED
    assert solution.error.flags == ()
    assert solution.stats.evaluations.hessian <= 300
    assert solution.stats.evaluations.jacobian <= 1200


def test_the_estimate_is_honest(solution):
    distance = SCALED_MED.distance(np.asarray(solution.pareto_set(T)))
    assert distance.max() <= solution.error.expected
    assert float(solution.error) == solution.error.rms


def test_the_same_seed_gives_the_same_bits(solution):
    again = bf.minimize(SCALED_MED, np.zeros(3))
    np.testing.assert_array_equal(
        again.pareto_set.control_points, solution.pareto_set.control_points
    )


def test_multipliers_are_the_weights_of_the_point(solution):
    """On scaled-MED the minimizer for given weights is known: the point for the multipliers must be
    the point itself."""
    t = T[:50]
    weights = solution.weights(t)
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(SCALED_MED.pareto_map(weights), solution.pareto_set(t), atol=1e-6)


def test_the_point_for_given_weights(solution):
    for weights in ([0.2, 0.3, 0.5], [4.0, 4.0, 2.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]):
        w = np.array(weights) / np.sum(weights)
        np.testing.assert_allclose(
            solution.at(weights=weights), SCALED_MED.pareto_map(w), atol=1e-5
        )
    with pytest.raises(ValueError, match="weights must be 3 numbers"):
        solution.at(weights=[1.0, 2.0])


def test_weights_parametrization_reaches_the_degree_floor():
    solution = bf.minimize(SCALED_MED, np.zeros(3), bf.WeightsFlow(degree=3))
    nodes = bf.simplex.gauss_nodes(3, 20)
    miss = np.sum(
        (np.asarray(solution.pareto_set(nodes.t)) - SCALED_MED.pareto_map(nodes.t)) ** 2, axis=1
    )
    assert nodes.weights @ miss < 1.01 * 3.3315e-5
    assert solution.stats.evaluations.hessian <= 60


def test_weights_parametrization_raises_the_degree_by_itself():
    solution = bf.minimize(SCALED_MED, np.zeros(3), bf.WeightsFlow(), tol=1e-3)
    assert 4 <= solution.degree <= 8
    assert bf.metrics.mse(solution.pareto_set, SCALED_MED, T) < 1e-6


def test_scaling_and_shifting_objectives_changes_nothing(solution):
    scale, shift = np.array([1e6, 1.0, 1e-6]), np.array([3.0, -1e3, 10.0])
    scaled = bf.minimize(lambda x: scale * SCALED_MED(x) + shift, np.zeros(3))
    assert scaled.result.reason is bf.Reason.CONVERGED
    assert (
        SCALED_MED.distance(np.asarray(scaled.pareto_set(T))).max() / scaled.error.diameter < 1e-6
    )


def test_pytrees_callbacks_and_budgets():
    objectives = lambda x: SCALED_MED(jnp.array([x["a"], *x["b"]]))
    seen = []
    solution = bf.minimize(
        objectives, {"a": 0.0, "b": np.zeros(2)}, callback=lambda i: seen.append(i) or i.number == 4
    )
    assert solution.result.reason is bf.Reason.STOPPED
    assert [iteration.number for iteration in seen] == [1, 2, 3, 4]
    assert set(solution.pareto_set(T[0])) == {"a", "b"}
    few = bf.minimize(SCALED_MED, np.zeros(3), budget=40)
    assert few.stats.evaluations.objective <= 40
    assert not few.result.success


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": bf.Newton(), "budget": 10}, 'budget=10 goes with method="auto"'),
        ({"budget": -1}, "budget must be a whole number of at least 0, got -1"),
        (
            {"method": bf.NormalFlow(tol=1e-3), "tol": 1e-4},
            "tol=0.0001 disagrees with the flow's own 0.001",
        ),
        ({"method": bf.WeightsFlow(budget=7), "budget": 8}, "budget=8 disagrees"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_mistakes_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        bf.minimize(SCALED_MED, np.zeros(3), **options)


def test_a_problem_that_is_no_simplex_ends_with_a_flag_and_not_with_an_error():
    """DTLZ5, whose front is a curve: refits there are singular up to rounding."""

    def objectives(x):
        g = jnp.sum((x[2:] - 0.5) ** 2)
        a, b = x[0] * jnp.pi / 2, jnp.pi / (4 * (1 + g)) * (1 + 2 * g * x[1])
        return (1 + g) * jnp.array([jnp.cos(a) * jnp.cos(b), jnp.cos(a) * jnp.sin(b), jnp.sin(a)])

    assert (
        bf.minimize(objectives, np.full(7, 0.45), bf.NormalFlow(degree=6)).result.reason
        is bf.Reason.SUSPECT
    )
