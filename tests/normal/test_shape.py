import numpy as np
import pytest

from bezierflow.bezier import BezierSimplex
from bezierflow.normal import Schedule, Settings
from bezierflow.normal.shape import (
    dominated_rows,
    face_tangents,
    fill_inside,
    fold_fraction,
    fold_points,
    held_out_points,
    inner_nodes,
    largest_gap,
    suspect_points,
    weakly_pareto_vertices,
)
from bezierflow.simplex import multi_indices


def test_points_that_others_beat_clearly_are_dominated():
    line = np.linspace(0, 1, 11)
    front = np.column_stack([line, 1 - line])
    assert not dominated_rows(front).any()
    assert np.flatnonzero(dominated_rows(np.concatenate([front, [[0.9, 0.9]]]))).tolist() == [
        len(front)
    ]
    assert not dominated_rows(front + 1e-4 * (line[:, None] > 0.5)).any()  # not clearly
    assert not dominated_rows(np.full((3, 2), np.nan)).any()


def test_a_front_that_runs_backwards_in_part_is_folded():
    gradients = np.tile(np.array([[1.0, 0.0], [-1.0, 0.2]]), (10, 1, 1))
    tangents = np.tile(np.array([[1.0], [0.1]]), (10, 1, 1))
    multipliers = np.full((10, 2), 0.5)
    assert fold_fraction(gradients, tangents, multipliers) == 0
    tangents[:3] *= -1
    assert abs(fold_fraction(gradients, tangents, multipliers) - 0.3) < 1e-12


def test_a_curve_that_jumps_has_a_gap():
    even, jumps = np.array([[0.0], [1.0]]), np.array([[0.0]] * 8 + [[1.0]])
    assert abs(largest_gap(even, 2, 1) - 1) < 1e-9
    assert largest_gap(jumps, 2, 8) > 20


def test_a_corner_that_another_point_equals_and_beats_is_weakly_pareto():
    values = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.4]])
    np.testing.assert_array_equal(weakly_pareto_vertices(values, 2), [True, False])
    values[2, 0] = 1e-6
    assert not weakly_pareto_vertices(values, 2).any()


def test_a_surface_without_folds_has_no_fold_points():
    flat = multi_indices(3, 4) / 4.0
    assert len(fold_points(flat, 3, 4, 20)) == 0


def test_a_curve_that_turns_back_is_seen_where_it_does():
    # x(s) = 3.2 s (1 − s) + s² turns at s = 8/11
    curve = np.array([[0.0, 0.0], [1.6, 0.0], [1.0, 0.0]])
    t = fold_points(curve, 2, 2, 4)
    assert 0 < len(t) <= 4
    assert np.abs(t[:, 1] - 8 / 11).min() < 0.05


def test_a_folded_triangle_is_seen_and_corners_are_left_out():
    net = multi_indices(3, 3) / 3.0
    net[(multi_indices(3, 3) == 1).all(axis=1)] += [1.5, -1.5, 0.0]
    t = fold_points(net, 3, 3, 20)
    assert 0 < len(t) <= 20
    assert t.max() < 1


def test_fewer_variables_than_dimensions_have_no_orientation():
    assert len(fold_points(np.zeros((3, 1)), 3, 1, 5)) == 0


def test_tangents_span_the_surface_and_only_the_face():
    rng = np.random.default_rng(0)
    surface = BezierSimplex(rng.normal(size=(10, 5)), 3, 3)
    t = np.array([[0.2, 0.3, 0.5], [0.4, 0.0, 0.6], [1.0, 0.0, 0.0]])
    tangents = face_tangents(np.asarray(surface.control_points), t, 3, 2)
    slopes = np.asarray(surface.derivative(t))
    for directions, point in (([[1, -1, 0], [0, 1, -1]], 0), ([[1, 0, -1]], 1)):
        along = slopes[point] @ np.array(directions, dtype=float).T
        within = tangents[point] @ (tangents[point].T @ along)
        np.testing.assert_allclose(within, along, atol=1e-10)
    np.testing.assert_array_equal(
        np.linalg.norm(tangents, axis=1) > 0.5, [[True, True], [True, False], [False, False]]
    )
    np.testing.assert_allclose(tangents[0].T @ tangents[0], np.eye(2), atol=1e-12)


@pytest.mark.parametrize(("n_objectives", "degree"), [(3, 3), (3, 7), (4, 5)])
def test_a_flat_net_is_filled_exactly(n_objectives, degree):
    rng = np.random.default_rng(0)
    indices = multi_indices(n_objectives, degree)
    flat = indices / degree @ rng.normal(size=(n_objectives, 4))
    inner = (indices > 0).sum(axis=1) > 2
    np.testing.assert_allclose(
        fill_inside(np.where(inner[:, None], 99.0, flat), n_objectives, degree), flat, atol=1e-10
    )


def test_edges_are_kept_and_the_net_is_the_smoothest_one():
    rng = np.random.default_rng(1)
    indices = multi_indices(3, 5)
    net = rng.normal(size=(len(indices), 1))
    outer = (indices > 0).sum(axis=1) <= 2
    filled = fill_inside(net, 3, 5)
    np.testing.assert_array_equal(filled[outer], net[outer])
    assert all(
        roughness(indices, filled) <= roughness(indices, filled + change)
        for change in inner_changes(rng, outer)
    )


def inner_changes(rng, outer):
    return [
        np.where(outer[:, None], 0.0, 0.1 * rng.normal(size=(len(outer), 1))) for _ in range(20)
    ]


def roughness(indices, net):
    """Σ |p_{d+2e_i} − 2p_{d+e_i+e_j} + p_{d+2e_j}|²."""
    place = {tuple(index): row for row, index in enumerate(indices.tolist())}
    total = 0.0
    for i, j in ((0, 1), (0, 2), (1, 2)):
        for below in multi_indices(3, int(indices[0].sum()) - 2):
            e_i, e_j = np.eye(3, dtype=int)[[i, j]]
            rows = [
                place[tuple((below + shift).tolist())] for shift in (2 * e_i, e_i + e_j, 2 * e_j)
            ]
            total += float((net[rows[0]] - 2 * net[rows[1]] + net[rows[2]])[0] ** 2)
    return total


def test_a_low_degree_has_no_inside():
    net = np.arange(6.0)[:, None]
    np.testing.assert_array_equal(fill_inside(net, 3, 2), net)


def test_inner_nodes_lie_on_no_edge():
    for n_objectives in (3, 4, 5):
        t = inner_nodes(n_objectives, 6)
        assert ((t > 0).sum(axis=1) > 2).all()
        np.testing.assert_allclose(t.sum(axis=1), 1, atol=1e-12)


def test_orders_do_not_share_their_nodes():
    first, second = inner_nodes(3, 7), inner_nodes(3, 8)
    apart = np.abs(first[:, None] - second[None]).max(axis=2)
    assert (apart.min(axis=1) > 1e-3).mean() > 0.9


def test_many_objectives_get_a_choice_of_nodes_that_changes_with_the_order():
    first, second = inner_nodes(6, 7), inner_nodes(6, 8)
    assert len(first) == len(second) == Schedule().most_nodes
    assert not np.array_equal(first, second)


def test_the_largest_degree_falls_with_the_number_of_objectives():
    degrees = [Settings().largest_degree(n_objectives) for n_objectives in range(2, 12)]
    assert degrees == sorted(degrees, reverse=True)
    assert degrees[-1] >= 2


@pytest.mark.parametrize("n_objectives", [1, 2, 3, 4])
def test_points_lie_inside_and_on_every_face(n_objectives):
    t = held_out_points(multi_indices(n_objectives, 2) / 2.0, n_objectives, 2, 200, seed=0)
    np.testing.assert_allclose(t.sum(axis=1), 1, atol=1e-12)
    assert t.min() >= 0
    faces = {tuple(row) for row in (t > 0).tolist()}
    assert len(faces) == (1 if n_objectives == 1 else 2**n_objectives - 1 - n_objectives)


def test_where_the_surface_rushes_it_is_looked_at_as_closely_as_where_it_lingers():
    """A curve that makes nine tenths of its way in the last third of t."""
    curve = np.array([[0.0], [0.0], [0.0], [1.0]]) @ np.ones((1, 2))
    t = held_out_points(curve, 2, 3, 200, seed=1)
    x = t[:, 1] ** 3
    assert (x > 0.3).mean() > 0.4  # 0.33 of the points if they were uniform in t alone


def test_the_seed_decides():
    net = multi_indices(3, 2) / 2.0
    np.testing.assert_array_equal(
        held_out_points(net, 3, 2, 50, seed=4), held_out_points(net, 3, 2, 50, seed=4)
    )
    assert not np.array_equal(
        held_out_points(net, 3, 2, 50, seed=4), held_out_points(net, 3, 2, 50, seed=5)
    )


def test_suspect_points_are_near_corners():
    t = suspect_points(multi_indices(3, 2) / 2.0, 3, 2, 10, seed=0)
    assert len(t) == 12
    assert (t.max(axis=1) > 0.96).all()
    assert (t.max(axis=1) < 1).all()


def test_on_a_flat_surface_points_are_uniform():
    t = held_out_points(np.eye(3), 3, 1, 8000, seed=0)
    inside = t[(t > 0).all(axis=1)]
    np.testing.assert_allclose(inside.mean(axis=0), 1 / 3, atol=2e-3)
    np.testing.assert_allclose((inside**2).mean(axis=0), 1 / 6, atol=2e-3)
