"""Points of the simplex: uniform in distribution, evenly spread, reproducible, and checked."""

from math import factorial, prod

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.precision import double_precision
from bezierflow.simplex import (
    check_on_simplex,
    from_cube,
    grid,
    low_discrepancy,
    multi_indices,
    uniform,
)


def moment(index):
    """E[t^d] under the uniform distribution on the simplex: (M−1)! Π d_m! / (M−1+Σ d_m)!."""
    return (
        factorial(len(index) - 1)
        * prod(map(factorial, index))
        / factorial(len(index) - 1 + sum(index))
    )


@pytest.mark.parametrize("n_objectives", [2, 3, 6])
@pytest.mark.parametrize("draw", [uniform, low_discrepancy])
def test_samples_have_the_moments_of_the_uniform_distribution(draw, n_objectives):
    with double_precision():
        t = np.asarray(draw(jax.random.key(0), 20_000, n_objectives))
    check_on_simplex(t, n_objectives)
    for degree in (1, 2, 3):
        for index in multi_indices(n_objectives, degree).tolist():
            values = np.prod(t ** np.array(index), axis=1)
            # Five standard errors of independent samples; evenly spread ones are far inside.
            assert abs(values.mean() - moment(index)) < 5 * values.std() / np.sqrt(len(t))


def test_evenly_spread_samples_integrate_better_than_independent_ones():
    def error(draw):
        with double_precision():
            means = [
                np.asarray(draw(jax.random.key(seed), 256, 3))[:, 0].mean() for seed in range(20)
            ]
        return np.std(means)

    assert error(low_discrepancy) < error(uniform) / 5


@pytest.mark.parametrize("draw", [uniform, low_discrepancy])
def test_same_key_same_points_other_key_other_points(draw):
    first, again, other = (np.asarray(draw(jax.random.key(seed), 8, 3)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-3


@pytest.mark.parametrize("draw", [uniform, low_discrepancy])
def test_one_objective_is_a_single_point(draw):
    np.testing.assert_array_equal(draw(jax.random.key(0), 3, 1), np.ones((3, 1)))


def test_the_cube_is_mapped_onto_the_simplex_with_its_corners():
    corners = from_cube(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    np.testing.assert_allclose(corners, np.eye(3), atol=1e-6)
    with double_precision():
        volume = jax.jacfwd(lambda u: from_cube(u)[:2])(jnp.array([0.3, 0.8]))
    # Equal parts of the cube go to equal parts of the simplex, whose own volume is 1/2 of the unit
    # square.
    np.testing.assert_allclose(abs(np.linalg.det(volume)), 0.5, rtol=1e-12)


@settings(deadline=None)
@given(st.integers(1, 5), st.integers(1, 6))
def test_grid_is_regular_and_holds_the_corners(n_objectives, resolution):
    t = grid(n_objectives, resolution)
    check_on_simplex(t, n_objectives)
    np.testing.assert_array_equal(
        np.round(t * resolution).astype(int), multi_indices(n_objectives, resolution)
    )
    for corner in np.eye(n_objectives):
        assert (t == corner).all(axis=1).any()


def test_grid_needs_a_resolution():
    with pytest.raises(ValueError, match="resolution must be at least 1, got 0"):
        grid(3, 0)


@pytest.mark.parametrize(
    ("t", "message"),
    [
        ([[0.5, 0.5], [0.5, 0.6]], r"row 1 is \[0.5, 0.6\] with sum 1.1"),
        ([[1.5, -0.5]], r"row 0 is \[1.5, -0.5\]"),
        ([[np.nan, 0.5]], "row 0 is"),
        ([0.5, 0.4], "row 0 is"),
        ([[1.0]], r"must have 2 coordinates along its last axis, got shape \(1, 1\)"),
        (0.5, r"must have 2 coordinates along its last axis, got shape \(\)"),
    ],
)
def test_points_off_the_simplex_are_named(t, message):
    with pytest.raises(ValueError, match=message):
        check_on_simplex(np.array(t), 2)


def test_rounding_is_no_offence():
    check_on_simplex(np.full((1, 3), np.float32(1 / 3)))
    check_on_simplex(np.array([[1 + 1e-12, -1e-12]]))
    check_on_simplex(np.zeros((0, 3)))
