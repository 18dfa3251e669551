"""The search: from good starts to the lowest end, never worse than the grid."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.answer import (
    SCHEDULE,
    PolynomialMap,
    Program,
    good_starts,
    search,
    solve,
)
from bezierflow.simplex import grid, n_controls
from fronts import GivenFront

GRID = grid(2, 400)


def wavy(seed):
    rng = np.random.default_rng(seed)
    n_objectives, degree = int(rng.integers(2, 5)), int(rng.integers(2, 7))
    net = rng.normal(size=(n_controls(n_objectives, degree), n_objectives))
    return GivenFront(PolynomialMap(net, n_objectives, degree), n_objectives), rng


def least(row, B=None, d=None):
    """The least of a combination of values, within bounds."""
    row = np.asarray([row], dtype=float)
    B = np.zeros((0, row.shape[1])) if B is None else np.asarray(B, dtype=float)
    return Program(
        row, np.zeros(1), B, np.zeros(len(B)) if d is None else np.asarray(d, dtype=float)
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31))
def test_nothing_on_the_grid_is_better_than_what_is_found(seed):
    terrain, rng = wavy(seed)
    n_objectives = terrain.sample_f.shape[1]
    limit = rng.uniform(terrain.sample_f[:, 1].min(), terrain.sample_f[:, 1].max())
    A = rng.uniform(0, 1, (int(rng.integers(1, 4)), n_objectives))
    program = Program(A, rng.normal(size=len(A)), np.eye(n_objectives)[1:2], np.array([limit]))
    found = search(terrain, program)
    values = terrain.given.values(found.t[None])
    assert found.goal == pytest.approx(program.goals(values)[0], abs=1e-12)
    assert program.violations(values)[0] <= 1e-9
    allowed = program.violations(terrain.sample_f) <= 0
    assert found.goal <= program.goals(terrain.sample_f[allowed]).min() + 1e-9
    assert 0 <= found.agreed <= found.starts
    assert found.starts <= 1 + SCHEDULE.most_starts + SCHEDULE.lowest_starts


def test_starts_are_the_best_point_the_minima_and_the_lowest_points():
    terrain, _ = wavy(5)
    values, n_objectives = terrain.sample_f, terrain.sample_t.shape[1]
    program = least(np.eye(n_objectives)[0], np.eye(n_objectives)[1:2], [np.median(values[:, 1])])
    starts = good_starts(terrain, program)
    assert len(np.unique(starts, axis=0)) == len(starts)
    allowed = np.where(program.violations(values) <= 0, program.goals(values), np.inf)
    np.testing.assert_array_equal(starts[0], terrain.sample_t[allowed.argmin()])
    rank = program.goals(values) + 10 * program.violations(values)
    minima = terrain.local_minima(rank)
    assert not set(minima) <= set(np.argsort(rank)[: SCHEDULE.lowest_starts])
    for k in (*np.argsort(rank)[: SCHEDULE.lowest_starts], *minima[: SCHEDULE.most_starts]):
        assert (starts == terrain.sample_t[k]).all(axis=1).any()


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 4), st.integers(0, 2**31))
def test_local_minima_are_lower_than_all_points_one_step_away(n_objectives, seed):
    front = PolynomialMap(np.eye(n_objectives), n_objectives, 1)
    terrain = GivenFront(front, n_objectives)
    rank = np.random.default_rng(seed).normal(size=len(terrain.sample_t))
    minima = terrain.local_minima(rank)
    step = terrain.sample_t[terrain.sample_t > 0].min()
    assert (np.diff(rank[minima]) >= 0).all()
    assert rank.argmin() in minima
    for k in minima[:20]:
        away = np.abs(terrain.sample_t - terrain.sample_t[k]).sum(axis=1)
        assert rank[k] <= rank[away < 2.5 * step].min()


def test_the_deeper_of_two_basins_is_found():
    """A shallow basin at one end of a segment and a deep, narrow one at the other."""
    front = PolynomialMap(np.array([[0.3], [0.8], [1.5], [2.0], [1.5], [1.0], [0.0]]), 2, 6)
    found = search(GivenFront(front, 2), least([1.0]))
    np.testing.assert_array_equal(found.t, [0.0, 1.0])
    assert found.residual < 1e-9


def test_starts_agree_that_lead_to_a_point_as_good():
    disagreed = 0
    for seed in range(6):
        terrain, _ = wavy(seed)
        n_objectives = terrain.sample_t.shape[1]
        program = Program(
            np.eye(n_objectives), np.zeros(n_objectives), np.zeros((0, n_objectives)), np.zeros(0)
        )
        found, starts = search(terrain, program), good_starts(terrain, program)
        goals = program.goals(
            terrain.given.values(np.stack([solve(terrain, program, start) for start in starts]))
        )
        assert found.starts == len(starts)
        assert found.agreed == (goals <= found.goal + 1e-6).sum()
        disagreed += found.agreed < found.starts
    assert disagreed


def test_all_starts_agree_in_a_single_basin():
    front = PolynomialMap(np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]), 2, 2)  # t1² and t2²
    found = search(
        GivenFront(front, 2), Program(np.eye(2), np.zeros(2), np.zeros((0, 2)), np.zeros(0))
    )
    np.testing.assert_allclose(found.t, [0.5, 0.5], atol=1e-8)
    assert found.agreed == found.starts
    assert found.goal == pytest.approx(0.25, abs=1e-12)


def test_where_no_point_is_allowed_the_least_violation_is_found():
    front = PolynomialMap(np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]), 2, 2)
    found = search(GivenFront(front, 2), least([0.0, 1.0], [[1.0, 0.0]], [-10.0]))
    np.testing.assert_allclose(found.t, [0.0, 1.0], atol=1e-6)


class Kinked(PolynomialMap):
    """A front with a kink at its first corner: it rises there steeply, and its derivatives say that
    it does not rise at all."""

    def slopes(self, t):
        values, slopes = super().slopes(t)
        slopes[t[:, 0] == 1] = 0.0
        return values, slopes


class Undefined(PolynomialMap):
    """A front that has no values where it would be lowest, but for the points of the grid."""

    def values(self, t):
        known = (t[:, None] == GRID).all(axis=2).any(axis=1)
        return np.where(known[:, None], super().values(t), np.nan)


def test_an_end_without_a_value_is_no_answer():
    front = Undefined(np.array([[1.0], [0.0], [1.01]]), 2, 2)
    found = search(GivenFront(front, 2), least([1.0]))
    assert (found.t == GRID).all(axis=1).any()
    assert found.goal == front.values(GRID).min()


class Misled(PolynomialMap):
    """A front whose derivatives have the wrong sign."""

    def slopes(self, t):
        values, slopes = super().slopes(t)
        return values, -slopes


def test_a_search_that_is_misled_is_no_worse_than_its_starts():
    for seed in range(5):
        terrain, _ = wavy(seed)
        n_objectives, limit = terrain.sample_t.shape[1], np.median(terrain.sample_f[:, 1])
        misled = GivenFront(
            Misled(terrain.given.points, n_objectives, terrain.given.degree), n_objectives
        )
        program = least(np.eye(n_objectives)[0], np.eye(n_objectives)[1:2], [limit])
        found = search(misled, program)
        assert found.goal <= terrain.sample_f[terrain.sample_f[:, 1] <= limit, 0].min() + 1e-9
        assert program.violations(terrain.given.values(found.t[None]))[0] <= 1e-9


def test_a_kink_that_is_the_lowest_point_is_the_answer():
    # from the corner it rises, then falls a little
    front = Kinked(np.array([[0.0], [1.0], [0.5], [1.0]]), 2, 3)
    found = search(GivenFront(front, 2), least([1.0]))
    np.testing.assert_array_equal(found.t, [1.0, 0.0])
    assert found.goal == 0


@pytest.mark.parametrize("n_objectives", [2, 3, 5])
def test_directions_span_the_simplex_and_rounding_stays_on_it(n_objectives):
    terrain = GivenFront(PolynomialMap(np.eye(n_objectives), n_objectives, 1), n_objectives)
    t = np.random.default_rng(0).dirichlet(np.ones(n_objectives))
    around = terrain.around(t)
    directions = around.directions
    np.testing.assert_array_equal(directions.sum(axis=0), 0)
    assert np.linalg.matrix_rank(directions) == n_objectives - 1
    assert (around.faces @ t <= 0).all()
    k = int(np.argmin(t))
    y = np.zeros(n_objectives - 1)
    y[k - (k > np.argmax(t))] = -t[k] - 1e-12
    rounded = around.t(y)
    assert rounded[k] == 0
    assert rounded.sum() == pytest.approx(1, abs=1e-15)
    assert len(terrain.sample_t) <= 1500
