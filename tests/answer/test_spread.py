"""Points spread evenly over a front."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial import cKDTree

import bezierflow as bf


def spacing(values):
    """Distances to the nearest other point, each objective in units of its range."""
    scaled = (values - values.min(axis=0)) / np.ptp(values, axis=0)
    return cKDTree(scaled).query(scaled, k=2)[0][:, 1]


@pytest.fixture(scope="module")
def curve():
    return bf.minimize(bf.problems.Quadratic.random(2, 3, condition=10.0, seed=1), np.zeros(3))


@pytest.fixture(scope="module")
def triangle():
    return bf.minimize(bf.problems.ScaledMED(), np.zeros(3))


def test_two_objectives_are_cut_into_equal_arcs(curve):
    points = curve.spread(30)
    assert spacing(points.F).max() < 1.02 * spacing(points.F).min()
    np.testing.assert_array_equal(np.sort(points.t[[0, -1], 0]), [0, 1])


@pytest.mark.parametrize("n", [3, 10, 100])
def test_three_objectives_are_covered_evenly_with_the_corners(triangle, n):
    points = triangle.spread(n)
    assert len(np.unique(points.t, axis=0)) == n
    np.testing.assert_array_equal(points.t[:3], np.eye(3))
    if n > 3:
        assert spacing(points.F).max() < 2.2 * spacing(points.F).min()


def test_even_in_the_front_is_not_even_in_t():
    """On this front equal steps of t differ by a factor of more than ten."""
    objectives = bf.problems.SkewMMD(3)
    solution = bf.minimize(objectives, np.full(3, 0.4))
    even, grid = solution.spread(66).F, np.asarray(solution.front(bf.simplex.grid(3, 10)))
    assert spacing(grid).max() > 10 * spacing(grid).min()
    assert spacing(even).max() < 2.5 * spacing(even).min()


def test_points_belong_together_and_keep_the_shape_of_x():
    def objectives(x):
        return jnp.stack(
            [jnp.sum((x["a"] - 1) ** 2) + x["b"] ** 2, jnp.sum(x["a"] ** 2) + (x["b"] - 2) ** 2]
        )

    points = bf.minimize(objectives, {"a": np.zeros((2, 2)), "b": np.zeros(())}).spread(5)
    assert points.X["a"].shape == (5, 2, 2)
    for i in range(5):
        x = {"a": points.X["a"][i], "b": points.X["b"][i]}
        np.testing.assert_allclose(objectives(x), points.F[i], rtol=1e-6)


def test_a_solution_from_a_file_spreads_the_same_points(triangle, tmp_path):
    triangle.save(tmp_path / "s.bez")
    loaded = bf.load(tmp_path / "s.bez").spread(12)
    np.testing.assert_allclose(loaded.t, triangle.spread(12).t, atol=1e-12)
    np.testing.assert_allclose(loaded.F, triangle.spread(12).F, atol=1e-5)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("n", [1, 2, 2.5, "ten", 10**6])
def test_a_number_that_makes_no_sense_is_named(triangle, n):
    with pytest.raises(
        ValueError, match=r"n must be a whole number from 3 \(the corners\) to 5000, got"
    ):
        triangle.spread(n)
