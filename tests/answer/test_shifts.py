"""Shifts that nothing depends on are taken out of formulas; whatever else hides from derivatives
stays."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.answer import without_shifts
from bezierflow.precision import double_precision

held = jax.lax.stop_gradient


def by_hand(x):
    s = held(jnp.max(x))
    return s + jnp.log(jnp.sum(jnp.exp(x - s)))


def twice(x):
    """One after the other: the second shift depends on what the first is taken out of."""
    rows = jax.scipy.special.logsumexp(x.reshape(2, 3), axis=1)
    return jax.nn.logsumexp(3 * rows) + jnp.sum(x**2)


SHIFTED = {
    "logsumexp": lambda x: jax.scipy.special.logsumexp(x),
    "rows": lambda x: jax.scipy.special.logsumexp(x.reshape(2, 3), axis=1),
    "columns": lambda x: jax.scipy.special.logsumexp(x.reshape(2, 3), axis=0, keepdims=True),
    "log_softmax": lambda x: jax.nn.log_softmax(x.reshape(2, 3), axis=1)[:, 1],
    "softmax": lambda x: jax.nn.softmax(x) ** 2,
    "by hand": by_hand,
    "twice": twice,
}

DEPENDENT = {
    "product": lambda x: held(x) * x,
    "constant": lambda x: jnp.sum(x**2) + held(x[0]),
    "exponential": lambda x: jnp.exp(x - held(jnp.max(x))),
    "two for one": lambda x: jnp.log(jnp.sum(jnp.exp(x - held(x[0])))) + 2 * held(x[0]),
    "another": lambda x: jnp.log(jnp.sum(jnp.exp(x - held(x[0])))) + held(x[1]),
    "mixed": lambda x: jnp.log(jnp.sum(jnp.exp(x - held(x)))) + held(x),
    "absolute": lambda x: jnp.abs(x - held(x[0])),
    "sine": lambda x: jnp.sin(x - held(jnp.max(x))),
}


def operations(function, x):
    """The text of the traced function."""
    return str(jax.make_jaxpr(function)(x))


@pytest.mark.parametrize("name", SHIFTED)
def test_values_and_derivatives_are_kept_and_maxima_are_gone(name):
    rng = np.random.default_rng(0)
    with double_precision():
        found = without_shifts(SHIFTED[name], rng.normal(size=6))
        for x in rng.normal(size=(5, 6)):
            np.testing.assert_allclose(found(x), SHIFTED[name](x), rtol=0, atol=1e-12)
            slopes = jax.hessian(found)(x), jax.hessian(SHIFTED[name])(x)
            np.testing.assert_allclose(*slopes, rtol=0, atol=1e-12)
        text = operations(found, x)
    assert "stop_gradient" not in text
    assert "abs" not in text


@pytest.mark.parametrize("name", DEPENDENT)
def test_what_depends_on_a_held_value_is_left_as_it_is(name):
    with double_precision():
        x = np.random.default_rng(0).normal(size=6)
        assert without_shifts(DEPENDENT[name], x) is DEPENDENT[name]


def test_plain_formulas_are_left_as_they_are():
    with double_precision():
        square = lambda x: x**2
        assert without_shifts(square, np.ones(3)) is square
