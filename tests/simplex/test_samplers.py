"""Samplers: what every one of them promises, and what each adds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.precision import double_precision
from bezierflow.simplex import (
    Fixed,
    LowDiscrepancy,
    Stratified,
    Uniform,
    check_on_simplex,
    gauss_nodes,
    lobatto_nodes,
)

EVERY = [Uniform(7), LowDiscrepancy(7), Stratified(7), Fixed(gauss_nodes(3, 3)), Fixed(np.eye(3))]


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


@pytest.mark.parametrize("kind", [Uniform, LowDiscrepancy, Stratified])
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
