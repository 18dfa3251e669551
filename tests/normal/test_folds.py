import numpy as np

from bezierflow.normal.folds import fold_points
from bezierflow.simplex import multi_indices


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
