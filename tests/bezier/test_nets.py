"""Operations on control nets, each against what it means for the map."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.bezier import nets
from bezierflow.bezier.design import design_matrix
from bezierflow.precision import double_precision
from bezierflow.simplex import n_controls

elevate = jax.jit(nets.elevate, static_argnums=(1, 2))
differentiate = jax.jit(nets.differentiate, static_argnums=(1, 2))
contract = jax.jit(nets.contract, static_argnums=(2, 3))
subdivide = jax.jit(nets.subdivide, static_argnums=(2, 3))

SHAPES = [(1, 2), (2, 5), (3, 3), (4, 2)]


def net_and_points(n_objectives, degree, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_controls(n_objectives, degree), 2)), rng.dirichlet(np.ones(n_objectives), 6)


@pytest.mark.parametrize(("n_objectives", "degree"), SHAPES)
def test_elevation_leaves_the_map_unchanged(n_objectives, degree):
    net, t = net_and_points(n_objectives, degree)
    with double_precision():
        above = np.asarray(elevate(jnp.asarray(net), n_objectives, degree))
    np.testing.assert_allclose(design_matrix(t, degree + 1) @ above, design_matrix(t, degree) @ net, atol=1e-13)


@pytest.mark.parametrize(("n_objectives", "degree"), SHAPES)
def test_contraction_down_to_degree_zero_is_the_value(n_objectives, degree):
    """De Casteljau's algorithm: another route to b(t), without powers or multinomials."""
    net, t = net_and_points(n_objectives, degree)
    with double_precision():
        left = jnp.asarray(net)
        for current in range(degree, 0, -1):
            left = contract(left, jnp.asarray(t[0]), n_objectives, current)
    np.testing.assert_allclose(left[0], design_matrix(t[:1], degree)[0] @ net, atol=1e-13)


@pytest.mark.parametrize(("n_objectives", "degree"), SHAPES)
def test_partial_derivatives_are_limits_of_differences(n_objectives, degree):
    net, t = net_and_points(n_objectives, degree)
    with double_precision():
        partials = np.asarray(differentiate(jnp.asarray(net), n_objectives, degree))
    assert partials.shape == (n_objectives, n_controls(n_objectives, degree - 1), 2)
    for m in range(n_objectives):
        moved = 1e-6 * np.eye(n_objectives)[m]
        difference = (design_matrix(t + moved, degree) - design_matrix(t - moved, degree)) @ net / 2e-6
        np.testing.assert_allclose(design_matrix(t, degree - 1) @ partials[m], difference, atol=1e-7)


@pytest.mark.parametrize(("n_objectives", "degree", "n_corners"), [(2, 5, 2), (3, 3, 3), (3, 3, 2), (3, 2, 4), (2, 0, 2)])
def test_subdivision_is_the_map_over_the_smaller_simplex(n_objectives, degree, n_corners):
    net, t = net_and_points(n_objectives, degree)
    corners, s = t[:n_corners], np.random.default_rng(1).dirichlet(np.ones(n_corners), 5)
    with double_precision():
        part = np.asarray(subdivide(jnp.asarray(net), jnp.asarray(corners), n_objectives, degree))
    np.testing.assert_allclose(design_matrix(s, degree) @ part, design_matrix(s @ corners, degree) @ net, atol=1e-13)
