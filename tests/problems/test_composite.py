"""Objectives split into smooth and nonsmooth parts."""

import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.names import Names
from bezierflow.problems import Composite


def lasso(names=None):
    return Composite(
        smooth=lambda x: jnp.stack([jnp.sum((x - 1) ** 2), 0 * x[0]]),
        nonsmooth=lambda x: jnp.stack([0 * x[0], jnp.sum(jnp.abs(x))]),
        prox=lambda x, weights: jnp.sign(x) * jnp.maximum(jnp.abs(x) - weights[1], 0),
        names=names,
    )


def test_the_value_is_the_sum_of_both_parts():
    np.testing.assert_allclose(lasso()(jnp.array([1.0, -2.0])), [9, 3])


def test_names_tell_the_sizes_and_can_be_changed():
    assert lasso().n_objectives is None
    assert lasso(Names(objectives=("error", "norm"))).n_objectives == 2
    assert lasso().with_names(variables=("a", "b")).n_variables == 2


@pytest.mark.parametrize("part", ["smooth", "nonsmooth", "prox"])
@pytest.mark.usefixtures("unchecked")
def test_parts_must_be_functions(part):
    parts = {"smooth": len, "nonsmooth": len, "prox": len} | {part: 3}
    with pytest.raises(TypeError, match=f"^{part} must be a function, got 3"):
        Composite(**parts)
