"""Node sets and samplers: exact quadrature, nodes on every face, designs that condition well; points
and weights by key alone."""

from functools import partial
from math import factorial, prod

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.bezier import design_matrix
from bezierflow.precision import double_precision
from bezierflow.simplex import (
    Fixed,
    Leverage,
    LowDiscrepancy,
    Stratified,
    Uniform,
    check_on_simplex,
    controls_on_face,
    faces,
    gauss_nodes,
    lobatto_nodes,
    multi_indices,
    n_controls,
    quadrature_nodes,
    spread_nodes,
)

EVERY = [
    Uniform(7),
    LowDiscrepancy(7),
    Stratified(7),
    Leverage(7, degree=2),
    Leverage(7, independent=True, degree=2),
    Fixed(gauss_nodes(3, 3)),
    Fixed(np.eye(3)),
]


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


def test_lobatto_nodes_of_an_edge_are_the_known_points():
    known = [1, (1 + 1 / np.sqrt(5)) / 2, (1 - 1 / np.sqrt(5)) / 2, 0]
    np.testing.assert_allclose(lobatto_nodes(2, 3).t[:, 0], known, atol=1e-15)
    np.testing.assert_array_equal(lobatto_nodes(2, 1).t, np.eye(2))


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


@pytest.mark.parametrize("sampler", EVERY, ids=lambda sampler: type(sampler).__name__)
def test_every_sampler_gives_points_and_weights_traceably_and_by_key_alone(sampler):
    with double_precision():
        t, weights = jax.jit(lambda key: sampler(key, 3))(jax.random.key(5))
        again, _ = sampler(jax.random.key(5), 3)
    assert t.shape == (sampler.n_samples, 3)
    assert weights.shape == (sampler.n_samples,)
    check_on_simplex(np.asarray(t), 3)
    assert (np.asarray(weights) >= 0).all()
    np.testing.assert_allclose(t, again, rtol=1e-12)


@pytest.mark.parametrize("kind", [Uniform, LowDiscrepancy, Stratified, partial(Leverage, degree=3)])
@pytest.mark.usefixtures("unchecked")
def test_random_samplers_follow_the_ambient_precision_and_refuse_bad_counts(kind):
    assert kind(4)(jax.random.key(0), 3)[0].dtype == jnp.float32
    with double_precision():
        assert kind(4)(jax.random.key(0), 3)[0].dtype == jnp.float64
    for n in (0, 2.5):
        with pytest.raises(ValueError, match="n must be a whole number of at least 1"):
            kind(n)


def test_fixed_takes_nodes_with_their_weights_and_arrays_with_equal_ones():
    nodes = gauss_nodes(3, 2)
    np.testing.assert_allclose(Fixed(nodes)(jax.random.key(0), 3)[1], nodes.weights, rtol=1e-6)
    np.testing.assert_array_equal(Fixed(nodes.t)(jax.random.key(0), 3)[1], np.ones(4))


def test_weights_of_nothing_serve():
    assert Fixed(lobatto_nodes(3, 2)).n_samples == 6


def test_fixed_refuses_what_cannot_serve():
    with pytest.raises(ValueError, match=r"nodes must be a matrix .* got shape \(3,\)"):
        Fixed(np.array([0.2, 0.3, 0.5]))
    with pytest.raises(ValueError, match="nodes must hold points of the simplex"):
        Fixed(np.ones((2, 3)))
    with pytest.raises(ValueError, match="weights of at least 0"):
        Fixed(lobatto_nodes(3, 4))
    with pytest.raises(
        ValueError, match="nodes have 3 coordinates, but the problem has 2 objectives"
    ):
        Fixed(np.eye(3))(jax.random.key(0), 2)


@pytest.mark.parametrize("seed", range(3))
def test_stratified_points_have_one_in_each_slice_of_equal_measure_along_every_coordinate(seed):
    """The slices of t_1 are those of 1 − (1−t_1)^{M−1}, and so on for its share of what is left."""
    n = 9
    t = np.asarray(Stratified(n)(jax.random.key(seed), 4)[0], float)
    left = np.cumsum(t[:, ::-1], axis=1)[:, ::-1]
    u = 1 - (1 - t[:, :3] / left[:, :3]) ** np.array([3, 2, 1])
    np.testing.assert_array_equal(
        np.sort(np.floor(n * u), axis=0), np.arange(n)[:, None].repeat(3, axis=1)
    )
