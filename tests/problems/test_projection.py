"""The maps a projection works with: their derivatives, and the search grid."""

import numpy as np
import pytest

from bezierflow.problems import Quadratic, ScaledMED, Warped
from bezierflow.problems.projection import GRID_SIZE, search_grid, search_parts

MAPS = {
    "diagonal": ScaledMED().set_map(),
    "dense": Quadratic.random(3, 4).set_map(),
    "bent": Warped(ScaledMED(), 0.8).set_map(),
}


@pytest.mark.parametrize("point_map", MAPS.values(), ids=MAPS)
def test_derivatives_agree_with_finite_differences(point_map):
    w, step = np.random.default_rng(0).dirichlet(np.ones(3), 4), 1e-6
    point, first, second = point_map.derivatives(w)
    np.testing.assert_allclose(point, point_map(w), rtol=1e-14)
    for m, shift in enumerate(step * np.eye(3)):
        slope = (point_map(w + shift) - point_map(w - shift)) / (2 * step)
        bend = (point_map.derivatives(w + shift)[1] - point_map.derivatives(w - shift)[1]) / (2 * step)
        np.testing.assert_allclose(first[:, m], slope, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(second[:, m], bend, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("n_objectives", [1, 2, 3, 5, 10])
def test_search_grid_has_all_vertices_and_stays_small(n_objectives):
    w = search_grid(n_objectives)
    assert len(w) <= GRID_SIZE
    np.testing.assert_allclose(w.sum(axis=1), 1, rtol=1e-14)
    assert all((w == vertex).all(axis=1).any() for vertex in np.eye(n_objectives))
    assert sorted(np.concatenate(search_parts(n_objectives))) == list(range(len(w)))
