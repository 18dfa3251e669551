"""Node sets: exact quadrature, nodes on every face, and designs that condition well for any number
of objectives."""

from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.bezier.numpy_nets import design_matrix
from bezierflow.simplex import (
    check_on_simplex,
    controls_on_face,
    faces,
    gauss_nodes,
    lobatto_nodes,
    lobatto_points,
    multi_indices,
    n_controls,
    quadrature_nodes,
    spread_nodes,
)


def assert_exact(nodes, degree):
    """Σ_i w_i t_i^d is the mean of t^d, (M−1)! Π d_m! / (M−1+Σ d_m)!, for all d of the degree
    (lower ones follow)."""
    n_objectives = nodes.t.shape[1]
    for index in multi_indices(n_objectives, degree).tolist():
        mean = (
            factorial(n_objectives - 1)
            * prod(map(factorial, index))
            / factorial(n_objectives - 1 + degree)
        )
        found = nodes.weights @ np.prod(nodes.t ** np.array(index), axis=1)
        assert found == pytest.approx(mean, rel=1e-11, abs=1e-14)


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 4), st.integers(1, 5))
def test_gauss_nodes_integrate_twice_their_order_less_one(n_objectives, order):
    nodes = gauss_nodes(n_objectives, order)
    assert len(nodes) == order ** (n_objectives - 1)
    check_on_simplex(nodes.t, n_objectives)
    assert nodes.t.min() > 0
    assert nodes.weights.min() > 0
    assert_exact(nodes, 2 * order - 1)


def test_gauss_nodes_do_not_integrate_one_degree_more():
    nodes = gauss_nodes(2, 2)
    with pytest.raises(AssertionError):
        assert_exact(nodes, 4)


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 4), st.integers(1, 6))
def test_lobatto_nodes_integrate_their_degree_and_restrict_to_faces(n_objectives, degree):
    nodes = lobatto_nodes(n_objectives, degree)
    assert len(nodes) == n_controls(n_objectives, degree)
    check_on_simplex(nodes.t, n_objectives)
    assert_exact(nodes, degree)
    for face in faces(n_objectives):
        rows = controls_on_face(face, n_objectives, degree)
        np.testing.assert_allclose(
            nodes.t[rows][:, face], lobatto_nodes(len(face), degree).t, atol=1e-14
        )


def test_lobatto_nodes_interpolate_well():
    """As many as control points, and their design is invertible with a modest condition, unlike
    random ones."""
    assert np.linalg.cond(design_matrix(lobatto_nodes(3, 6).t, 6)) < 1e3


def test_lobatto_points_are_the_known_ones():
    np.testing.assert_allclose(
        lobatto_points(3), [0, (1 - 1 / np.sqrt(5)) / 2, (1 + 1 / np.sqrt(5)) / 2, 1], atol=1e-15
    )
    np.testing.assert_array_equal(lobatto_points(1), [0, 1])
    np.testing.assert_array_equal(lobatto_points(0), [0.5])


@pytest.mark.parametrize(
    ("n_objectives", "degree"), [(2, 5), (3, 3), (4, 3), (6, 3), (10, 2), (20, 2)]
)
def test_quadrature_nodes_condition_least_squares_well(n_objectives, degree):
    nodes = quadrature_nodes(n_objectives, degree)
    check_on_simplex(nodes.t, n_objectives)
    assert nodes.weights.sum() == pytest.approx(1)
    assert n_controls(n_objectives, degree) <= len(nodes) <= 8 * n_controls(n_objectives, degree)
    assert np.linalg.cond(design_matrix(nodes.t, degree) * np.sqrt(nodes.weights)[:, None]) < 300


def test_spread_nodes_are_deterministic_and_even():
    nodes = spread_nodes(3, 1000)
    np.testing.assert_array_equal(nodes.t, spread_nodes(3, 1000).t)
    np.testing.assert_allclose(nodes.t.mean(axis=0), np.full(3, 1 / 3), atol=2e-3)
    np.testing.assert_array_equal(nodes.weights, np.full(1000, 1e-3))


def test_cached_nodes_cannot_be_spoilt():
    for nodes in (gauss_nodes(3, 2), spread_nodes(3, 10), lobatto_nodes(3, 2)):
        with pytest.raises(ValueError, match="read-only"):
            nodes.t[0] = 0
        with pytest.raises(ValueError, match="read-only"):
            nodes.weights[0] = 0


def test_orders_and_degrees_start_at_one():
    with pytest.raises(ValueError, match="order must be at least 1, got 0"):
        gauss_nodes(3, 0)
    with pytest.raises(ValueError, match="degree must be at least 1, got 0"):
        lobatto_nodes(3, 0)
