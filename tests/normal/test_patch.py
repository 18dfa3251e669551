from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.bezier import BezierSimplex
from bezierflow.normal import Matrices
from bezierflow.normal.patch import edge_patches, improve, inner_patch, look_at
from bezierflow.objectives import JaxEvaluator
from bezierflow.problems import ScaledMED

PROBLEM = ScaledMED()
CORNERS = np.asarray(PROBLEM.pareto_map(np.eye(3)))


def curvature_of(problem=PROBLEM, corners=CORNERS):
    diameter = float(np.linalg.norm(corners[:, None] - corners[None], axis=2).max())
    return Matrices(JaxEvaluator(problem, *corners.shape), corners, diameter)


def finished(curvature, patches, target, max_degree):
    while not all(patch.done for patch in patches):
        patches = improve(curvature, patches, target, max_degree)
    return patches


def test_edges_are_found_one_for_each_pair():
    curvature = curvature_of()
    edges = finished(curvature, edge_patches(curvature), 5e-8, 14)
    assert [edge.members for edge in edges] == [(0, 1), (0, 2), (1, 2)]
    s = np.linspace(0, 1, 40)
    for edge in edges:
        x = np.asarray(BezierSimplex(edge.best, 2, edge.best_degree)(np.column_stack([1 - s, s])))
        assert PROBLEM.distance(x).max() < 2e-7 * curvature.diameter
        assert edge.error <= 5e-8
        np.testing.assert_array_equal(edge.best[[0, -1]], CORNERS[list(edge.members)])


def test_the_inside_keeps_its_edges():
    curvature = curvature_of()
    edges = finished(curvature, edge_patches(curvature), 5e-8, 14)
    start = inner_patch(edges, curvature)
    (inside,) = finished(curvature, (start,), 5e-8, 14)
    assert inside.error < 1e-7
    s = np.random.default_rng(0).dirichlet([1.0] * 2, size=20)
    first, last = (
        BezierSimplex(start.best, 3, start.best_degree),
        BezierSimplex(inside.best, 3, inside.best_degree),
    )
    for face in ((0, 1), (0, 2), (1, 2)):
        np.testing.assert_allclose(last.restrict(face)(s), first.restrict(face)(s), atol=1e-12)


def test_a_finished_patch_is_left_alone_and_costs_nothing():
    curvature = curvature_of()
    edges = finished(curvature, edge_patches(curvature), 1e-3, 14)
    before = curvature.evaluator.evaluations
    again = improve(curvature, edges, 1e-3, 14)
    assert all(new is old for new, old in zip(again, edges, strict=True))
    assert curvature.evaluator.evaluations == before


def test_what_is_seen_belongs_to_the_patch_it_was_seen_from():
    curvature = curvature_of()
    edges = edge_patches(curvature)
    seen = look_at(curvature, list(edges))
    for cloud, _, error, n_nodes in seen:
        assert cloud.t.shape[1] == 2
        assert cloud.faces.all()
        assert n_nodes == 4
        assert error > 0.01


def test_a_patch_is_not_finished_by_its_first_four_nodes():
    """A flat set is met at once, and still looked at a second time."""

    def objectives(x):
        return jnp.stack([jnp.sum((x - corner) ** 2) for corner in jnp.eye(2)])

    curvature = curvature_of(objectives, np.eye(2))
    (edge,) = improve(curvature, edge_patches(curvature), 5e-8, 14)
    assert edge.error < 1e-12
    assert not edge.done
    (edge,) = improve(curvature, (edge,), 5e-8, 14)
    assert edge.done
    assert edge.n_seen >= 8


@pytest.mark.parametrize("max_degree", [1, 2, 3])
def test_the_largest_degree_is_kept(max_degree):
    curvature = curvature_of()
    edges = finished(curvature, edge_patches(curvature), 5e-8, max_degree)
    assert all(edge.best_degree <= max_degree for edge in edges)


def test_a_surface_that_went_astray_far_from_the_set_is_taken_back():
    curvature = curvature_of()
    edge = improve(curvature, edge_patches(curvature), 5e-8, 14)[0]
    assert edge.error > curvature.schedule.near
    wild = edge.control_points.copy()
    wild[1:-1] += 20 * curvature.diameter
    (after,) = improve(curvature, (replace(edge, control_points=wild),), 5e-8, 14)
    assert after.errors[-1] > 1
    s = np.linspace(0, 1, 40)
    x = np.asarray(
        BezierSimplex(after.control_points, 2, after.degree)(np.column_stack([1 - s, s]))
    )
    assert PROBLEM.distance(x).max() < 0.1 * curvature.diameter
