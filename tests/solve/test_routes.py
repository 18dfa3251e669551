"""Which form the answer takes: one surface where that is the set, an atlas of the right dimension
where it is not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.bezier import BezierSimplex, Raveling
from bezierflow.names import Names
from bezierflow.objectives import Form, feasible_set
from bezierflow.objectives.problem import Problem
from bezierflow.precision import double_precision
from bezierflow.solve.rivals import find_rival, probes_of
from bezierflow.solve.routes import Routes


def distance(x, point):
    return jnp.sum((x - jnp.array(point)) ** 2)


SQUARE = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
DEGENERATE = {
    "three objectives of one variable": (
        lambda x: jnp.array([x[0] ** 2, (x[0] - 1) ** 2, 2 * (x[0] - 2) ** 2]),
        [1],
    ),
    "four objectives of two variables": (
        lambda x: jnp.array([distance(x, p) for p in SQUARE]),
        [2, 2],
    ),
}


@pytest.mark.slow("four objectives of two variables")
@pytest.mark.parametrize("name", DEGENERATE)
def test_a_degenerate_set_is_an_atlas_of_its_dimension_without_a_flag(name):
    objectives, dimensions = DEGENERATE[name]
    solution = bf.minimize(objectives, np.array([0.1, 0.2])[: 1 + ("two" in name)])
    assert solution.result.reason is bf.Reason.CONVERGED
    assert solution.error.front < 1e-6
    assert [piece.dimension for piece in solution.pareto_set.pieces if not piece.face] == dimensions
    if dimensions == [2, 2]:  # every design of the square is found
        x = np.random.default_rng(0).random((200, 2))
        f = np.sum((x[:, None] - np.array(SQUARE)) ** 2, axis=2)
        np.testing.assert_allclose(solution.pareto_set(solution.pareto_set.chart(f)), x, atol=1e-6)


def test_objectives_with_one_minimizer_have_a_surface_of_one_point():
    """It is decided by slopes: the minimizers are found up to rounding, which is all that lies
    between them."""
    minimizer = np.array([1.0, 2.0])
    solution = bf.minimize(
        lambda x: jnp.array([distance(x, minimizer), distance(x, minimizer) + 3 * (x[0] - 1) ** 2]),
        np.zeros(2),
    )
    assert solution.result.reason is bf.Reason.CONVERGED
    assert "no better point among 1536 probes" in solution.result.message
    assert solution.error.n_probes == 1536
    np.testing.assert_allclose(solution.spread(5).X, np.tile(minimizer, (5, 1)), atol=1e-12)
    np.testing.assert_allclose(solution.at(weights=[0.3, 0.7]), minimizer, atol=1e-12)


def test_two_basins_without_bounds_become_an_atlas():
    def wells(x):
        return jnp.array(
            [(x[0] ** 2 - 1) ** 2 + x[0] / 2 + x[1] ** 2, (x[0] - 1.5) ** 2 + (x[1] - 1) ** 2]
        )

    solution = bf.minimize(wells, np.array([1.0, 0.0]))
    assert solution.result.reason is bf.Reason.CONVERGED
    assert "without bounds" in solution.result.message
    assert sum(not piece.face for piece in solution.pareto_set.pieces) == 2
    assert_nothing_dominates(solution, wells, np.linspace(-2, 2, 200), np.linspace(-1, 2, 150))


def assert_nothing_dominates(solution, objectives, *sides):
    """No design of a grid is better than the answer above it, and the set has no point that one
    dominates."""
    x = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, len(sides))
    with double_precision():
        f = np.asarray(jax.jit(jax.vmap(objectives))(x))
    front = solution.spread(80).F
    span = np.ptp(front, axis=0)
    assert max(np.max(np.min((row - f) / span, axis=1)) for row in front) < 1e-6
    near = f[np.all(f < front.max(axis=0), axis=1)]
    answers = solution.pareto_set.front(solution.pareto_set.chart(near))
    assert np.max((answers - near).max(axis=1) / span.max()) < 1e-6


@pytest.mark.slow
def test_a_set_that_keeps_its_bounds_is_held_against_a_survey_of_the_box():
    def griewank(x, place):
        x = x - place
        return jnp.sum(x**2) / 4000 - jnp.prod(jnp.cos(x / jnp.sqrt(jnp.array([1.0, 2.0])))) + 1

    def pair(x):
        return jnp.array([griewank(x, 0.0), griewank(x, 7.0)])

    solution = bf.minimize(pair, None, bounds=(np.full(2, -30.0), np.full(2, 30.0)))
    # the set of the basin at the start keeps the bounds, too
    assert isinstance(solution.pareto_set, bf.BezierAtlas)
    assert solution.result.reason is bf.Reason.CONVERGED
    assert_nothing_dominates(solution, pair, np.linspace(-2, 13, 300), np.linspace(-2, 13, 300))


def test_equalities_lead_to_an_atlas_at_once():
    from scipy.optimize import LinearConstraint

    mean = np.array([0.1, 0.5, 0.3])

    def portfolio(x):
        return jnp.array([-(mean @ x), x @ x])

    solution = bf.minimize(
        portfolio,
        None,
        bounds=(np.zeros(3), np.ones(3)),
        constraints=LinearConstraint(np.ones(3), 1, 1),
    )
    assert solution.result.message.startswith("the set lies on equality constraints")
    assert solution.result.reason is bf.Reason.CONVERGED
    designs = solution.spread(50).X
    np.testing.assert_allclose(designs.sum(axis=1), 1, atol=1e-9)
    assert designs.min() >= 0


@pytest.mark.slow
def test_an_atlas_without_bounds_is_held_against_points_far_away():
    """The atlas of one problem, asked about another that has a deep well besides: a point of the
    well is named."""

    def waves(x, depth=0.0):
        well = depth * jnp.exp(-((x[0] + 3) ** 2))
        return jnp.array([x[0] ** 2 - well, (x[0] - 1) ** 2 + 0.15 * jnp.sin(12 * x[0]) - well])

    def rival(depth):
        def objectives(x):
            return waves(x, depth)

        probes = probes_of(ended.surface, (np.zeros(1), np.ones(1)), 1.0)
        return find_rival(
            objectives, ended.surface, probes, feasible_set(None, None, 1), None, ended.evaluations
        )[0]

    with double_precision():
        problem = Problem(
            Form(waves, waves, 2, "", True),
            waves,
            BezierSimplex(np.full((1, 1), 0.5), 2, 0),
            Raveling.of(np.zeros(1)),
            Names().complete(2, 1),
            None,
        )
        ended = Routes(problem, bf.NormalFlow(), None, 0, None, False).solve()
        assert isinstance(ended.surface, bf.BezierAtlas)
        assert rival(0.0) is None
        np.testing.assert_allclose(rival(100.0), -3, atol=0.5)
