"""Nearest points of images of the simplex: first-order optimal, no sampled point nearer, exact
where a formula says so."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.bezier import SurfaceMap
from bezierflow.problems import Quadratic, ScaledMED, Warped
from bezierflow.simplex import (
    SmoothMap,
    check_on_simplex,
    grid,
    n_controls,
    nearest,
    nearest_from,
    nearest_of_grid,
)

MAPS = {
    "diagonal": ScaledMED().set_map(),
    "dense": Quadratic.random(3, 4).set_map(),
    "bent": Warped(ScaledMED(), 0.8).set_map(),
    "surface": SurfaceMap(np.random.default_rng(0).normal(size=(n_controls(3, 4), 2)), 3, 4),
    "plane": SurfaceMap(np.random.default_rng(0).normal(size=(3, 2)), 3, 1),
    "point": SurfaceMap(np.ones((1, 2)), 3, 0),
}
every_map = pytest.mark.parametrize("smooth_map", MAPS.values(), ids=MAPS)


@every_map
def test_derivatives_agree_with_finite_differences(smooth_map):
    assert isinstance(smooth_map, SmoothMap)
    t, step = np.random.default_rng(0).dirichlet(np.ones(3), 4), 1e-6
    point, first, second = smooth_map.derivatives(t)
    np.testing.assert_allclose(point, smooth_map(t), rtol=1e-14)
    for m, shift in enumerate(step * np.eye(3)):
        slope = (smooth_map(t + shift) - smooth_map(t - shift)) / (2 * step)
        bend = (smooth_map.derivatives(t + shift)[1] - smooth_map.derivatives(t - shift)[1]) / (
            2 * step
        )
        np.testing.assert_allclose(first[:, m], slope, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(second[:, m], bend, rtol=1e-6, atol=1e-7)


@every_map
def test_no_sampled_point_is_nearer_and_first_order_conditions_hold(smooth_map):
    rng = np.random.default_rng(1)
    x = smooth_map(rng.dirichlet(np.ones(3), 50)) + 0.3 * rng.normal(
        size=(50, smooth_map(np.eye(3)).shape[1])
    )
    found = nearest(smooth_map, x, 3)
    check_on_simplex(found.t, 3)
    assert found.t.min() >= 0
    np.testing.assert_allclose(
        found.distances, np.linalg.norm(smooth_map(found.t) - x, axis=1), atol=1e-14
    )
    samples = smooth_map(np.concatenate([rng.dirichlet(np.full(3, 0.5), 2000), grid(3, 20)]))
    assert (
        found.distances <= np.linalg.norm(x[:, None] - samples, axis=2).min(axis=1) + 1e-12
    ).all()
    point, first, _ = smooth_map.derivatives(found.t)
    gradient = np.einsum("nml,nl->nm", first, point - x)
    assert (np.sum(gradient * found.t, axis=1) - gradient.min(axis=1)).max() < 1e-7
    assert (found.n_agreed >= 1).all()
    assert (found.n_agreed <= found.n_starts).all()


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 7), st.integers(0, 10**6))
def test_the_nearest_point_of_the_simplex_itself_satisfies_its_variational_inequality(
    n_objectives, seed
):
    """(x − t)·(e_m − t) ≤ 0 for each vertex: exact also where t lies on a face."""
    identity = SurfaceMap(np.eye(n_objectives), n_objectives, 1)
    x = np.random.default_rng(seed).normal(size=(10, n_objectives)) * 2
    t = nearest(identity, x, n_objectives).t
    check_on_simplex(t, n_objectives)
    assert np.einsum("ni,nmi->nm", x - t, np.eye(n_objectives) - t[:, None]).max() < 1e-12


def test_points_of_the_image_are_their_own_nearest_to_rounding_wherever_it_lies():
    t = np.concatenate(
        [np.random.default_rng(0).dirichlet(np.ones(3), 30), np.eye(3), [[0.5, 0.5, 0.0]]]
    )
    for offset in (0.0, 1e6):
        shifted = SurfaceMap(
            grid(3, 3) @ np.random.default_rng(1).normal(size=(3, 3)) + offset, 3, 3
        )
        found = nearest(shifted, shifted(t), 3)
        assert found.distances.max() < 1e-15 * (1 + 10 * offset)
        np.testing.assert_allclose(found.t, t, atol=1e-12 + 1e-14 * offset)


def test_many_targets_in_chunks_are_each_treated_as_alone():
    smooth_map, rng = MAPS["bent"], np.random.default_rng(2)
    x = rng.normal(size=(5000, 3))
    found, some = nearest(smooth_map, x, 3), [0, 17, 4999]
    alone = nearest(smooth_map, x[some], 3)
    np.testing.assert_allclose(found.distances[some], alone.distances, rtol=1e-12)
    assert nearest(smooth_map, x[:0], 3).t.shape == (0, 3)


def test_few_steps_lead_nearer_and_more_lead_to_the_minimum():
    smooth_map, rng = MAPS["dense"], np.random.default_rng(3)
    x, t = rng.normal(size=(20, 4)), rng.dirichlet(np.ones(3), 20)
    start = np.sum((smooth_map(t) - x) ** 2, axis=1)
    after_two, squares = nearest_from(smooth_map, x, t, n_steps=2)
    np.testing.assert_allclose(
        squares, np.sum((smooth_map(after_two) - x) ** 2, axis=1), rtol=1e-12
    )
    assert (squares <= start).all()
    assert (nearest_from(smooth_map, x, t)[1] <= squares).all()


@pytest.mark.parametrize("n_objectives", [1, 2, 3, 5, 10])
def test_the_search_grid_has_all_vertices_and_is_nowhere_sparse(n_objectives):
    identity, vertices = SurfaceMap(np.eye(n_objectives), n_objectives, 1), np.eye(n_objectives)
    np.testing.assert_array_equal(nearest_of_grid(identity, vertices, n_objectives), vertices)
    t = np.random.default_rng(0).dirichlet(np.ones(n_objectives), 50)
    found = nearest_of_grid(identity, t, n_objectives)
    check_on_simplex(found, n_objectives)
    assert (np.linalg.norm(found - t, axis=1) < 0.5).all()


def test_what_is_not_finite_has_no_nearest_point():
    with pytest.raises(ValueError, match="x must be finite"):
        nearest(MAPS["plane"], np.array([[0.0, np.nan]]), 3)
