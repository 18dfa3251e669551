"""`minimize`: the loop, its ends, its checks, and what a user gets back."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.evaluations import Evaluations
from solved import distances_to_points

PROBLEM = bf.problems.ScaledMED()
ALGORITHM_2 = bf.lift(
    bf.GradientDescent(lambda k: 1 / k), degree=3, sampler=bf.Uniform(30), n_iterations=40
)


def solve(**options):
    return bf.minimize(PROBLEM, np.zeros(3), ALGORITHM_2, **{"seed": 5, **options})


def test_same_seed_same_bits_however_the_loop_is_cut():
    whole, again, cut = solve(), solve(), solve(callback=lambda iteration: False)
    np.testing.assert_array_equal(whole.pareto_set.control_points, again.pareto_set.control_points)
    np.testing.assert_array_equal(whole.pareto_set.control_points, cut.pareto_set.control_points)
    assert not np.array_equal(
        whole.pareto_set.control_points, solve(seed=6).pareto_set.control_points
    )


def test_results_are_double_precision_and_the_users_setting_is_untouched():
    assert not jax.config.jax_enable_x64
    solution = solve()
    assert solution.pareto_set.control_points.dtype == np.float64
    assert np.asarray(solution.front(np.array([0.2, 0.3, 0.5]))).dtype == np.float64
    assert jnp.zeros(1).dtype == jnp.float32


def test_cost_in_gradients_counts_values_jacobians_and_hessians():
    """Of two objectives in four variables: a third for a value, four gradients for a Hessian."""
    solution = distances_to_points(2, 4)
    for spent, cost in (((30, 0, 0), 20), ((0, 5, 0), 10), ((0, 0, 7), 56), ((30, 5, 7), 86)):
        stats = dataclasses.replace(solution.stats, evaluations=Evaluations(*spent))
        assert dataclasses.replace(solution, stats=stats).gradient_equivalents == pytest.approx(
            cost
        )


def test_counts_and_history():
    solution = solve()
    assert solution.stats.iterations == 40
    assert solution.stats.evaluations == (0, 40 * 30, 0)
    assert solution.stats.seconds > 0
    assert solution.history["movement"].shape == (40,)
    assert np.isfinite(solution.history["movement"]).all()
    assert solution.history["movement"][-1] < solution.history["movement"][0]
    assert solution.result.reason is bf.Reason.COMPLETED
    assert "40 iterations" in str(solution.result)


def test_convergence_stops_early_and_says_so():
    solution = bf.minimize(PROBLEM, np.zeros(3), bf.lift(bf.Newton(), degree=3))
    assert solution.result.reason is bf.Reason.CONVERGED
    assert solution.result.success
    assert solution.stats.iterations < 20
    assert solution.known_error is not None
    assert "the estimated distance to the Pareto set is" in solution.result.message


STUCK = {
    "steps that end before anything is reached": (lambda k: 0.1 * 0.5**k, 1e-8),
    "steps too small to see": (1e-12, 0.05),
    "steps below rounding": (1e-30, 0.0),
}


@pytest.mark.parametrize("steps", STUCK)
def test_a_surface_that_rests_far_from_the_set_is_suspect(steps):
    step_size, tol = STUCK[steps]
    flow = bf.lift(
        bf.GradientDescent(step_size), degree=3, sampler=bf.Uniform(30), n_iterations=300
    )
    solution = bf.minimize(PROBLEM, np.array([20.0, -30.0, 10.0]), flow, tol=tol)
    assert solution.stats.iterations < 300
    assert solution.result.reason is bf.Reason.SUSPECT
    assert not solution.result.success
    assert "changes by less than" in solution.result.message


def test_objectives_that_share_their_minimizer_are_not_suspect():
    same = lambda x: jnp.array([jnp.sum((x - 1.0) ** 2), 3 * jnp.sum((x - 1.0) ** 2)])
    solution = bf.minimize(same, np.zeros(2), bf.lift(bf.Newton(), degree=2))
    assert solution.result.reason is bf.Reason.CONVERGED
    np.testing.assert_allclose(solution.pareto_set.control_points, 1, atol=1e-12)


@jax.custom_vjp
def square(x):
    return jnp.sum(x**2)


square.defvjp(lambda x: (square(x), x), lambda x, slope: (2 * slope * x,))

NOT_VERIFIED = {
    "kinks": (
        bf.problems.Composite(
            smooth=lambda x: jnp.array([jnp.sum((x - 1.0) ** 2), jnp.sum((x + 1.0) ** 2)]),
            nonsmooth=lambda x: jnp.array([0.0, jnp.sum(jnp.abs(x))]),
            prox=lambda x, w: jnp.sign(x) * jnp.maximum(jnp.abs(x) - w[1], 0.0),
        ),
        bf.ProximalGradient(0.25),
        3,
        "the objectives have kinks",
    ),
    "no Hessians": (
        lambda x: jnp.array([square(x - 1.0), square(x + 1.0)]),
        bf.GradientDescent(0.25),
        3,
        "the objectives have no",
    ),
    "too many": (
        lambda x: jnp.array([jnp.sum((x - 1.0) ** 2), jnp.sum((x + 1.0) ** 2)]),
        bf.GradientDescent(0.5),
        400,
        "the Hessians of 400 variables are too large",
    ),
}


@pytest.mark.parametrize("case", NOT_VERIFIED)
def test_where_there_is_no_estimate_the_claim_says_so(case):
    objectives, method, n_variables, words = NOT_VERIFIED[case]
    solution = bf.minimize(objectives, np.zeros(n_variables), bf.lift(method, degree=2))
    assert solution.result.reason is bf.Reason.CONVERGED
    assert solution.known_error is None
    assert f"not verified: {words}" in solution.result.message


def test_a_count_of_iterations_claims_nothing_and_costs_no_estimate():
    solution = solve()
    assert solution.known_error is None
    assert solution.result.success
    assert "all 40 iterations were made" in solution.result.message


@pytest.mark.parametrize(
    ("n_iterations", "tol", "made", "reason"),
    [
        (7, None, 7, bf.Reason.COMPLETED),
        (7, 1e-9, 7, bf.Reason.ITERATION_LIMIT),
        (None, None, 1000, bf.Reason.ITERATION_LIMIT),
        (None, 0.5, None, bf.Reason.SUSPECT),
    ],
)
def test_success_is_an_answer_that_can_be_used_as_it_is(n_iterations, tol, made, reason):
    """A lifted run that does not come to rest: only one of exactly the iterations that were asked
    for is a success."""
    flow = bf.lift(bf.GradientDescent(1e-3), 1, n_iterations=n_iterations)
    solution = bf.minimize(PROBLEM, np.full(3, 3.0), flow, tol=tol)
    assert solution.result.reason is reason
    assert solution.stats.iterations == made or made is None
    assert solution.result.success == (reason is bf.Reason.COMPLETED)


def test_divergence_keeps_the_last_good_surface():
    solution = bf.minimize(
        PROBLEM, np.zeros(3), bf.lift(bf.GradientDescent(10.0), degree=2, n_iterations=500)
    )
    assert solution.result.reason is bf.Reason.DIVERGED
    assert not solution.result.success
    assert "smaller step_size" in solution.result.message
    assert np.isfinite(solution.pareto_set.control_points).all()
    assert np.abs(solution.pareto_set.control_points).max() < 100
    assert solution.stats.iterations < 500


def test_a_non_finite_objective_is_located():
    def cliff(x):
        return jnp.array(
            [jnp.sum((x - 1.0) ** 2), jnp.sum((x + 1.0) ** 2) + jnp.where(x[0] > 0.5, jnp.nan, 0.0)]
        )

    named = bf.problems.Problem(cliff, objective_names=["cost", "weight"])
    solution = bf.minimize(
        named, np.zeros(2), bf.lift(bf.GradientDescent(0.05), degree=2, n_iterations=100)
    )
    assert solution.result.reason is bf.Reason.NON_FINITE
    assert "weight was nan at x=[" in solution.result.message
    assert f"in iteration {solution.stats.iterations + 1}" in solution.result.message
    assert np.isfinite(solution.pareto_set.control_points).all()
    assert not np.allclose(solution.pareto_set.control_points, 0)


def test_a_non_finite_gradient_is_located():
    root = lambda x: jnp.array([jnp.sqrt(jnp.sum(x**2)), jnp.sum((x - 1.0) ** 2)])
    solution = bf.minimize(
        root, np.zeros(2), bf.lift(bf.GradientDescent(0.05), degree=2, n_iterations=5)
    )
    assert solution.result.reason is bf.Reason.NON_FINITE
    assert "the gradient of f1 was [nan, nan] at x=[0.0, 0.0]" in solution.result.message


def test_x_may_be_any_pytree():
    def objectives(x):
        return PROBLEM(jnp.array([x["a"], *x["b"]]))

    flow = bf.lift(bf.Newton(), degree=3, n_iterations=3)
    tree = bf.minimize(objectives, {"a": 0.0, "b": np.zeros(2)}, flow)
    flat = bf.minimize(PROBLEM, np.zeros(3), flow)
    t = bf.simplex.grid(3, 4)
    value = tree.pareto_set(t)
    assert value["a"].shape == (15,)
    assert value["b"].shape == (15, 2)
    np.testing.assert_allclose(
        np.column_stack([value["a"], value["b"]]), flat.pareto_set(t), atol=1e-12
    )
    np.testing.assert_allclose(tree.front(t), flat.front(t), atol=1e-12)
    assert tree.front(t[0]).shape == (3,)


def test_a_list_of_numbers_is_a_vector():
    flow = bf.lift(bf.Newton(), degree=3, n_iterations=3)
    solution = bf.minimize(PROBLEM, [0, 0.0, 0], flow)
    np.testing.assert_array_equal(
        solution.pareto_set.control_points,
        bf.minimize(PROBLEM, np.zeros(3), flow).pareto_set.control_points,
    )


def test_a_surface_is_a_warm_start_at_its_own_degree_or_above():
    cold = bf.minimize(PROBLEM, np.zeros(3), bf.lift(bf.Newton(), degree=2, n_iterations=3))
    warm = bf.minimize(PROBLEM, cold.pareto_set, bf.lift(bf.Newton(), degree=4, n_iterations=1))
    t = np.random.default_rng(0).dirichlet(np.ones(3), 500)
    assert bf.metrics.mse(warm.pareto_set, PROBLEM, t) < 0.1 * bf.metrics.mse(
        cold.pareto_set, PROBLEM, t
    )
    with pytest.raises(ValueError, match="degree 2, above the flow's 1"):
        bf.minimize(PROBLEM, cold.pareto_set, bf.lift(bf.Newton(), degree=1))
    with pytest.raises(ValueError, match="surface over 3 objectives, but objectives returns 2"):
        bf.minimize(
            lambda x: jnp.array([jnp.sum(x**2), x[0]]),
            cold.pareto_set,
            bf.lift(bf.Newton(), degree=2),
        )


def test_a_method_alone_is_lifted_for_the_user():
    solution = bf.minimize(PROBLEM, np.zeros(3), bf.lift(bf.Newton(), degree=2))
    assert solution.degree == 2


def test_names_travel_from_problem_to_solution():
    named = PROBLEM.with_names(
        objectives=["cost", "mass", "noise"], objective_units=["EUR", "kg", "dB"]
    )
    solution = bf.minimize(named, np.zeros(3), bf.lift(bf.Newton(), n_iterations=2))
    assert solution.names.objectives == ("cost", "mass", "noise")
    assert solution.names.objective_units == ("EUR", "kg", "dB")
    assert solution.names.variables == ("x1", "x2", "x3")


TWO = lambda x: jnp.array([jnp.sum(x**2), jnp.sum((x - 1) ** 2)])

MISTAKES = {
    "scalar objective": ((lambda x: jnp.sum(x**2), np.zeros(2)), {}, ValueError, "got a scalar"),
    "matrix objective": (
        (lambda x: jnp.ones((2, 2)), np.zeros(2)),
        {},
        ValueError,
        r"got shape \(2, 2\)",
    ),
    "integer objective": (
        (lambda x: jnp.array([1, 2]), np.zeros(2)),
        {},
        TypeError,
        "got dtype int",
    ),
    "dictionary objective": (
        (lambda x: {"a": x[0]}, np.zeros(2)),
        {},
        TypeError,
        "as one array or a list, got dict",
    ),
    "objective that fails": (
        (lambda x: jnp.array([x @ jnp.ones(5), 0.0]), np.zeros(2)),
        {},
        TypeError,
        r"shape \(2,\)",
    ),
    "not a function": ((3.0, np.zeros(2)), {}, TypeError, "objectives must be a function"),
    "x0 too short": (
        (PROBLEM, np.zeros(2)),
        {},
        ValueError,
        "x0 must have 3 variables for ScaledMED, got 2",
    ),
    "x0 not finite": (
        (TWO, np.array([0.0, np.nan])),
        {},
        ValueError,
        "x0 must be an array .* all finite",
    ),
    "x0 empty": ((TWO, {}), {}, ValueError, "x0 must hold at least one number"),
    "x0 text": ((TWO, "zeros"), {}, TypeError, "x0 must be an array"),
    "method name": ((TWO, np.zeros(2), "newton"), {}, ValueError, "got 'newton'"),
    "surrogate with a constraint of two values": (
        (TWO, None, bf.Surrogate()),
        {"constraints": [TWO], "bounds": ([0, 0], [1, 1]), "budget": 9},
        ValueError,
        "constraints must have 1 value",
    ),
    "time": (
        (TWO, np.zeros(2)),
        {"time_limit": 0.0},
        ValueError,
        "time_limit must be a finite number above 0, got 0.0; in seconds",
    ),
    "tolerance": (
        (TWO, np.zeros(2), bf.Newton()),
        {"tol": -1.0},
        ValueError,
        "tol must be a finite number of at least 0, got -1.0",
    ),
    "too few samples": (
        (TWO, np.zeros(2), bf.lift(bf.Newton(), 3, bf.Uniform(3))),
        {},
        ValueError,
        "n_samples=3",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.usefixtures("unchecked")
def test_a_mistake_is_one_readable_line(name):
    arguments, options, error, words = MISTAKES[name]
    with pytest.raises(error, match=words) as caught:
        bf.minimize(*arguments, **options)
    assert "\n" not in str(caught.value)
