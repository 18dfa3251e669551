"""Pytrees as flat vectors and back, in NumPy, in JAX and inside compiled programs; values as rows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.bezier import Raveling, fit

shapes = st.lists(st.integers(1, 3), max_size=2).map(tuple)
trees = st.recursive(
    shapes,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=2) | st.dictionaries(st.text("ab"), inner, min_size=1)
    ),
)


def filled(tree, batch, seed=0):
    rng = np.random.default_rng(seed)
    return jax.tree.map(
        lambda shape: rng.normal(size=(*batch, *shape)),
        tree,
        is_leaf=lambda node: isinstance(node, tuple),
    )


@settings(deadline=None, max_examples=40)
@given(trees, st.integers(0, 2))
def test_unravel_undoes_ravel(tree, batch_axes):
    x, batch = filled(tree, (2, 3)[:batch_axes]), (2, 3)[:batch_axes]
    raveling = Raveling.of(x, batch_axes)
    vector = raveling.ravel(x, batch_axes)
    assert isinstance(vector, np.ndarray)
    assert vector.shape == (*batch, raveling.n_variables)
    assert jax.tree.structure(raveling.unravel(vector)) == jax.tree.structure(x)
    jax.tree.map(np.testing.assert_array_equal, raveling.unravel(vector), x)
    assert Raveling.of(filled(tree, (5,), seed=1), 1) == raveling


def test_compiled_programs_see_the_same_vector():
    x = {"a": np.arange(3.0), "b": np.arange(4.0).reshape(2, 2)}
    raveling = Raveling.of(x)
    vector = jax.jit(raveling.ravel)(x)
    np.testing.assert_array_equal(vector, raveling.ravel(x))
    jax.tree.map(np.testing.assert_array_equal, jax.jit(raveling.unravel)(vector), x)


def test_vectors_are_told_from_what_only_has_one_leaf():
    assert Raveling.of(np.zeros(3)).is_vector
    assert not Raveling.of(np.zeros((3, 1))).is_vector
    assert not Raveling.of([np.zeros(3)]).is_vector


def test_rows_are_values_and_one_value_is_a_row():
    x = {"a": jnp.arange(6.0, dtype=jnp.float32).reshape(2, 3), "b": np.array([7, 8])}
    line = fit(np.eye(2), x, 1, frozen={0: {"a": np.arange(3), "b": 7}})
    assert {leaf.dtype for leaf in jax.tree.leaves(line.control_points)} == {np.dtype(np.float64)}
    np.testing.assert_array_equal(line.control_points["a"], [[0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(line.control_points["b"], [7, 8])


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        (
            {"a": np.zeros((2, 1)), "b": np.zeros(3)},
            ValueError,
            "x must be an array with one value per row",
        ),
        ({}, ValueError, "x must be an array with one value per row"),
        (3.0, ValueError, "x must be an array with one value per row"),
        ([[0.0], [np.nan]], ValueError, "x must be finite; row 1"),
        (np.zeros((2, 1), complex), TypeError, "real ones"),
    ],
)
def test_misuse_is_named(x, error, message):
    with pytest.raises(error, match=message):
        fit(np.eye(2), x, 1)


def test_tracing_is_refused():
    with pytest.raises(TypeError, match="x is being traced by jax"):
        jax.jit(lambda x: fit(np.eye(2), x, 1).control_points)(np.zeros((2, 2)))
