"""Atlases of sets that are known in closed form: bounds, constraints, gaps, whiskers; and what one
does with them."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import LinearConstraint
from scipy.spatial import KDTree

import bezierflow as bf
from bezierflow.atlas import AtlasFlow
from bezierflow.bezier import BezierSimplex
from bezierflow.objectives import feasible_set
from bezierflow.precision import double_precision
from clipped_means import CENTERS, atlas_in_the_box, clipped_means, distances


def pair(x):
    return distances(x)[:2]


def waves(x):
    """A front in three pieces: the set is where a decreasing wave reaches a new low."""
    return jnp.array(
        [x[0], 1 - jnp.sqrt(x[0] + 0.05) - 0.5 * x[0] * jnp.sin(6 * jnp.pi * x[0]) + x[1] ** 2]
    )


def values(objectives, x):
    with double_precision():
        return np.asarray(jax.vmap(objectives)(x))


def clipped(n_objectives, n=3000):
    """All of the Pareto set of distances in a box: weighted means of the centers, clipped."""
    return clipped_means(np.random.default_rng(0).dirichlet(np.full(n_objectives, 0.6), n))


def on_the_unit_simplex(x):
    """The nearest points with Σx = 1, x ≥ 0."""
    sorted_x = -np.sort(-x, axis=1)
    excess = (np.cumsum(sorted_x, axis=1) - 1) / np.arange(1, x.shape[1] + 1)
    count = (sorted_x > excess).sum(axis=1)
    return np.maximum(x - excess[np.arange(len(x)), count - 1][:, None], 0)


@pytest.fixture(scope="module")
def curve():
    return bf.minimize(pair, None, bounds=(np.zeros(3), np.ones(3)))


@pytest.fixture(scope="module")
def area():
    return atlas_in_the_box()


@pytest.fixture(scope="module")
def budget():
    w = np.random.default_rng(0).dirichlet(np.ones(2), 3000)
    solution = bf.minimize(
        pair, None, bounds=(np.zeros(3), np.ones(3)), constraints=LinearConstraint(np.ones(3), 1, 1)
    )
    return solution, on_the_unit_simplex(w @ CENTERS[:2])


@pytest.fixture(scope="module")
def broken():
    return bf.minimize(waves, None, bounds=(np.array([0, -1]), np.array([1, 1])), tol=1e-5)


def gaps_to(solution, objectives, x):
    """The distances, in units of ranges, from true points of the front to the answers above
    them."""
    f = values(objectives, x)
    atlas = solution.pareto_set
    return np.abs((values(objectives, atlas.flat(atlas.t(f))) - f) / np.ptp(f, axis=0)).max(axis=1)


def gap_to(solution, objectives, x):
    return float(gaps_to(solution, objectives, x).max())


def gap_from(solution, objectives, x):
    """The largest distance, in units of ranges, from the atlas's own points to a dense sample of
    the front."""
    f = values(objectives, x)
    span = np.ptp(f, axis=0)
    mine = solution.spread(200).F
    return float(KDTree(f / span).query(mine / span)[0].max())


def test_two_objectives_in_a_box(curve):
    assert curve.result.reason is bf.Reason.CONVERGED
    x = clipped(2)
    assert gap_to(curve, pair, x) < 1e-6
    assert gap_from(curve, pair, x) < 5e-3  # the sample's own spacing
    assert curve.error.max < 1e-5
    assert sum(not piece.face for piece in curve.pareto_set.pieces) >= 2


@pytest.mark.slow
def test_three_objectives_in_a_box(area):
    assert area.result.reason in (bf.Reason.CONVERGED, bf.Reason.NOT_AT_TOLERANCE)
    x = clipped(3)
    gaps = gaps_to(area, distances, x)
    assert gaps.max() < 1e-3  # at the tips of regions, which no node has reached
    assert np.quantile(gaps, 0.99) < 1e-5
    assert gap_from(area, distances, x) < 5e-2


def test_an_equality_and_bounds(budget):
    solution, x = budget
    assert solution.result.reason is bf.Reason.CONVERGED
    assert gap_to(solution, pair, x) < 1e-6
    designs = solution.spread(300).X
    np.testing.assert_allclose(designs.sum(axis=1), 1, atol=1e-9)
    assert designs.min() >= 0


@pytest.mark.slow
def test_a_disc_in_any_units():
    solution = bf.minimize(pair, np.zeros(3), constraints=[lambda x: 1e-15 * (jnp.sum(x**2) - 0.5)])
    assert solution.result.reason is bf.Reason.CONVERGED
    w = np.linspace(0, 1, 500)[:, None]
    x = w * CENTERS[0] + (1 - w) * CENTERS[1]
    x = x * np.minimum(1, np.sqrt(0.5) / np.linalg.norm(x, axis=1))[:, None]
    assert gap_to(solution, pair, x) < 1e-6
    assert np.max(np.sum(solution.spread(200).X ** 2, axis=1)) < 0.5 + 1e-6


def test_a_front_in_pieces(broken):
    u = np.linspace(0, 1, 20_001)
    x = np.column_stack([u, np.zeros_like(u)])
    f = values(waves, x)
    best = np.r_[True, f[1:, 1] < np.minimum.accumulate(f[:-1, 1])]
    assert broken.result.reason is bf.Reason.CONVERGED
    assert gap_to(broken, waves, x[best]) < 1e-4
    n_pieces = 1 + np.sum(np.diff(np.flatnonzero(best)) > 1)
    curves = [piece for piece in broken.pareto_set.pieces if piece.dimension == 1]
    assert len(curves) == n_pieces > 2
    assert all(
        not set(piece.meets) & {broken.pareto_set.pieces.index(other) for other in curves}
        for piece in curves
    )


def test_a_gap_is_no_error(broken):
    """At a gap two points are equally good, a jump apart; either is right, and the estimate does
    not count their distance."""
    assert broken.error.front < 1e-4
    assert broken.error.coverage > 0.98


@pytest.mark.slow
def test_designs_that_are_no_smooth_function_of_the_front():
    """All designs with x₁ = 0 have the same objectives: a pole, to which x₂ is an angle."""

    def pole(x):
        return (
            x[0] * jnp.array([x[1], 1 - x[1], 0.0])
            + jnp.array([0.0, 0.0, 1 - x[0]])
            + (x[2] - 0.5) ** 2
        )

    solution = bf.minimize(pole, None, bounds=(np.zeros(3), np.ones(3)))
    x = np.column_stack([np.random.default_rng(0).random((2000, 2)), np.full(2000, 0.5)])
    x[:500, 0] **= 8
    gaps = gaps_to(solution, pole, x)
    assert gaps.max() < 5e-3  # at a corner between patches that no probe has met
    assert np.quantile(gaps, 0.99) < 5e-5
    assert solution.error.front < 1e-3
    assert solution.result.reason is not bf.Reason.SUSPECT
    assert [piece.dimension for piece in solution.pareto_set.pieces if not piece.face] == [2]


def test_designs_keep_their_bounds_exactly_between_nodes_too(curve, area):
    for solution in (curve, area):
        t = np.random.default_rng(1).dirichlet(np.ones(solution.n_objectives), 2000)
        x = solution.pareto_set.flat(t)
        assert x.min() >= 0
        assert x.max() <= 1


def test_a_set_that_keeps_its_bounds_stays_one_surface():
    solution = bf.minimize(pair, np.zeros(3), bounds=(-2, 2))
    assert isinstance(solution.pareto_set, bf.BezierSimplex)
    assert solution.result.reason is bf.Reason.CONVERGED


@pytest.mark.slow
def test_a_basin_that_keeps_its_bounds_is_not_taken_for_the_whole_set():
    """Both objectives have a local minimum at the start, and f₂ a much better one at (2, 0)."""

    def wells(x):
        return jnp.array(
            [
                jnp.sum(x**2),
                jnp.sum(x**2) - 9 * jnp.exp(-4 * jnp.sum((x - jnp.array([2.0, 0.0])) ** 2)),
            ]
        )

    solution = bf.minimize(wells, np.zeros(2), bounds=(-3, 3))
    assert isinstance(solution.pareto_set, bf.BezierAtlas)
    best = solution.spread(50).F[:, 1].min()
    assert best < -4.9


def test_the_front_of_the_patches_is_that_of_the_objectives(area):
    a = area.spread(100).t
    np.testing.assert_allclose(area.pareto_set.front(a), area.front(a), atol=1e-4)


def test_the_design_for_weights_is_the_clipped_mean(area):
    for w in (np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.8, 0.1])):
        np.testing.assert_allclose(area.at(weights=w), clipped_means(w), atol=2e-3)
        total = values(distances, clipped_means(w)[None])[0] @ w
        assert values(distances, area.at(weights=w)[None])[0] @ w < total + 1e-6


def test_weights_of_a_point_are_those_it_is_best_for(area):
    w = np.array([0.4, 0.35, 0.25])
    f = values(distances, clipped_means(w)[None])[0]
    np.testing.assert_allclose(area.weights(area.pareto_set.t(f)), w, atol=1e-3)


def test_an_aspiration_is_answered_by_the_point_that_exceeds_it_least(area):
    hope = np.array([0.6, 0.5, 0.9])
    x = area.at(aspiration=hope)
    span = area.pareto_set.units.span
    exceeded = np.max((values(distances, x[None])[0] - hope) / span)
    dense = np.max((values(distances, clipped(3, 20_000)) - hope) / span, axis=1).min()
    assert exceeded < dense + 1e-5


def test_an_aspiration_on_one_surface():
    solution = bf.minimize(pair, np.zeros(3))
    f = values(pair, (0.3 * CENTERS[:1] + 0.7 * CENTERS[1:2]))[0]
    np.testing.assert_allclose(
        solution.at(aspiration=f), 0.3 * CENTERS[0] + 0.7 * CENTERS[1], atol=1e-4
    )


def test_files_hold_an_atlas(area, tmp_path):
    area.save(tmp_path / "area.bez")
    loaded = bf.load(tmp_path / "area.bez")
    a = area.spread(20).t
    # What makes answers exact is code, which no file holds.
    patches = replace(area.pareto_set, polisher=None)
    np.testing.assert_array_equal(loaded.pareto_set(a), patches(a))
    assert loaded.error == area.error.patches
    assert area.error.front < 1e-6 < loaded.error.front < 0.1
    span = np.abs(area.pareto_set.units.span)
    assert (np.abs(loaded.front(a) - area.front(a)) / span).max() < loaded.error.front
    assert loaded.result == area.result
    assert len(loaded.pareto_set.pieces) == len(area.pareto_set.pieces)


def test_the_same_seed_gives_the_same_atlas(curve):
    again = bf.minimize(pair, None, bounds=(np.zeros(3), np.ones(3)))
    for one, two in zip(curve.pareto_set.patches, again.pareto_set.patches, strict=True):
        np.testing.assert_array_equal(one.control_points, two.control_points)
    assert again.stats.evaluations == curve.stats.evaluations


def test_a_budget_is_kept_and_what_there_is_comes_back():
    for budget, enough in ((40, False), (3000, True)):
        solution = bf.minimize(pair, np.full(3, 0.5), bounds=(0, 1), budget=budget)
        assert solution.stats.evaluations.objective <= budget
        assert solution.result.success == enough


@pytest.mark.slow
def test_designs_of_any_shape():
    def objectives(x):
        return pair(jnp.concatenate([x["a"], x["b"][None]]))

    lower = {"a": np.zeros(2), "b": 0.0}
    solution = bf.minimize(objectives, {"a": np.full(2, 0.5), "b": 0.5}, bounds=(lower, 1))
    x = solution.at(weights=[0.5, 0.5])
    assert set(x) == {"a", "b"}
    np.testing.assert_allclose(
        [*x["a"], x["b"]], np.clip(CENTERS[:2].mean(axis=0), 0, 1), atol=2e-3
    )


def test_a_fixed_variable_stays_where_it_is():
    solution = bf.minimize(pair, None, bounds=([0, 0, 0.25], [1, 1, 0.25]))
    points = solution.spread(20)
    np.testing.assert_array_equal(points.X[:, 2], 0.25)
    w = np.random.default_rng(0).dirichlet(np.ones(2), 300)
    x = np.clip(w @ CENTERS[:2], 0, 1)
    x[:, 2] = 0.25
    assert gap_to(solution, pair, x) < 1e-6


@pytest.mark.usefixtures("unchecked")
def test_a_wrong_t_is_one_readable_line(curve):
    with pytest.raises(ValueError, match="t must have 2 coordinates"):
        curve.pareto_set(np.zeros(3))
    with pytest.raises(TypeError, match="is an atlas of"):
        _ = curve.flat_surface
    with pytest.raises(ValueError, match="one of weights"):
        curve.at()


def test_a_search_goes_on_with_what_is_better_elsewhere():
    def f(x):
        well = 0.5 * jnp.exp(-jnp.sum(((x[1:] - 0.777) / 3e-3) ** 2))
        return jnp.stack([x[0], 1 - x[0] + 0.1 * jnp.sum(x[1:] ** 2) - well])

    def to_its_end(flow, state):
        while not state.done:
            state, _ = flow.step(f, state)
        return state

    box = np.zeros(4), np.ones(4)
    flow, start = (
        AtlasFlow(feasible_set(box, None, 4), box),
        BezierSimplex(np.full((2, 4), 0.5), 2, 1),
    )
    with double_precision():
        first = to_its_end(flow, flow.init(f, start, 0))
        assert first.atlas.points.z[:, 1:].max() < 1e-6
        known = replace(flow, known=np.array([[0.5, 0.777, 0.777, 0.777]]))
        more = to_its_end(known, known.with_known(first))
    np.testing.assert_allclose(more.atlas.points.z[:, 1:], 0.777, atol=1e-3)
    np.testing.assert_allclose(np.ptp(more.atlas.points.z[:, 0]), 1, atol=1e-6)
    # What was there is as it was.
    assert first.atlas.points.z[:, 1:].max() < 1e-6
