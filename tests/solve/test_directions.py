"""Maximized objectives and variables on a logarithmic scale: what people give and get is what they
know."""

import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.problems import Problem


def yield_and_cost(x):
    """A yield to be maximized, and a cost to be minimized."""
    return jnp.array([5 - jnp.sum((x - 1) ** 2), jnp.sum((x + 1) ** 2)])


def test_a_maximized_objective_keeps_its_sign():
    solution = bf.minimize(yield_and_cost, np.zeros(2), maximize=[True, False])
    by_hand = bf.minimize(lambda x: jnp.array([-1.0, 1.0]) * yield_and_cost(x), np.zeros(2))
    assert solution.result.success
    t = np.array([[1.0, 0.0], [0.3, 0.7]])
    np.testing.assert_allclose(solution.front(t), by_hand.front(t) * [-1, 1], atol=1e-12)
    np.testing.assert_allclose(solution.front(t)[0], [5.0, 8.0], atol=1e-6)  # the largest yield
    np.testing.assert_allclose(solution.weights(t), by_hand.weights(t), atol=1e-9)
    assert float(solution.error) == pytest.approx(float(by_hand.error), abs=1e-12)


def test_names_numbers_and_a_single_bool_say_the_same():
    problem = Problem(yield_and_cost, objective_names=["yield", "cost"], maximize="yield")
    flow = bf.lift(bf.Newton(), degree=2, n_iterations=1)
    signs = [
        bf.minimize(yield_and_cost, np.zeros(2), flow, maximize=given).names.signs.tolist()
        for given in ([0], 0, (True, False), np.array([True, False]))
    ]
    assert signs == [[-1, 1]] * 4
    assert bf.minimize(problem, np.zeros(2), flow).names.directions == (
        "maximize",
        "minimize",
    )
    assert bf.minimize(problem, np.zeros(2), flow, maximize=True).names.directions == (
        "maximize",
        "maximize",
    )
    assert bf.minimize(problem, np.zeros(2), flow, maximize=[]).names.directions == (
        "minimize",
        "minimize",
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([True], "maximize must hold a bool for each of the 2 objectives"),
        (["profit"], "'profit' is no objective; there are 'f1', 'f2'"),
        ([2], "number from 0 to 1, got 2"),
    ],
)
def test_what_maximize_cannot_mean_is_told(given, message):
    with pytest.raises(ValueError, match=message):
        bf.minimize(yield_and_cost, np.zeros(2), maximize=given)


def test_an_atlas_keeps_signs_and_files_do(tmp_path):
    solution = bf.minimize(
        yield_and_cost, None, bounds=(np.zeros(2), np.full(2, 0.8)), maximize=[0]
    )
    assert isinstance(solution.pareto_set, bf.BezierAtlas)
    f = np.asarray(solution.front(np.zeros(2)))
    np.testing.assert_allclose(yield_and_cost(solution.pareto_set(np.zeros(2))), f, rtol=1e-6)
    np.testing.assert_allclose(solution.pareto_set.front(solution.pareto_set.t(f)), f, rtol=1e-3)
    solution.save(tmp_path / "atlas.bez")
    again = bf.load(tmp_path / "atlas.bez")
    np.testing.assert_allclose(again.front(np.zeros(2)), f, rtol=1e-3)
    assert again.names.directions == ("maximize", "minimize")


def rate_and_loss(x):
    """The trade-off of a learning rate around 1e-4, which varies over decades, and a width."""
    assert x.shape == (2,)
    rate, width = jnp.log10(x[0]), x[1]
    return jnp.array([(rate + 5) ** 2 + (width - 1) ** 2, (rate + 2) ** 2 + (width - 3) ** 2])


def test_a_logarithmic_variable_is_itself_to_people(tmp_path):
    solution = bf.minimize(
        rate_and_loss, np.array([1e-3, 2.0]), transforms={0: "log10"}, bounds=([1e-7, 0], [1.0, 9])
    )
    assert solution.result.success
    t = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    np.testing.assert_allclose(solution.design(t), [[1e-5, 1], [10**-3.5, 2], [1e-2, 3]], rtol=1e-6)
    np.testing.assert_allclose(solution.flat_designs(t), solution.design(t))
    np.testing.assert_allclose(solution.at(weights=[1, 1]), [10**-3.5, 2], rtol=1e-4)
    np.testing.assert_allclose(solution.front(t)[0], [0, 13], atol=1e-8)
    choice = bf.decisions.knee(solution)
    np.testing.assert_allclose(choice.x, solution.design(choice.t))
    np.testing.assert_allclose(
        bf.decisions.locate(solution, [10**-3.5, 2.0]).t, [0.5, 0.5], atol=1e-6
    )
    np.testing.assert_allclose(bf.decisions.polish(solution, choice).x, choice.x, rtol=1e-5)
    solution.save(tmp_path / "rates.bez")
    np.testing.assert_allclose(bf.load(tmp_path / "rates.bez").design(t), solution.design(t))


def test_an_atlas_of_logarithms_starts_at_the_middle_of_the_decades():
    solution = bf.minimize(
        rate_and_loss, None, transforms={0: "log10"}, bounds=([1e-4, 0], [1.0, 2])
    )
    assert isinstance(solution.pareto_set, bf.BezierAtlas)
    designs = solution.spread(20).X
    assert designs[:, 0].min() == pytest.approx(1e-4)
    assert designs[:, 1].max() == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"transforms": {"rate": "log10"}}, "'rate' is no variable"),
        ({"transforms": {0: "sqrt"}}, "'log10' or 'log', got 'sqrt'"),
        ({"transforms": {1: "log"}, "x0": np.array([1.0, -1.0])}, "x0 must have a positive x2"),
        ({"transforms": {0: "log"}, "bounds": ([-2, -2], [-1, 2])}, "positive values of x1"),
    ],
)
def test_what_transforms_cannot_mean_is_told(settings, message):
    with pytest.raises(ValueError, match=message):
        bf.minimize(rate_and_loss, **{"x0": np.ones(2), **settings})
