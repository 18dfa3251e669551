from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.bezier import BezierSimplex
from bezierflow.normal import Survey
from bezierflow.normal.patch import Goal, edge_patches, improve, inner_patch, look_at
from bezierflow.objectives import JaxEvaluator
from bezierflow.problems import ScaledMED

PROBLEM = ScaledMED()
CORNERS = np.asarray(PROBLEM.pareto_map(np.eye(3)))


def survey_of(problem=PROBLEM, corners=CORNERS):
    diameter = float(np.linalg.norm(corners[:, None] - corners[None], axis=2).max())
    return Survey(JaxEvaluator(problem, *corners.shape), corners, diameter)


def finished(survey, patches, goal):
    while not all(patch.done for patch in patches):
        patches = improve(survey, patches, goal)
    return patches


def test_edges_are_found_one_for_each_pair():
    survey = survey_of()
    edges = finished(survey, edge_patches(survey), Goal(5e-8, 14))
    assert [edge.members for edge in edges] == [(0, 1), (0, 2), (1, 2)]
    s = np.linspace(0, 1, 40)
    for edge in edges:
        x = np.asarray(BezierSimplex(edge.best, 2, edge.best_degree)(np.column_stack([1 - s, s])))
        assert PROBLEM.distance(x).max() < 2e-7 * survey.diameter
        assert edge.error <= 5e-8
        np.testing.assert_array_equal(edge.best[[0, -1]], CORNERS[list(edge.members)])


def test_the_inside_keeps_its_edges():
    survey = survey_of()
    edges = finished(survey, edge_patches(survey), Goal(5e-8, 14))
    start = inner_patch(edges, survey)
    (inside,) = finished(survey, (start,), Goal(5e-8, 14))
    assert inside.error < 1e-7
    s = np.random.default_rng(0).dirichlet([1.0] * 2, size=20)
    first, last = (
        BezierSimplex(start.best, 3, start.best_degree),
        BezierSimplex(inside.best, 3, inside.best_degree),
    )
    for face in ((0, 1), (0, 2), (1, 2)):
        np.testing.assert_allclose(last.restrict(face)(s), first.restrict(face)(s), atol=1e-12)


def test_a_finished_patch_is_left_alone_and_costs_nothing():
    survey = survey_of()
    edges = finished(survey, edge_patches(survey), Goal(1e-3, 14))
    before = survey.evaluator.evaluations
    again = improve(survey, edges, Goal(1e-3, 14))
    assert all(new is old for new, old in zip(again, edges, strict=True))
    assert survey.evaluator.evaluations == before


def test_what_is_seen_belongs_to_the_patch_it_was_seen_from():
    survey = survey_of()
    edges = edge_patches(survey)
    seen = look_at(survey, list(edges))
    for one in seen:
        assert one.cloud.t.shape[1] == 2
        assert one.cloud.faces.all()
        assert one.n_nodes == 4
        assert one.error > 0.01


def test_a_patch_is_not_finished_by_its_first_four_nodes():
    """A flat set is met at once, and still looked at a second time."""

    def objectives(x):
        return jnp.stack([jnp.sum((x - corner) ** 2) for corner in jnp.eye(2)])

    survey = survey_of(objectives, np.eye(2))
    (edge,) = improve(survey, edge_patches(survey), Goal(5e-8, 14))
    assert edge.error < 1e-12
    assert not edge.done
    (edge,) = improve(survey, (edge,), Goal(5e-8, 14))
    assert edge.done
    assert edge.n_seen >= 8


@pytest.mark.parametrize("max_degree", [1, 2, 3])
def test_the_largest_degree_is_kept(max_degree):
    survey = survey_of()
    edges = finished(survey, edge_patches(survey), Goal(5e-8, max_degree))
    assert all(edge.best_degree <= max_degree for edge in edges)


def test_a_surface_that_went_astray_far_from_the_set_is_taken_back():
    survey = survey_of()
    edge = improve(survey, edge_patches(survey), Goal(5e-8, 14))[0]
    assert edge.error > survey.schedule.rounds.near
    wild = edge.control_points.copy()
    wild[1:-1] += 20 * survey.diameter
    (after,) = improve(survey, (replace(edge, control_points=wild),), Goal(5e-8, 14))
    assert after.errors[-1] > 1
    s = np.linspace(0, 1, 40)
    x = np.asarray(
        BezierSimplex(after.control_points, 2, after.degree)(np.column_stack([1 - s, s]))
    )
    assert PROBLEM.distance(x).max() < 0.1 * survey.diameter
