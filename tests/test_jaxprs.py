"""Degrees of polynomials, as operations tell them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.jaxprs import degree

A = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]])
POLYNOMIALS = {
    "a constant": (lambda x: jnp.ones(2), 0),
    "linear": (lambda x: jnp.concatenate([x[1:] / 2, -A @ x]), 1),
    "a quadratic form": (lambda x: x @ A @ x - jnp.sum(x), 2),
    "squares in a call": (lambda x: jax.jit(lambda y: jnp.sum((y - 1) ** 2))(x), 2),
    "entries that are set": (lambda x: jnp.square(jnp.zeros(4).at[jnp.array([0, 2, 3])].set(x)), 2),
    "a product of three": (lambda x: x[0] * x[1] * x[2], 3),
}
OTHERS = {
    "a root": lambda x: jnp.sqrt(x @ x),
    "an absolute value": lambda x: jnp.abs(x),
    "a choice by x": lambda x: jnp.where(x > 0, x, 2 * x),
    "a divisor": lambda x: 1 / x,
    "an index by x": lambda x: x[jnp.argmax(x)],
    "whole numbers": lambda x: x.astype(int) * 1.0,
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_have_their_degree(name):
    function, expected = POLYNOMIALS[name]
    assert degree(jax.make_jaxpr(function)(np.zeros(3))) == expected


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_polynomial_has_none(name):
    assert degree(jax.make_jaxpr(OTHERS[name])(np.zeros(3))) == np.inf
