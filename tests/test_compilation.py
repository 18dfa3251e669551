"""Batches that share one program."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.compilation import map_in_batches


@pytest.mark.parametrize("n", [1, 3, 7, 10])
def test_rows_in_batches_are_the_rows_one_by_one_and_the_function_is_traced_once(n):
    traces = []

    def function(row):
        key, x = row
        traces.append(1)
        return {"sum": x.sum(), "moved": x + jax.random.uniform(key)}

    keys, x = jax.random.split(jax.random.key(0), n), np.arange(2.0 * n).reshape(n, 2)
    mapped = jax.jit(lambda keys, x: map_in_batches(function, (keys, x), 3))(keys, jnp.asarray(x))
    assert len(traces) == 1
    np.testing.assert_array_equal(mapped["sum"], x.sum(axis=1))
    expected = x + np.asarray(jax.vmap(jax.random.uniform)(keys))[:, None]
    np.testing.assert_allclose(mapped["moved"], expected, rtol=1e-6)
