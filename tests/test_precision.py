"""Double precision inside the library leaves the user's JAX as it was, in both directions."""

import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.precision import double_precision, in_double_precision, is_double

ORDERS = {
    "the library first": "double(f); single(f)",
    "the user first": "single(f); double(f); single(f)",
    "the user's jit first": "g = jax.jit(f); single(g); double(g); single(g); double(f)",
}


@pytest.mark.parametrize("order", ORDERS)
def test_a_function_with_numpy_constants_runs_in_both_precisions(order):
    """In a fresh process, because what JAX remembers outlives a test."""
    code = f"""
        import jax, jax.numpy as jnp, numpy as np
        from bezierflow.precision import double_precision
        data = np.array([1 / 3, -2.0])
        f = lambda x: jnp.sum((x - data) ** 2)
        def single(f):
            assert abs(float(f(jnp.zeros(2))) - (1 / 9 + 4)) < 1e-5
            assert f(jnp.zeros(2)).dtype == jnp.float32
            assert jax.vmap(f)(jnp.zeros((3, 2))).shape == (3,)
        def double(f):
            with double_precision():
                assert abs(float(jax.jit(lambda x: f(x))(np.zeros(2))) - (1 / 9 + 4)) < 1e-15
        {ORDERS[order]}
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.skipif(
    jax.__version_info__ < (0, 9, 2),
    reason="JAX before 0.9.2 caches NumPy constants by identity and dtype",
)
def test_jax_by_itself_still_has_the_fault_that_is_repaired():
    """When this fails, the running JAX needs no repair: see `jax_constants`, which then goes as
    soon as no supported JAX does."""
    code = """
        import jax, numpy as np
        data = np.ones(2)
        f = jax.jit(lambda x: x - data)
        f(np.zeros(2, np.float32))
        with jax.enable_x64(True):
            f(np.zeros(2))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True
    )
    assert "requires compatible types for all operands" in done.stderr


def test_double_precision_ends_with_its_block():
    assert not is_double()
    with double_precision():
        assert is_double()
        assert jnp.zeros(1).dtype == jnp.float64
    assert not is_double()
    assert jnp.zeros(1).dtype == jnp.float32


def test_results_outside_of_the_block_are_numpy_and_double():
    result = in_double_precision(lambda x: jnp.sin(x), np.ones(2))
    assert isinstance(result, np.ndarray)
    np.testing.assert_array_equal(result, np.sin(np.ones(2)))


def test_float32_and_traced_arguments_are_left_alone():
    assert in_double_precision(jnp.sin, jnp.ones(2)).dtype == jnp.float32
    assert jax.jit(lambda x: in_double_precision(jnp.sin, x))(jnp.ones(2)).dtype == jnp.float32
