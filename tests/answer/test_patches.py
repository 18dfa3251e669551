"""Labels and patches: coordinates, conditions and the front of a patch."""

import numpy as np
import pytest

from bezierflow.answer import Label, Patch, barycentric, frame

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_a_frame_spans_the_plane_of_the_chart(n):
    np.testing.assert_allclose(frame(n) @ frame(n).T, np.eye(n - 1), atol=1e-14)
    np.testing.assert_allclose(frame(n).sum(axis=1), 0, atol=1e-14)


def label(objectives, side=(0, 0), constraints=(), n_inequalities=0):
    return Label(
        np.array(objectives, dtype=bool),
        np.array(constraints, dtype=bool),
        np.array(side),
        n_inequalities,
    )


def chart(region, c):
    """The chart points with coordinates c whose inactive entries are 0."""
    a = np.zeros((len(c), len(region.objectives)))
    a[:, region.objectives] = c @ frame(region.dimension + 1)
    return a


def test_coordinates_and_chart_points_belong_together():
    region = label([1, 0, 1])
    c = RNG.normal(size=(5, 1))
    back, mean = region.coordinates(chart(region, c))
    np.testing.assert_allclose(back, c, atol=1e-14)
    np.testing.assert_allclose(mean, 0, atol=1e-14)
    assert region.dimension == 1
    assert not region.full


def test_conditions_are_bounds_of_free_variables_multipliers_and_slacks():
    region = label([1, 1], side=(0, -1), constraints=[1, 0, 1], n_inequalities=2)
    box = (np.array([0.0, 0.0]), np.array([1.0, np.inf]))
    # z₁, ν₂, σ, w₁, w₂, λ₁, g₂, λ of the equality
    y = np.array([[0.3, 0.7, 9.0, 0.4, 0.6, 0.2, -0.5, -3.0]])
    np.testing.assert_allclose(
        np.sort(region.signs(y, box)[0]), np.sort([0.3, 0.7, 0.7, 0.4, 0.6, 0.2, 0.5])
    )


def test_the_front_of_a_patch_is_its_level_and_what_is_inactive():
    region = label([1, 0, 1], side=(0,))
    c, y = np.array([[0.2]]), np.array([[0.5, 0.3, 0.7, 0.11, 0.3]])  # z, σ, w₁, f₂, w₃
    (f,) = region.values(y, c)
    np.testing.assert_allclose(f, [0.3 + 0.2 / np.sqrt(2), 0.11, 0.3 - 0.2 / np.sqrt(2)])
    a = chart(region, c)
    np.testing.assert_allclose(region.slacks(y, a), [[0.3 - 0.11]])


def test_a_patch_reproduces_a_polynomial():
    corners = np.array([[0.0, 0.0], [2.0, 0.3], [0.1, 1.5]])
    grid = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])[::-1]
    control_points = np.column_stack([grid @ corners, np.ones(3)])
    patch = Patch(label([1, 1, 1]), corners, 1, control_points, np.array([[1.0, 0.0, 1.0]]), 0.0)
    c = RNG.random((7, 2))
    np.testing.assert_allclose(patch(c), np.column_stack([c, np.ones(7)]), atol=1e-13)
    np.testing.assert_allclose(barycentric(corners, c) @ corners, c, atol=1e-13)
    assert patch.inside(np.array([[0.9, 0.0], [1.1, 0.0]])).tolist() == [True, False]
