"""A second call starts with what the first one knows."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import optax
import pytest

import bezierflow as bf
from bezierflow.answer import Reason

PROBLEM = bf.problems.ScaledMED()
X0 = np.zeros(3)


@pytest.fixture(scope="module")
def cold():
    return bf.minimize(PROBLEM, X0)


def test_a_converged_surface_is_kept_at_a_tenth_of_the_cost(cold):
    for start in (cold, cold.pareto_set):
        warm = bf.minimize(PROBLEM, start)
        assert warm.result.success
        assert "the surface given was kept" in warm.result.message
        np.testing.assert_array_equal(
            warm.pareto_set.control_points, cold.pareto_set.control_points
        )
        spent = warm.stats.evaluations
        # A solution brings along what it was held against; a surface is held against it again.
        is_bare = start is not cold
        assert warm.error.n_probes >= 0.8 * cold.error.n_probes
        values = int(spent.objective) - is_bare * warm.error.n_probes
        assert values <= 0.1 * cold.stats.evaluations.objective
        # Gradients at probes show whether objectives are convex.
        assert is_bare or warm.gradient_equivalents <= 0.1 * cold.gradient_equivalents


def test_probes_of_other_bounds_or_objectives_do_not_count(cold):
    again = lambda x: PROBLEM(x)
    for changed in (
        bf.minimize(again, cold),
        bf.minimize(PROBLEM, cold, bounds=(np.full(3, -2.0), np.full(3, 3.0))),
    ):
        assert "the surface given was kept" in changed.result.message
        assert "fresh probes" in changed.result.message
        assert changed.stats.evaluations.objective > 1536


def test_a_surface_of_another_problem_is_not_kept(cold):
    moved = lambda x: PROBLEM(x - 0.1)
    warm = bf.minimize(moved, cold)
    assert warm.result.success
    assert "was kept" not in warm.result.message
    np.testing.assert_allclose(
        warm.pareto_set(np.eye(3)), np.asarray(cold.pareto_set(np.eye(3))) + 0.1, atol=1e-6
    )


@pytest.mark.parametrize("how", ["callback", "iterations", "budget"])
def test_a_run_that_was_stopped_goes_on_where_it_was(how, cold):
    stops = {
        "callback": {"callback": lambda iteration: iteration.number == 9},
        "iterations": {"method": bf.NormalFlow(n_iterations=9)},
        "budget": {"budget": 60},
    }
    first = bf.minimize(PROBLEM, X0, **stops[how])
    assert first.paused is not None
    second = bf.minimize(PROBLEM, first)
    assert second.result.reason is Reason.CONVERGED
    np.testing.assert_array_equal(second.pareto_set.control_points, cold.pareto_set.control_points)
    assert second.paused is None
    assert second.stats.evaluations == cold.stats.evaluations or how == "budget"


def test_a_lifted_run_goes_on_with_its_momentum_and_its_samples():
    flow = bf.lift(bf.Optax(optax.adam(0.05)), 2, sampler=bf.Uniform(20))
    whole = bf.minimize(PROBLEM, X0, replace(flow, n_iterations=30))
    part = bf.minimize(PROBLEM, X0, replace(flow, n_iterations=10))
    rest = bf.minimize(PROBLEM, part, replace(flow, n_iterations=20))
    np.testing.assert_array_equal(rest.pareto_set.control_points, whole.pareto_set.control_points)
    assert rest.stats.evaluations == whole.stats.evaluations


@pytest.mark.slow
def test_an_atlas_goes_on_too():
    f = lambda x: jnp.array([x[0], 1 - jnp.sqrt(x[0]) + x[1] ** 2])
    bounds = (np.array([0.01, -1.0]), np.array([1.0, 1.0]))
    whole = bf.minimize(f, None, bounds=bounds)
    part = bf.minimize(f, None, bounds=bounds, callback=lambda iteration: "nodes" in iteration.info)
    assert part.result.reason is Reason.STOPPED
    rest = bf.minimize(f, part, bounds=bounds)
    assert rest.result.reason is whole.result.reason
    F = whole.spread(7).F
    for wish in F:
        np.testing.assert_array_equal(rest.at(aspiration=wish), whole.at(aspiration=wish))
