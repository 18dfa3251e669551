import numpy as np
import pytest

from bezierflow.bezier import BezierSimplex, design_matrix
from bezierflow.normal import Schedule
from bezierflow.normal.cloud import Cloud
from bezierflow.normal.fit import (
    FitTask,
    dense_refit,
    fit_cloud,
    free_directions,
    move_feet,
    slide_refit,
    supported_degree,
)
from bezierflow.normal.shape import face_tangents
from bezierflow.simplex import multi_indices


def cloud_of(surface, t):
    """Exact points of a surface with its own tangents, as a run would have learned them."""
    points = np.asarray(surface.control_points)
    tangents = face_tangents(points, t, surface.degree, surface.n_objectives - 1)
    return Cloud(t, t > 0, np.asarray(surface(t)), tangents, np.full(len(t), 1e-12))


def task(degree, n_fixed, **changes):
    return FitTask(degree, n_fixed, changes.pop("freedom", degree), 1e-8, 1e-3, Schedule())


def test_a_curve_is_found_again_from_its_points_alone():
    rng = np.random.default_rng(0)
    truth = BezierSimplex(
        np.array([[0.0, 0, 0], [0.3, 0.5, 0], [0.7, -0.3, 0.2], [1.0, 0, 0]]), 2, 3
    )
    s = np.linspace(0, 1, 14)[1:-1]
    cloud = cloud_of(truth, np.column_stack([1 - s, s]))
    start = truth.control_points + np.array([[0.0], [1], [1], [0]]) * 0.05 * rng.normal(size=(4, 3))
    points, cloud, distances = fit_cloud(start, cloud, task(3, 1))
    assert distances.max() < 1e-6
    np.testing.assert_array_equal(points[[0, 3]], start[[0, 3]])
    assert np.abs(cloud.t.sum(axis=1) - 1).max() < 1e-12


def test_fixed_edges_stay_where_they_are():
    rng = np.random.default_rng(1)
    indices = multi_indices(3, 4)
    truth = BezierSimplex(indices / 4 + 0.05 * rng.normal(size=(15, 3)), 3, 4)
    inner = (indices > 0).sum(axis=1) > 2
    start = np.where(inner[:, None], truth.control_points + 0.02, truth.control_points)
    cloud = cloud_of(truth, rng.dirichlet([2.0] * 3, size=60))
    points, _, distances = fit_cloud(start, cloud, task(4, 2))
    np.testing.assert_array_equal(points[~inner], truth.control_points[~inner])
    assert distances.max() < 1e-5


def test_a_change_of_lower_degree_is_a_polynomial_of_that_degree():
    free, lifted = free_directions(3, 5, 3, 2)
    t = np.random.default_rng(2).dirichlet([1.0] * 3, size=20)
    np.testing.assert_allclose(
        design_matrix(t, 5) @ lifted, design_matrix(t, 3)[:, free], atol=1e-12
    )
    assert len(free) == 1


def test_feet_go_to_the_nearest_points_within_their_faces():
    line = np.array([[0.0, 0.0], [1.0, 0.0]])
    t = np.array([[0.5, 0.5], [0.9, 0.1]])
    cloud = Cloud(t, t > 0, np.array([[0.7, 0.3], [-5.0, 0.0]]), np.zeros((2, 2, 1)), np.zeros(2))
    moved = move_feet(line, cloud, t, 1)
    np.testing.assert_allclose(moved[0], [0.3, 0.7], atol=1e-9)
    # half the way to the end, and not beyond it
    np.testing.assert_allclose(moved[1], [0.95, 0.05], atol=1e-9)


@pytest.mark.parametrize(("n_points", "degree"), [(1, 2), (4, 2), (9, 4), (100, 12)])
def test_a_degree_needs_more_equations_than_unknowns(n_points, degree):
    """Curves in the plane: a point gives one equation, an inner control point has two unknowns, and
    1.5 equations are asked."""
    t = np.full((n_points, 2), 0.5)
    cloud = Cloud(t, t > 0, np.zeros((n_points, 2)), np.zeros((n_points, 2, 1)), np.zeros(n_points))
    assert supported_degree(cloud, 1, 12, Schedule()) == degree


def problem(seed=0, n=14, n_free=6, n_variables=4, n_tangents=2):
    rng = np.random.default_rng(seed)
    tangents = np.linalg.qr(rng.normal(size=(n, n_variables, n_tangents)))[0]
    tangents[0, :, 1] = 0  # a node on an edge
    return (
        rng.random((n, n_free)),
        rng.normal(size=(n, n_variables)),
        tangents,
        rng.random(n) + 0.1,
        10 ** rng.uniform(-4, -1, n),
    )


def objective(change, design, y, tangents, weights, damping):
    moved = design @ change
    missed = moved - y
    missed = missed - np.einsum("nlk,nk->nl", tangents, np.einsum("nlk,nl->nk", tangents, missed))
    return np.sum(weights**2 * (np.sum(missed**2, axis=1) + damping * np.sum(moved**2, axis=1)))


def by_slides(design, y, tangents, weights, damping):
    flat = np.swapaxes(tangents, 1, 2).reshape(-1, tangents.shape[1])
    return slide_refit(design, y, tangents, weights, damping, flat @ flat.T)


@pytest.mark.parametrize("refit", [by_slides, dense_refit])
def test_is_the_minimizer(refit):
    parts = problem()
    change = refit(*parts)
    least = objective(change, *parts)
    rng = np.random.default_rng(1)
    for _ in range(20):
        assert objective(change + 1e-4 * rng.normal(size=change.shape), *parts) > least


@pytest.mark.parametrize("seed", range(5))
def test_both_ways_agree(seed):
    np.testing.assert_allclose(by_slides(*problem(seed)), dense_refit(*problem(seed)), atol=1e-9)


def test_slides_alone_cost_nothing():
    # Targets displaced along their tangents only: nothing has to move.
    design, y, tangents, weights, damping = problem()
    y = np.einsum("nlk,nk->nl", tangents, np.ones(tangents.shape[::2]))
    np.testing.assert_allclose(by_slides(design, y, tangents, weights, damping), 0, atol=1e-9)


def test_a_singular_system_gets_the_shortest_answer_and_one_that_is_not_finite_none():
    design, y, tangents, weights, damping = problem()
    idle = np.column_stack([design, np.zeros(len(design))])  # a control point that moves nothing
    change = dense_refit(idle, y, tangents, weights, damping)
    np.testing.assert_allclose(
        change[:-1], dense_refit(design, y, tangents, weights, damping), atol=1e-8
    )
    np.testing.assert_allclose(change[-1], 0, atol=1e-8)
    assert np.isnan(dense_refit(np.full_like(design, np.nan), y, tangents, weights, damping)).all()
