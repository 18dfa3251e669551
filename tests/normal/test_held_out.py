import numpy as np
import pytest

from bezierflow.normal.held_out import held_out_points, spread, suspect_points
from bezierflow.simplex import multi_indices


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


def test_spread_points_are_uniform():
    t = spread(4000, 3, np.random.default_rng(0))
    np.testing.assert_allclose(t.mean(axis=0), 1 / 3, atol=2e-3)
    np.testing.assert_allclose((t**2).mean(axis=0), 1 / 6, atol=2e-3)
