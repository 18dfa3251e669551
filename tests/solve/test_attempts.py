"""Which form the answer takes: one surface where that is the set, an atlas of the right dimension
where it is not."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.evaluations import Evaluations
from bezierflow.objectives import feasible_set
from bezierflow.precision import double_precision
from bezierflow.solve import Call, probe


def distance(x, point):
    return jnp.sum((x - jnp.array(point)) ** 2)


SQUARE = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
DEGENERATE = {
    "three objectives of one variable": (
        lambda x: jnp.array([x[0] ** 2, (x[0] - 1) ** 2, 2 * (x[0] - 2) ** 2]),
        1,
    ),
    "four objectives of two variables": (
        lambda x: jnp.array([distance(x, p) for p in SQUARE]),
        2,
    ),
}


@pytest.mark.slow("four objectives of two variables", "three objectives of one variable")
@pytest.mark.parametrize("name", DEGENERATE)
def test_a_degenerate_set_is_an_atlas_of_its_dimension_without_a_flag(name):
    objectives, dimension = DEGENERATE[name]
    solution = bf.minimize(objectives, np.array([0.1, 0.2])[: 1 + ("two" in name)])
    assert solution.result.reason is bf.Reason.CONVERGED
    assert solution.error.front < 2e-6
    pieces = [piece.dimension for piece in solution.pareto_set.pieces if not piece.face]
    assert max(pieces) == dimension  # where they touch, a curve may be a piece of its own
    if dimension == 2:  # every design of the square is found
        x = np.random.default_rng(0).random((200, 2))
        f = np.sum((x[:, None] - np.array(SQUARE)) ** 2, axis=2)
        np.testing.assert_allclose(solution.pareto_set(solution.pareto_set.t(f)), x, atol=1e-6)


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
    assert solution.error.n_probes > 1536
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
    answers = solution.pareto_set.front(solution.pareto_set.t(near))
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
    assert solution.result.message.startswith("The whole front was found; objectives are exact to")
    assert "because the set lies on equality constraints" in solution.result.message
    assert solution.result.reason is bf.Reason.CONVERGED
    designs = solution.spread(50).X
    np.testing.assert_allclose(designs.sum(axis=1), 1, atol=1e-9)
    assert designs.min() >= 0


@pytest.mark.slow
@pytest.mark.parametrize("depth", [0.0, 100.0])
def test_an_answer_without_bounds_is_held_against_points_far_away(depth):
    """Waves, and with a depth a well besides, three widths of the set away from the start."""

    def waves(x):
        well = depth * jnp.exp(-((x[0] + 3) ** 2))
        return jnp.array([x[0] ** 2 - well, (x[0] - 1) ** 2 + 0.15 * jnp.sin(12 * x[0]) - well])

    solution = bf.minimize(waves, np.array([0.5]))
    assert solution.result.reason is bf.Reason.CONVERGED
    assert "no better point among" in solution.result.message
    line = np.linspace(-8, 4, 4001)[:, None]
    with double_precision():
        f = np.asarray(jax.vmap(waves)(line))
    front = solution.spread(80).F
    assert max(np.max(np.min((row - f) / np.ptp(front, axis=0), axis=1)) for row in front) < 1e-6
    if depth:
        np.testing.assert_allclose(solution.spread(5).X, -3, atol=0.5)


@pytest.mark.slow
def test_an_atlas_is_held_against_probes_far_away():
    def waves(x, depth=0.0):
        well = depth * jnp.exp(-((x[0] + 3) ** 2))
        return jnp.array([x[0] ** 2 - well, (x[0] - 1) ** 2 + 0.15 * jnp.sin(12 * x[0]) - well])

    atlas = bf.minimize(waves, np.full(1, 0.5)).pareto_set
    assert isinstance(atlas, bf.BezierAtlas)

    def rival(depth):
        deep = lambda x: waves(x, depth)
        everywhere, box = feasible_set(None, None, 1), (np.full(1, -2.0), np.full(1, 3.0))
        with double_precision():
            call = Call(deep, np.full(1, 0.5))
            return probe(call.read_problem(), atlas, everywhere, box, Evaluations(), call)

    nothing = rival(0.0)
    assert not len(nothing.rivals)
    assert nothing.evaluations.objective >= nothing.n
    # the look ends at the edge of the well, which is better than all of the atlas
    front = atlas.units.ideal + atlas.points.f * atlas.units.span
    best = np.asarray(waves(rival(100.0).rivals[0], 100.0))
    assert (best < front.min(axis=0) - 1).all()


def test_a_surface_is_held_against_designs_all_over_the_box():
    """The set of the right well is one surface; that of the left one is better in the first
    objective."""

    def wells(x, depth=0.0):
        return jnp.array(
            [
                (x[0] - 1) ** 2 + x[1] ** 2 - depth * jnp.exp(-4 * distance(x, [-1.5, 1.0])),
                x[1],
            ]
        )

    line = bf.BezierSimplex(np.array([[1.0, 0.0], [1.0, -1.0]]), 2, 1)
    feasible = feasible_set((np.array([-2.0, -1.0]), np.array([2.0, 2.0])), None, 2)
    for depth in (0.0, 30.0):
        with double_precision():
            call = Call(lambda x, d=depth: wells(x, d), np.zeros(2))
            box = feasible.lower, feasible.upper
            found = probe(call.read_problem(), line, feasible, box, Evaluations(), call)
        # values and gradients of one design count twice
        assert 0 < found.n <= found.evaluations.objective
        assert bool(len(found.rivals)) == (depth > 0)


def test_a_tolerance_that_is_the_default_of_a_surface_is_kept_for_an_atlas():
    """Two curves with a corner between them: within bounds the set is an atlas."""
    pair = lambda x: jnp.array([jnp.sum((x - 1) ** 2), jnp.sum((x + jnp.array([1.0, 0.2])) ** 2)])
    box = (np.full(2, -0.5), np.full(2, 0.5))
    given, by_default = (
        bf.minimize(pair, None, bounds=box, tol=tol, callback=lambda i: "regions" in i.info)
        for tol in (1e-6, None)
    )
    assert given.made_by["flow"] == by_default.made_by["flow"] == "AtlasFlow"
    assert given.made_by["tol"] == 1e-6
    assert by_default.made_by["tol"] is None


def slow(x):
    time.sleep(2e-3)
    return np.array([np.sum((x - 1) ** 2), np.sum((x + 1) ** 2) + np.sum(x**4)])


@pytest.mark.parametrize(
    ("method", "bounds"),
    [
        ("auto", None),
        (bf.WeightsFlow(), None),
        (bf.lift(bf.GradientDescent(1e-3), 1, n_iterations=10_000), None),
        ("auto", (np.full(2, -0.5), np.full(2, 0.5))),
    ],
    ids=["normal flow", "weights", "lifted", "bounds"],
)
def test_a_time_limit_ends_a_run_with_the_best_so_far(method, bounds):
    seen = []
    solution = bf.minimize(
        slow, np.full(2, 0.2), method, bounds=bounds, time_limit=0.5, callback=seen.append
    )
    assert solution.result.reason is bf.Reason.TIME_LIMIT
    assert not solution.result.success
    assert "time limit was reached" in solution.result.message
    assert "time_limit" in solution.result.message
    assert np.isfinite(np.asarray(solution.front(np.eye(2)))).all()
    # Callbacks follow every attempt; the stats count the iterations of the one that is returned.
    # Time may end between an iteration and its callback.
    assert solution.stats.iterations <= len(seen) + 1
    assert solution.paused is not None


def test_a_run_that_ends_in_time_does_not_speak_of_it():
    alone, limited = (
        bf.minimize(bf.problems.ScaledMED(), np.zeros(3), bf.Newton(), time_limit=limit)
        for limit in (None, 600)
    )
    assert limited.result == alone.result
    np.testing.assert_array_equal(
        limited.pareto_set.control_points, alone.pareto_set.control_points
    )


@pytest.mark.slow
def test_a_surrogate_keeps_its_time_limit():
    solution = bf.minimize(
        slow,
        None,
        bf.Surrogate(batch=2),
        bounds=(np.full(2, -1.0), np.full(2, 1.0)),
        budget=400,
        time_limit=2.0,
    )
    assert solution.result.reason is bf.Reason.TIME_LIMIT
    assert 4 <= solution.stats.evaluations.objective < 400
