"""Nondominated and far points, IGD+ and hypervolume, against their definitions and closed forms."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bezierflow as bf
from bezierflow.metrics import farthest_points, hypervolume, igd_plus, nondominated
from bezierflow.simplex import grid
from solved import distances_to_points


def dominates(a, b):
    return (a <= b).all() and (a < b).any()


@given(st.integers(1, 25), st.integers(1, 4), st.integers(0, 1000))
@settings(deadline=None, max_examples=60)
def test_nondominated_rows_are_those_that_no_other_row_dominates(n, n_objectives, seed):
    f = np.random.default_rng(seed).integers(0, 4, (n, n_objectives)).astype(float)
    expected = [not any(dominates(other, row) for other in f) for row in f]
    np.testing.assert_array_equal(nondominated(f, keep_equal=True), expected)
    first = np.zeros(n, dtype=bool)
    first[np.unique(f, axis=0, return_index=True)[1]] = True
    np.testing.assert_array_equal(nondominated(f), expected & first)


def test_rows_that_are_not_finite_are_never_nondominated():
    f = np.array([[0.0, np.nan], [1.0, 1.0], [-np.inf, 0.0], [2.0, 0.5], [np.inf, 0.0]])
    assert nondominated(f).tolist() == [False, True, False, True, False]
    assert nondominated(np.zeros((0, 2))).shape == (0,)


@given(st.integers(1, 30), st.integers(1, 10), st.integers(0, 1000))
@settings(deadline=None, max_examples=40)
def test_each_row_is_the_farthest_from_those_before_it(size, n, seed):
    x = np.random.default_rng(seed).normal(size=(size, 2))
    rows = farthest_points(x, n)
    assert len(set(rows.tolist())) == len(rows) == min(n, size)
    apart = np.linalg.norm(x[:, None] - x, axis=2)
    for k in range(1, len(rows)):
        assert apart[rows[k], rows[:k]].min() == apart[:, rows[:k]].min(axis=1).max()


def test_far_rows_begin_where_told_and_end_where_nothing_new_is_left():
    x = np.array([[0.0], [1.0], [1.0], [3.0]])
    assert farthest_points(x, 2, np.array([1])).tolist() == [1, 3]
    assert farthest_points(x, 4, np.array([0])).tolist() == [0, 3, 1]
    assert farthest_points(x, 1, np.array([0, 3])).tolist() == [0, 3]


@given(st.integers(1, 20), st.integers(1, 20), st.integers(2, 4), st.integers(0, 1000))
@settings(deadline=None, max_examples=50)
def test_igd_plus_against_its_definition(n, k, n_objectives, seed):
    rng = np.random.default_rng(seed)
    front, reference = rng.normal(size=(n, n_objectives)), rng.normal(size=(k, n_objectives))
    short = np.linalg.norm(np.maximum(front - reference[:, None], 0), axis=2)
    np.testing.assert_allclose(
        igd_plus(front, reference), short.min(axis=1).mean(), rtol=1e-12, atol=1e-15
    )


@given(st.integers(1, 8), st.integers(2, 4), st.integers(0, 1000))
@settings(deadline=None, max_examples=50)
def test_hypervolume_by_inclusion_and_exclusion(n, n_objectives, seed):
    front = np.random.default_rng(seed).uniform(size=(n, n_objectives))
    total = 0.0
    for subset in range(1, 2**n):
        members = [i for i in range(n) if subset >> i & 1]
        total -= (-1) ** len(members) * np.prod(1.2 - front[members].max(axis=0))
    np.testing.assert_allclose(hypervolume(front, np.full(n_objectives, 1.2)), total, rtol=1e-9)


def test_points_beyond_the_reference_count_for_nothing():
    assert hypervolume([[1.0, 1.0], [0.0, 5.0]], [2.0, 2.0]) == 1
    assert hypervolume([[3.0, 3.0]], [2.0, 2.0]) == 0


@pytest.mark.parametrize(
    ("metric", "arguments", "message"),
    [
        (hypervolume, ([[0.0, 0.0]], [1.0]), "reference must be one finite point of 2 objectives"),
        (hypervolume, ([[0.0, 0.0]], [1.0, np.inf]), "reference must be one finite point"),
        (hypervolume, ([[0.0, np.nan]], [1.0, 1.0]), "front must be finite, but row 0"),
        (igd_plus, ([[0.0, 0.0]], [[1.0, 1.0, 1.0]]), "reference must have 2 columns"),
        (igd_plus, ([], [[1.0]]), "front must be a matrix"),
    ],
)
def test_misuse_is_named(metric, arguments, message):
    with pytest.raises(ValueError, match=message):
        metric(*arguments)


def plane(M):
    """The front f_1 + … + f_M = 1, f ≥ 0."""
    x = grid(M, 8 if M < 4 else 4)
    surface = bf.BezierSimplex(np.eye(M), M, 1)
    solution = distances_to_points(M, M)
    front = replace(solution.known_front, surface=surface)
    assert np.allclose(surface(x), x)
    return replace(solution, pareto_set=surface, known_front=front)


@pytest.mark.parametrize("M", [2, 3, 4])
def test_a_plane_against_its_closed_form(M):
    """Of the unit cube, all but the simplex below the front is dominated: 1 − 1/M!."""
    exact = 1 - 1 / float(np.prod(np.arange(1, M + 1)))
    volume = hypervolume(plane(M), np.ones(M))
    assert abs(volume - exact) <= volume.error
    assert volume.error < {2: 1e-5, 3: 0.01, 4: 0.05}[M]


def test_a_curve_against_its_integral():
    """f = (s², (1 − s)²): the area below the curve is ∫ (1 − √u)² du = 1/6."""
    s = np.linspace(0, 1, 40)
    solution = bf.from_points(s, np.column_stack([s**2, (1 - s) ** 2]))
    volume = hypervolume(solution, [1.0, 1.0])
    assert volume == pytest.approx(5 / 6, abs=1e-3)
    assert volume.error < 1e-5


def test_a_volume_is_a_number_that_states_its_error():
    finite = hypervolume([[0.0, 0.5]], [1.0, 1.0])
    assert (finite, finite.error, repr(finite)) == (0.5, 0.0, "0.5")
    assert "±" in repr(hypervolume(plane(2), [1.0, 1.0]))


def test_a_reference_that_does_not_fit_is_named():
    with pytest.raises(ValueError, match="reference must be one finite point of 2 objectives"):
        hypervolume(plane(2), [1.0, 1.0, 1.0])
