"""Lifted methods within bounds: M(A) of the projected method, x ← clip(A_t(x))."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy.optimize import Bounds, LinearConstraint

import bezierflow as bf
from bezierflow.answer import Flag

A, B = np.array([-1.0, 0.2, 3.0]), np.array([1.0, 0.8, 2.0])
LOWER, UPPER = np.array([-0.5, 0.0, 0.0]), np.array([0.5, 1.0, 1.0])
T = np.random.default_rng(0).dirichlet(np.ones(2), 300)


def pair(x):
    return jnp.array([jnp.sum((x - A) ** 2), jnp.sum((x - B) ** 2)])


def exact(t):
    """The minimizer of the t-weighted sum within the box: the objectives are separable, so it is
    the clipped minimizer."""
    return np.clip(t @ np.stack([A, B]), LOWER, UPPER)


def best_fit(degree):
    """What the best surface of a degree misses the exact set by, which has kinks: no lifted method
    does better."""
    t = np.linspace(0, 1, 400)
    t = np.column_stack([t, 1 - t])
    return np.sqrt(np.mean((bf.fit(t, exact(t), degree=degree)(t) - exact(t)) ** 2))


METHODS = {
    "gradient descent": bf.GradientDescent(0.25),
    "Newton": bf.Newton(),
    "SGD": bf.Optax(optax.sgd(0.25)),
    "momentum": bf.Optax(optax.sgd(0.1, momentum=0.5)),
    "Adam": bf.Optax(optax.adam(optax.exponential_decay(0.1, 50, 0.5))),
}


@pytest.mark.parametrize("name", METHODS)
def test_the_projected_set_of_separable_quadratics(name):
    n_iterations = 600 if name == "Adam" else 60
    flow = bf.lift(METHODS[name], degree=5)
    solution = bf.minimize(
        pair, np.zeros(3), replace(flow, n_iterations=n_iterations), bounds=(LOWER, UPPER)
    )
    error = np.sqrt(np.mean((solution.pareto_set(T) - exact(T)) ** 2))
    assert error < 1.5 * best_fit(5)
    assert error < 0.03
    free = bf.minimize(pair, np.zeros(3), replace(flow, n_iterations=n_iterations))
    assert np.sqrt(np.mean((free.pareto_set(T) - exact(T)) ** 2)) > 0.2


def test_gradient_descent_and_the_same_rule_of_optax_are_the_same_within_bounds():
    both = [
        bf.minimize(
            pair,
            np.zeros(3),
            bf.lift(method, 3, bf.Uniform(20), n_iterations=25),
            bounds=(LOWER, UPPER),
        )
        for method in (bf.GradientDescent(0.1), bf.Optax(optax.sgd(0.1)))
    ]
    np.testing.assert_allclose(
        both[0].pareto_set.control_points, both[1].pareto_set.control_points, atol=1e-12
    )
    assert both[1].history["residual"].shape == (25,)


def test_one_iteration_is_clip_after_the_step_and_refit():
    nodes = bf.simplex.grid(2, 8)
    flow = bf.lift(bf.GradientDescent(0.3), 2, bf.Fixed(nodes), n_iterations=1)
    solution = bf.minimize(pair, np.zeros(3), flow, bounds=(LOWER, UPPER))
    moved = np.clip(0.6 * nodes @ np.stack([A, B]), LOWER, UPPER)
    np.testing.assert_allclose(
        solution.pareto_set.control_points,
        bf.fit(nodes, moved, degree=2).control_points,
        atol=1e-12,
    )


def test_gradient_descent_finds_minimizers_within_bounds_where_variables_interact():
    """A clipped Newton step does not, and says so."""
    H = np.array([[2.0, 1.5], [1.5, 2.0]])
    objectives = lambda x: jnp.array(
        [(x - 1) @ H @ (x - 1), (x - jnp.array([1.0, -2.0])) @ H @ (x - jnp.array([1.0, -2.0]))]
    )
    box = (np.array([-3.0, -3.0]), np.array([0.0, 3.0]))
    solutions = [
        bf.minimize(objectives, np.zeros(2), bf.lift(method, 3, n_iterations=200), bounds=box)
        for method in (bf.GradientDescent(0.1), bf.Newton())
    ]
    t = np.array([0.5, 0.5])
    best = np.array([0.0, 0.25])  # x1 at its bound; 1.5 (0 − 1) + 2 (x2 + 0.5) = 0
    np.testing.assert_allclose(solutions[0].pareto_set(t), best, atol=1e-3)
    assert np.abs(solutions[1].pareto_set(t) - best).max() > 0.1
    assert solutions[0].result.success
    assert "clipped steps" not in solutions[0].result.message
    assert solutions[1].result.reason is bf.Reason.SUSPECT
    assert solutions[1].result.message.startswith("clipped steps of Newton")


def test_objectives_see_points_of_the_box_only():
    """A logarithm of the distance to the bound; the refit leaves the box, but the points that move
    do not."""
    objectives = lambda x: jnp.array(
        [jnp.sum((x + 1) ** 2) + jnp.sum(jnp.sqrt(x + 1e-3)), jnp.sum((x - 1) ** 2)]
    )
    solution = bf.minimize(
        objectives,
        np.full(2, 0.5),
        bf.lift(bf.GradientDescent(0.05), 3, n_iterations=200),
        bounds=(0, 2),
    )
    assert solution.result.reason is bf.Reason.COMPLETED
    assert "leaves the bounds by at most" in solution.result.message


def test_the_message_says_how_far_the_polynomial_leaves_the_box():
    named = bf.problems.Problem(pair, variable_names=["width", "height", "depth"])
    solution = bf.minimize(
        named, np.zeros(3), bf.lift(bf.GradientDescent(0.25), 3), bounds=(LOWER, UPPER)
    )
    t = np.linspace(0, 1, 3001)
    x = solution.pareto_set(np.column_stack([t, 1 - t]))
    outside = np.max(np.maximum(LOWER - x, x - UPPER))
    assert outside > 1e-3
    assert f"it leaves the bounds by at most {outside:.2g} (width" in solution.result.message
    assert "the error estimate does not know bounds" in solution.result.message
    assert solution.result.reason is bf.Reason.CONVERGED
    assert solution.made_by["bounds"].startswith("width >= -0.5, height >= 0")
    assert Flag.BOUNDS_IGNORED in solution.error.flags


def test_bounds_that_are_never_reached_change_nothing_but_the_message():
    problem, flow = bf.problems.ScaledMED(), bf.lift(bf.Newton(), 3)
    wide, free = (
        bf.minimize(problem, np.zeros(3), flow, bounds=bounds) for bounds in ((-50, 50), None)
    )
    np.testing.assert_allclose(
        wide.pareto_set.control_points, free.pareto_set.control_points, atol=1e-13
    )
    assert wide.result.message.endswith("it keeps the bounds")
    assert wide.known_error is not None
    assert Flag.BOUNDS_IGNORED not in wide.error.flags
    assert "bounds" not in free.made_by
    assert free.feasible is None


@pytest.mark.parametrize("bounds", [(None, None), (-np.inf, np.inf), Bounds()])
def test_infinite_bounds_are_no_bounds_bit_for_bit(bounds):
    flow = bf.lift(bf.Optax(optax.adam(0.1)), 2, n_iterations=20)
    given, free = (bf.minimize(pair, np.zeros(3), flow, bounds=b) for b in (bounds, None))
    np.testing.assert_array_equal(given.pareto_set.control_points, free.pareto_set.control_points)
    assert given.result.message == free.result.message


def test_new_bounds_compile_nothing_anew():
    traces = []

    def counted(x):
        traces.append(1)
        return pair(x)

    flow = bf.lift(bf.GradientDescent(0.25), 2, n_iterations=3)
    bf.minimize(counted, np.zeros(3), flow, bounds=(LOWER, UPPER))
    before = len(traces)
    bf.minimize(counted, np.zeros(3), flow, bounds=(LOWER - 0.1, UPPER))
    assert len(traces) - before <= 2  # the check of the objectives: traced, and at a NumPy array


def test_pytrees_with_bounds_of_the_same_form():
    tree = lambda x: pair(jnp.concatenate([x["a"][None], x["b"]]))
    bounds = tuple({"a": side[0], "b": side[1:]} for side in (LOWER, UPPER))
    flow = bf.lift(bf.GradientDescent(0.25), 3, n_iterations=30)
    solution = bf.minimize(tree, {"a": 0.0, "b": np.zeros(2)}, flow, bounds=bounds)
    flat = bf.minimize(pair, np.zeros(3), flow, bounds=(LOWER, UPPER))
    value = solution.pareto_set(T)
    np.testing.assert_allclose(
        np.column_stack([value["a"], value["b"]]), flat.pareto_set(T), atol=1e-12
    )


def first_points(objectives, x0, **options):
    """Where a run starts: no iteration moves anything."""
    solution = bf.minimize(
        objectives, x0, bf.lift(bf.GradientDescent(1e-300), 1, n_iterations=1), **options
    )
    return jax.tree.map(lambda leaf: leaf[0], solution.pareto_set.control_points)


def test_a_start_outside_is_clipped_and_none_is_the_center():
    np.testing.assert_allclose(
        first_points(pair, np.array([9.0, 0.5, -9.0]), bounds=(LOWER, UPPER)),
        [0.5, 0.5, 0.0],
        atol=1e-12,
    )
    np.testing.assert_allclose(
        first_points(pair, None, bounds=(LOWER, UPPER)), [0.0, 0.5, 0.5], atol=1e-12
    )
    np.testing.assert_allclose(
        first_points(bf.problems.ScaledMED(), None, bounds=(0, 1)), [0.5] * 3
    )
    tree = lambda x: pair(jnp.concatenate([x["a"][None], x["b"]]))
    start = first_points(tree, None, bounds=({"a": 0.0, "b": np.zeros(2)}, 1))
    np.testing.assert_allclose(start["a"], 0.5)
    np.testing.assert_allclose(start["b"], [0.5, 0.5])


def test_a_problem_brings_its_bounds_along():
    flow = bf.lift(bf.GradientDescent(0.25), 3, n_iterations=30)
    problem = bf.problems.Problem(pair, bounds=(LOWER, UPPER), variable_names=["a", "b", "c"])
    own = bf.minimize(problem, None, flow)
    given = bf.minimize(pair, None, flow, bounds=(LOWER, UPPER))
    free = bf.minimize(problem.with_names(["f", "g"]), np.zeros(3), flow, bounds=(None, None))
    np.testing.assert_allclose(
        own.pareto_set.control_points, given.pareto_set.control_points, atol=1e-12
    )
    assert own.feasible is not None
    assert free.feasible is None
    assert np.abs(free.pareto_set(T) - exact(T)).max() > 0.4
    assert isinstance(hash(problem), int)


def test_a_bounded_solution_goes_into_a_file_and_back(tmp_path):
    solution = bf.minimize(pair, None, bf.lift(bf.GradientDescent(0.25), 3), bounds=(LOWER, UPPER))
    solution.save(tmp_path / "bounded.bez")
    loaded = bf.load(tmp_path / "bounded.bez")
    assert loaded.made_by == solution.made_by
    assert Flag.BOUNDS_IGNORED in loaded.error.flags


LIFTED = bf.lift(bf.GradientDescent(0.25), 2)
DISC = lambda x: jnp.sum(x**2) - 1.0

MISTAKES = {
    "constraints": (
        (pair, np.zeros(3), LIFTED),
        {"constraints": DISC},
        ValueError,
        "constraints do not go with a lifted method",
    ),
    "own constraints": (
        (
            bf.problems.Problem(pair, constraints=LinearConstraint([1, 1, 1], 0, 1)),
            np.zeros(3),
            LIFTED,
        ),
        {},
        ValueError,
        "constraints do not go with a lifted method",
    ),
    "cut off, one degree": (
        (pair, np.zeros(3), bf.NormalFlow(degree=4)),
        {"bounds": (LOWER, UPPER)},
        ValueError,
        "cut off a part of the Pareto set",
    ),
    "cut off, by weights": (
        (pair, np.zeros(3), bf.WeightsFlow()),
        {"constraints": [lambda x: jnp.sum(x**2) - 0.1]},
        ValueError,
        "cut off at constraint 1 <= 0",
    ),
    "nothing is feasible": (
        (pair, np.zeros(3)),
        {"constraints": [lambda x: jnp.sum(x**2) + 1]},
        ValueError,
        "no feasible point",
    ),
    "no x0": ((pair, None, LIFTED), {}, ValueError, "x0 must be given where there are no bounds"),
    "no size": (
        (pair, None, LIFTED),
        {"bounds": (0, 1)},
        ValueError,
        "do not tell how many variables",
    ),
    "no end": (
        (pair, None, LIFTED),
        {"bounds": ([0, 0, 0], [1, None, 1])},
        ValueError,
        "infinite, here one of x2",
    ),
    "wrong bounds": (
        (pair, np.zeros(3), LIFTED),
        {"bounds": (1, 0)},
        ValueError,
        "lower 1 and upper 0 for x1",
    ),
    "wrong length": (
        (pair, np.zeros(3), LIFTED),
        {"bounds": (np.zeros(2), 1)},
        ValueError,
        "must hold 3 numbers",
    ),
}


@pytest.mark.slow("nothing is feasible")
@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.usefixtures("unchecked")
def test_a_mistake_is_one_readable_line(name):
    arguments, options, error, words = MISTAKES[name]
    with pytest.raises(error, match=words) as caught:
        bf.minimize(*arguments, **options)
    assert "\n" not in str(caught.value)


def test_a_set_within_its_bounds_and_constraints_is_the_answer():
    problem = bf.problems.ScaledMED()
    constraints = [LinearConstraint([1, 1, 1], -10, 10), lambda x: jnp.sum(x**2) - 9]
    free, kept = (
        bf.minimize(problem, np.zeros(3)),
        bf.minimize(problem, np.zeros(3), bounds=(-2, 2), constraints=constraints),
    )
    np.testing.assert_allclose(
        kept.pareto_set.control_points, free.pareto_set.control_points, atol=1e-12
    )
    assert kept.result.reason is bf.Reason.CONVERGED
    assert (
        "it keeps the bounds and constraints, so it is the Pareto set with them too"
        in kept.result.message
    )
    assert "no better point among" in kept.result.message


def test_a_run_stopped_before_it_turned_to_its_bounds_says_what_it_violates():
    stopped = bf.minimize(
        pair, np.zeros(3), bounds=(LOWER, UPPER), callback=lambda iteration: iteration.number == 2
    )
    assert stopped.result.reason is bf.Reason.STOPPED
    assert "the front is cut off at" in stopped.result.message
