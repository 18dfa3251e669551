import numpy as np
import pytest

from bezierflow.bezier import BezierSimplex
from bezierflow.normal.shape import (
    dominated_rows,
    face_tangents,
    fill_inside,
    fold_fraction,
    fold_points,
    largest_gap,
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
