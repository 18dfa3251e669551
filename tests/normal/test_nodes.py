import numpy as np
import pytest

from bezierflow.normal import Schedule, Settings
from bezierflow.normal.nodes import held_out_points, inner_nodes, suspect_points
from bezierflow.simplex import multi_indices


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
    first, second = inner_nodes(8, 6), inner_nodes(8, 7)
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
