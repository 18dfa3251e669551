"""Foot points: nearest where that can be checked, first-order optimal everywhere, for any
surface."""

import numpy as np
import pytest

from bezierflow.bezier import BezierSimplex, extreme_points, project
from bezierflow.simplex import check_on_simplex, grid


def wavy(n_objectives, degree, width, seed=0, wave=0.15):
    """A flat simplex with its control points shaken a little."""
    rng = np.random.default_rng(seed)
    flat = grid(n_objectives, degree) @ rng.normal(size=(n_objectives, width))
    return BezierSimplex(flat + wave * rng.normal(size=flat.shape), n_objectives, degree)


def optimality_gap(surface, t, x):
    """max_s g·(t − s) over the simplex, g the gradient of ½‖b(t) − x‖²: 0 at a stationary point,
    never below."""
    gradient = np.einsum("nl,nlm->nm", surface(t) - x, surface.derivative(t))
    return np.sum(gradient * t, axis=1) - gradient.min(axis=1)


@pytest.mark.parametrize(("n_objectives", "degree", "width"), [(3, 3, 3), (4, 2, 1)])
def test_foot_points_are_optimal_and_no_sampled_point_is_nearer(n_objectives, degree, width):
    surface, rng = wavy(n_objectives, degree, width), np.random.default_rng(1)
    x = surface(rng.dirichlet(np.ones(n_objectives), 100)) + 0.3 * rng.normal(size=(100, width))
    t, distance = project(surface, x)
    check_on_simplex(t, n_objectives)
    assert t.min() >= 0
    np.testing.assert_allclose(distance, np.linalg.norm(surface(t) - x, axis=1), atol=1e-12)
    assert optimality_gap(surface, t, x).max() < 1e-6
    samples = surface(rng.dirichlet(np.full(n_objectives, 0.5), 3000))
    nearest = np.min(np.linalg.norm(x[:, None] - samples, axis=2), axis=1)
    assert (distance <= nearest + 1e-12).all()


def test_points_of_the_surface_are_their_own_feet():
    surface = wavy(3, 3, 3)
    t = np.concatenate([np.random.default_rng(1).dirichlet(np.ones(3), 97), np.eye(3)])
    found, distance = project(surface, surface(t))
    assert distance.max() < 1e-12
    np.testing.assert_allclose(surface(found), surface(t), atol=1e-12)
    np.testing.assert_allclose(found, t, atol=1e-7)


def test_a_flat_simplex_gives_barycentric_coordinates_inside_and_faces_outside():
    surface = BezierSimplex(np.eye(3), 3, 1).elevate(3)
    x = np.array([[0.2, 0.3, 0.5], [2.0, 0.0, 0.0], [0.6, 0.6, -1.0], [1 / 3, 1 / 3, 1 / 3]])
    t, distance = (found[:4] for found in project(surface, np.tile(x, (25, 1))))
    np.testing.assert_allclose(
        t, [[0.2, 0.3, 0.5], [1, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]], atol=1e-12
    )
    np.testing.assert_allclose(distance, [0, 1, np.sqrt(0.02 + 1), 0], atol=1e-12)


def test_the_far_end_of_a_bent_curve_is_found():
    """A hairpin: the nearest point lies on the other arm than most starts would slide to."""
    surface = BezierSimplex(np.array([[0.0, 0.0], [4.0, 0.5], [4.0, 0.5], [0.0, 1.0]]), 2, 3)
    x = np.array([[0.1, 0.05], [0.1, 0.95], [3.5, 0.5], [5.0, 0.5]])
    t, _ = project(surface, x)
    fine = grid(2, 5000)
    brute = fine[np.argmin(np.linalg.norm(x[:, None] - surface(fine), axis=2), axis=1)]
    np.testing.assert_allclose(t, brute, atol=1e-3)


@pytest.mark.parametrize(("n_objectives", "degree"), [(1, 2), (2, 0)])
def test_points_and_constants_have_one_foot(n_objectives, degree):
    surface = BezierSimplex(np.array([[1.0, 2.0]]), n_objectives, degree)
    t, distance = project(surface, [[1.0, 2.0], [4.0, 6.0]])
    check_on_simplex(t, n_objectives)
    np.testing.assert_allclose(distance, [0, 5])


def test_no_points_no_feet():
    t, distance = project(wavy(3, 3, 3), np.zeros((0, 3)))
    assert (t.shape, distance.shape) == ((0, 3), (0,))


def test_pytrees_are_measured_over_all_leaves():
    surface = wavy(3, 3, 3)
    x = surface(np.random.default_rng(1).dirichlet(np.ones(3), 100)) + 0.2
    points = surface.control_points
    tree = BezierSimplex({"a": points[:, 0], "b": points[:, 1:]}, 3, 3)
    found, expected = project(tree, {"a": x[:, 0], "b": x[:, 1:]}), project(surface, x)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-9)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-12)
    with pytest.raises(ValueError, match="x must be built like the surface's values"):
        project(tree, x)


def test_extreme_points_are_the_corners_of_a_polytope_and_degenerate_clouds_do_not_fail():
    rng = np.random.default_rng(0)
    corners = np.array([[0.0, 0, 0], [5, 0, 0], [0, 4, 0], [0, 0, 3]])
    cloud = np.concatenate([rng.dirichlet(np.ones(4), 200) @ corners, corners])
    found = extreme_points(cloud, 4)
    assert {tuple(row) for row in found.tolist()} == {tuple(row) for row in corners.tolist()}
    line = np.linspace(0, 1, 11)[:, None]
    np.testing.assert_allclose(np.sort(extreme_points(line, 3).ravel()), [0, 0.5, 1], atol=0.1)
    assert extreme_points(np.ones((4, 2)), 3).shape == (3, 2)
    assert extreme_points(line, 1).shape == (1, 1)
