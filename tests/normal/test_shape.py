import numpy as np

from bezierflow.normal.shape import (
    dominated_rows,
    fold_fraction,
    largest_gap,
    weakly_pareto_vertices,
)


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
