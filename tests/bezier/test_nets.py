"""Operations on control nets in JAX and in NumPy, each against what it means for the map in exact
arithmetic."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.bezier import (
    BezierSimplex,
    design_matrix,
    differentiate,
    elevate,
    partial_derivatives,
    surface_tangents,
)
from bezierflow.precision import double_precision
from bezierflow.simplex import n_controls, tangent_basis
from exact_bernstein import exact_basis, exact_value

SHAPES = [(1, 2), (2, 5), (3, 3), (4, 2)]
KINDS = pytest.mark.parametrize("kind", ["jax", "numpy"])
EXAMPLES = settings(deadline=None, max_examples=25)
SIZES = given(st.integers(1, 5), st.integers(0, 6), st.integers(0, 10**6))


def net_and_points(n_objectives, degree, seed=0, n=6):
    """A net and points, some of them on faces."""
    rng = np.random.default_rng(seed)
    t = rng.dirichlet(np.ones(n_objectives), n) * (rng.random((n, n_objectives)) > 0.2)
    t[:, 0] += 1 - t.sum(axis=1)
    return rng.normal(size=(n_controls(n_objectives, degree), 2)), np.abs(t)


def computed(kind, function, net, *sizes):
    """An operation on a net of either kind, with NumPy in and NumPy out; by JAX as one program."""
    if kind == "numpy":
        found = function(net, *sizes)
        assert isinstance(found, np.ndarray)
        return found
    with double_precision():
        return np.asarray(jax.jit(lambda net: function(net, *sizes))(jnp.asarray(net)))


def exact(net, t, degree, *by):
    return np.array([exact_value(net, row, degree, by) for row in t])


@EXAMPLES
@given(st.integers(1, 6), st.integers(0, 12), st.sampled_from([1, 3, 2500]), st.integers(0, 10**6))
def test_every_entry_of_the_design_is_the_exact_one_to_its_last_digits(
    n_objectives, degree, n, seed
):
    t = np.random.default_rng(seed).dirichlet(np.full(n_objectives, 0.5), n)
    design = design_matrix(t, degree)
    assert design.shape == (n, n_controls(n_objectives, degree))
    rows = [0, n - 1]
    expected = np.array([[float(value) for value in exact_basis(t[row], degree)] for row in rows])
    np.testing.assert_allclose(design[rows], expected, rtol=1.2e-16 * 2 * (degree + 1), atol=1e-300)


@KINDS
@EXAMPLES
@SIZES
def test_elevation_leaves_the_map_unchanged(kind, n_objectives, degree, seed):
    net, t = net_and_points(n_objectives, degree, seed, 2)
    above = computed(kind, elevate, net, n_objectives, degree, degree + 2)
    np.testing.assert_allclose(
        exact(above, t, degree + 2), exact(net, t, degree), rtol=1e-13, atol=1e-14
    )


@KINDS
@EXAMPLES
@SIZES
def test_nets_of_partial_derivatives_are_the_exact_ones_twice(kind, n_objectives, degree, seed):
    net, t = net_and_points(n_objectives, degree, seed, 2)
    slopes = computed(kind, differentiate, net, n_objectives, degree)
    bends = computed(kind, differentiate, slopes, n_objectives, max(degree - 1, 0))
    assert slopes.shape == (n_objectives, n_controls(n_objectives, max(degree - 1, 0)), 2)
    assert bends.shape == (
        n_objectives,
        n_objectives,
        n_controls(n_objectives, max(degree - 2, 0)),
        2,
    )
    for m in range(n_objectives):
        np.testing.assert_allclose(
            exact(slopes[m], t, max(degree - 1, 0)),
            exact(net, t, degree, m),
            rtol=1e-13,
            atol=1e-13,
        )
        for k in range(n_objectives):
            bend = exact(bends[m, k], t, max(degree - 2, 0))
            np.testing.assert_allclose(bend, exact(net, t, degree, m, k), rtol=1e-13, atol=1e-12)


@EXAMPLES
@SIZES
def test_derivatives_at_points_are_the_exact_ones(n_objectives, degree, seed):
    net, t = net_and_points(n_objectives, degree, seed, 3)
    partials = np.stack([exact(net, t, degree, m) for m in range(n_objectives)], axis=1)
    np.testing.assert_allclose(
        partial_derivatives(net, t, degree), partials, rtol=1e-12, atol=1e-13
    )
    along = np.einsum("nml,mk->nlk", partials, tangent_basis(n_objectives))
    np.testing.assert_allclose(surface_tangents(net, t, degree), along, rtol=1e-12, atol=1e-13)


def bends_along_the_simplex(net, t, degree):
    n_objectives = t.shape[1]
    bends = differentiate(differentiate(net, n_objectives, degree), n_objectives, degree - 1)
    along = tangent_basis(n_objectives)
    return np.einsum("mi,kj,mknl->ijnl", along, along, design_matrix(t, degree - 2) @ bends)


@pytest.mark.parametrize(("n_objectives", "degree"), SHAPES)
def test_derivatives_along_the_simplex_do_not_change_with_the_degree(n_objectives, degree):
    """They are those of the map, unlike partial derivatives, which belong to one of its many
    extensions to R^M."""
    net, t = net_and_points(n_objectives, degree)
    above = elevate(net, n_objectives, degree, degree + 1)
    slopes, slopes_above = (
        surface_tangents(points, t, d) for points, d in ((net, degree), (above, degree + 1))
    )
    np.testing.assert_allclose(slopes_above, slopes, atol=1e-12)
    bends, bends_above = (
        bends_along_the_simplex(points, t, d) for points, d in ((net, degree), (above, degree + 1))
    )
    np.testing.assert_allclose(bends_above, bends, atol=1e-11)


@KINDS
def test_nets_of_a_batch_are_those_of_its_members(kind):
    batch = np.random.default_rng(0).normal(size=(2, 3, n_controls(3, 4), 5))
    above, slopes = (
        computed(kind, elevate, batch, 3, 4, 6),
        computed(kind, differentiate, batch, 3, 4),
    )
    np.testing.assert_allclose(
        above[1, 2], computed(kind, elevate, batch[1, 2], 3, 4, 6), atol=1e-15
    )
    np.testing.assert_allclose(
        slopes[1, 2], computed(kind, differentiate, batch[1, 2], 3, 4), atol=1e-15
    )


@pytest.mark.parametrize(("n_objectives", "degree"), SHAPES)
def test_de_casteljau_down_to_degree_zero_is_the_value(n_objectives, degree):
    """The net over a single point: another route to b(t), without powers or multinomials."""
    net, t = net_and_points(n_objectives, degree)
    part = BezierSimplex(net, n_objectives, degree).subdivide(t[:1])
    expected = design_matrix(t[:1], degree) @ net
    np.testing.assert_allclose(part.control_points, expected, atol=1e-13)


@pytest.mark.parametrize(
    ("n_objectives", "degree", "n_corners"), [(2, 5, 2), (3, 3, 3), (3, 3, 2), (3, 2, 4), (2, 0, 2)]
)
def test_subdivision_is_the_map_over_the_smaller_simplex(n_objectives, degree, n_corners):
    net, t = net_and_points(n_objectives, degree)
    corners, s = t[:n_corners], np.random.default_rng(1).dirichlet(np.ones(n_corners), 5)
    part = BezierSimplex(net, n_objectives, degree).subdivide(corners).control_points
    np.testing.assert_allclose(
        design_matrix(s, degree) @ part, design_matrix(s @ corners, degree) @ net, atol=1e-13
    )
