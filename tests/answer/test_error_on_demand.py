"""An estimate that would take minutes is made only where it is asked for."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

import bezierflow as bf
from bezierflow.answer import Flag
from solved import distances_to_points


def large():
    """Two objectives in 600 variables: 200 pairs of Hessians are 144 million numbers."""
    return dataclasses.replace(distances_to_points(2, 600, objectives=True), known_error=None)


def test_the_error_of_a_large_surface_is_not_estimated_unasked(tmp_path):
    solution = large()
    assert solution.error.flags == (Flag.NOT_ESTIMATED,)
    assert np.isnan(float(solution.error))
    corners = np.asarray(solution.flat_surface(np.eye(2)))
    np.testing.assert_allclose(
        solution.error.diameter, np.linalg.norm(corners[0] - corners[1]), rtol=1e-9
    )
    solution.save(tmp_path / "large.bez")
    assert bf.load(tmp_path / "large.bez").error.flags == (Flag.NOT_ESTIMATED,)
    assert "was not estimated" in str(bf.decisions.knee(solution).confidence)


@jax.custom_vjp
def gradient_only(x):
    """Squared distances whose gradient comes from elsewhere, so that JAX cannot differentiate it
    again."""
    return jnp.stack([jnp.sum((x - 1) ** 2), jnp.sum((x + 1) ** 2)])


def _backward(x, weights):
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return (
        jax.pure_callback(lambda x, w: 2 * (w[0] * (x - 1) + w[1] * (x + 1)), shape, x, weights),
    )


gradient_only.defvjp(lambda x: (gradient_only(x), x), _backward)


def test_objectives_without_hessians_have_no_estimate():
    solution = dataclasses.replace(
        distances_to_points(2, 3), objectives=gradient_only, known_error=None
    )
    assert solution.error.flags == (Flag.NOT_ESTIMATED,)


def test_a_file_can_be_saved_without_an_estimate(tmp_path):
    solution = dataclasses.replace(distances_to_points(2, 3, objectives=True), known_error=None)
    solution.save(tmp_path / "a.bez", estimate=False)
    assert bf.load(tmp_path / "a.bez").error.flags == (Flag.NOT_ESTIMATED,)
    assert solution.estimate_error().rms < 1e-9
