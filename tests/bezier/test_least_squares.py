"""Least squares in compiled loops: as accurate as QR on the host, differentiable, in the precision
of its input."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.bezier.least_squares import least_squares
from bezierflow.bezier.numpy_nets import design_matrix
from bezierflow.precision import double_precision


def problem(n_samples, n_objectives, degree, width, seed=0):
    rng = np.random.default_rng(seed)
    design = design_matrix(rng.dirichlet(np.ones(n_objectives), n_samples), degree)
    return design, rng.normal(size=(n_samples, width)), rng.uniform(0.1, 2.0, n_samples)


@pytest.mark.parametrize("width", [1, 3, 25])
def test_is_the_weighted_least_squares_solution(width):
    design, values, weights = problem(40, 3, 3, width)
    root = np.sqrt(weights)[:, None]
    expected = np.linalg.lstsq(root * design, root * values, rcond=None)[0]
    with double_precision():
        found = np.asarray(jax.jit(least_squares)(design, values, weights))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


def test_zero_weight_leaves_a_sample_out():
    design, values, _ = problem(20, 3, 2, 2)
    weights = np.repeat([1.0, 0.0], [12, 8])
    with double_precision():
        found, expected = (
            jax.jit(least_squares)(design, values, weights),
            jax.jit(least_squares)(design[:12], values[:12]),
        )
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_as_accurate_as_qr_where_the_normal_equations_fail():
    """A condition near 1e6: squared, it would leave four digits of 16; QR keeps ten."""
    design, _, _ = problem(80, 2, 20, 1)
    points = np.linspace(-1, 1, design.shape[1])[:, None]
    assert np.linalg.cond(design) > 1e5
    with double_precision():
        found = np.asarray(jax.jit(least_squares)(design, design @ points))
    orthogonal, triangle = np.linalg.qr(design)
    reference = np.linalg.solve(triangle, orthogonal.T @ (design @ points))
    assert np.abs(found - points).max() < 10 * np.abs(reference - points).max() + 1e-12
    normal = np.linalg.solve(design.T @ design, design.T @ (design @ points))
    assert np.abs(normal - points).max() > 100 * np.abs(found - points).max()


@pytest.mark.parametrize("width", [2, 12])
@pytest.mark.parametrize("exact", [False, True])
def test_derivatives_are_those_of_the_closed_form(width, exact):
    design, values, weights = problem(30, 3, 2, width)
    if exact:
        values = design @ values[: design.shape[1]]

    def closed_form(design, values):
        gram = design.T @ (weights[:, None] * design)
        return jnp.sum(jnp.sin(jnp.linalg.solve(gram, design.T @ (weights[:, None] * values))))

    def ours(design, values):
        return jnp.sum(jnp.sin(least_squares(design, values, weights)))

    with double_precision():
        found, expected = (
            jax.jit(jax.grad(f, argnums=(0, 1)))(design, values) for f in (ours, closed_form)
        )
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-8)


def test_float32_stays_float32():
    design, values, weights = (array.astype(np.float32) for array in problem(30, 3, 2, 2))
    assert (
        least_squares(jnp.asarray(design), jnp.asarray(values), jnp.asarray(weights)).dtype
        == jnp.float32
    )
