"""The Bernstein basis: a partition of unity, accurate at any degree, the same by every route."""

from contextlib import nullcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.bezier import BezierSimplex, basis, design_matrix
from bezierflow.precision import double_precision
from bezierflow.simplex import n_controls
from exact_bernstein import exact_basis

SHAPES = [(1, 3), (2, 7), (3, 0), (3, 3), (5, 2)]


def in_double(function, *arguments):
    with double_precision():
        return np.asarray(jax.jit(function)(*arguments))


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 6), st.integers(0, 6), st.integers(0, 10**6))
def test_partition_of_unity_and_bounds(n_objectives, degree, seed):
    t = np.random.default_rng(seed).dirichlet(np.ones(n_objectives), 5)
    design = design_matrix(t, degree)
    assert design.shape == (5, n_controls(n_objectives, degree))
    np.testing.assert_allclose(design.sum(axis=1), 1, rtol=1e-13)
    assert design.min() >= 0
    assert design.max() <= 1 + 1e-13


@pytest.mark.parametrize("width", [3, 40], ids=["one fused sum", "a product with Z"])
@pytest.mark.parametrize(("n_objectives", "degree"), SHAPES)
def test_every_route_gives_the_same_numbers(n_objectives, degree, width):
    t = np.random.default_rng(0).dirichlet(np.ones(n_objectives), (4, 2))
    points = np.random.default_rng(1).normal(size=(n_controls(n_objectives, degree), width))
    design = in_double(lambda t: basis(t, degree), t)
    assert design.shape == (4, 2, len(points))
    np.testing.assert_allclose(
        design.reshape(8, -1), design_matrix(t.reshape(8, -1), degree), rtol=1e-13
    )
    surface = BezierSimplex(points, n_objectives, degree)
    for found in (in_double(lambda t: surface(t), t), surface(t)):  # by JAX, by NumPy
        np.testing.assert_allclose(found, design @ points, atol=1e-13)


@pytest.mark.parametrize(("n_objectives", "degree"), [(2, 20), (3, 20), (20, 2)])
def test_every_entry_keeps_its_relative_accuracy_at_high_degree(n_objectives, degree):
    t = np.random.default_rng(0).dirichlet(np.full(n_objectives, 0.5), 2)
    exact = np.array([[float(value) for value in exact_basis(row, degree)] for row in t])
    bound = 1.2e-16 * 2 * (degree + n_objectives)
    np.testing.assert_allclose(in_double(lambda t: basis(t, degree), t), exact, rtol=bound)
    np.testing.assert_allclose(design_matrix(t, degree), exact, rtol=bound)


def test_exact_at_the_corners_and_smooth_there():
    with double_precision():
        np.testing.assert_array_equal(basis(jnp.eye(3), 4)[:, np.array([0, 10, 14])], np.eye(3))
        slope = jax.jit(jax.jacfwd(lambda t: basis(t, 3)))(jnp.eye(3)[0])
        bend = jax.jit(jax.hessian(lambda t: basis(t, 3)[3]))(jnp.array([1.0, 0.0, 0.0]))
    assert np.isfinite(slope).all()
    np.testing.assert_array_equal(slope[0], [3, 0, 0])
    np.testing.assert_allclose(bend[1, 1], 6.0)  # 3 t₁ t₂², twice by t₂


def test_float32_stays_float32():
    t = jnp.full((2, 3), 1 / 3, jnp.float32)
    points = jnp.ones((10, 2), jnp.float32)
    for block in (nullcontext, double_precision):
        with block():
            assert jax.eval_shape(lambda t: basis(t, 3), t).dtype == jnp.float32
            assert jax.eval_shape(lambda t: BezierSimplex(points, 3, 3)(t), t).dtype == jnp.float32
