"""Functions on the host inside of JAX's transformations."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.bezier import Raveling
from bezierflow.evaluations import Evaluations
from bezierflow.objectives import (
    Bridge,
    BudgetSpentError,
    JaxEvaluator,
    Objectives,
    raise_failures,
    read_function,
)
from bezierflow.precision import double_precision

X = np.array([[0.5, -0.3], [1.5, 0.2], [0.5, -0.3]])


def in_numpy(x):
    a, b = map(float, x)  # not traced
    return np.array([np.sin(a) * b, np.exp(a) + b**3])


def in_jax(x):
    return jnp.array([jnp.sin(x[0]) * x[1], jnp.exp(x[0]) + x[1] ** 3])


def jac(x):
    return np.array([[np.cos(x[0]) * x[1], np.sin(x[0])], [np.exp(x[0]), 3 * x[1] ** 2]])


def bridge(function=in_numpy, **parts):
    form = read_function(Objectives(function, **parts), Raveling.of(X[0]), X[0], "objectives")
    assert isinstance(form.flat, Bridge)
    return form.flat


@pytest.mark.slow("values")
@pytest.mark.parametrize("parts", [{}, {"jac": jac}], ids=["values", "jac"])
def test_jax_maps_compiles_and_differentiates_it(parts):
    f = bridge(**parts)
    with double_precision():
        np.testing.assert_array_equal(jax.jit(jax.vmap(f))(X), jax.vmap(in_jax)(X))
        np.testing.assert_allclose(
            jax.vmap(jax.jacrev(f))(X), jax.vmap(jax.jacrev(in_jax))(X), atol=1e-9
        )
        np.testing.assert_allclose(
            jax.jit(jax.jacfwd(f))(X[0]), jax.jacfwd(in_jax)(X[0]), atol=1e-9
        )
        np.testing.assert_allclose(
            jax.vmap(jax.hessian(f))(X), jax.vmap(jax.hessian(in_jax))(X), atol=1e-5
        )


def test_it_keeps_double_precision_in_a_loop_that_jax_runs_elsewhere():
    f = bridge(jac=jac)

    def descend(x, _):
        return x - 0.05 * jax.jacrev(f)(x)[0], x

    def compiled(x):
        return jax.lax.scan(descend, x, None, length=50)[1]

    with double_precision():
        path = np.asarray(jax.jit(compiled)(X[0]))
    x = X[0]
    for step in path:
        np.testing.assert_allclose(x, step, rtol=1e-12)
        x = x - 0.05 * jac(x)[0]


def test_a_point_is_evaluated_once():
    calls = []

    def counted(x):
        calls.append(x)
        return in_numpy(x)

    f = bridge(counted, jac=jac)
    calls.clear()
    JaxEvaluator(f, 2, 2).values(X)
    # two of the three points are equal, and the block is filled up with copies
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("parts", "costs"),
    [({}, [(1, 0, 0), (5, 0, 0), (11, 0, 0)]), ({"jac": jac}, [(1, 0, 0), (1, 1, 0), (1, 5, 0)])],
    ids=["values", "jac"],
)
def test_differences_count_as_what_they_evaluate(parts, costs):
    calls = {"values": 0, "jac": 0}

    def counted(name, function):
        def call(x):
            calls[name] += 1
            return function(x)

        return call

    for order, expected in enumerate(costs):
        f = bridge(counted("values", in_numpy), **{k: counted("jac", v) for k, v in parts.items()})
        calls.update(values=0, jac=0)
        evaluator = JaxEvaluator(f, 2, 2)
        (evaluator.values, evaluator.jacobians, evaluator.hessians)[order](X[:1])
        assert evaluator.evaluations == Evaluations(*expected)
        assert (calls["values"], calls["jac"]) == expected[:2]


def test_a_budget_counts_calls_of_the_function():
    with pytest.raises(BudgetSpentError):
        JaxEvaluator(bridge(), 2, 2, budget=10).hessians(X[:1])
    JaxEvaluator(bridge(), 2, 2, budget=11).hessians(X[:1])


def test_an_error_of_the_function_reaches_the_user():
    def fails(x):
        if x[0] > 1:
            raise LookupError("no such mesh")
        return in_numpy(x)

    f = bridge(fails)
    with pytest.raises(LookupError, match="no such mesh"):
        JaxEvaluator(f, 2, 2).values(X)
    with double_precision():
        assert np.isnan(jax.vmap(f)(X[1:2])).all()  # inside of a compiled program it waits
    with pytest.raises(LookupError, match="no such mesh"):
        raise_failures(f)
    raise_failures(f)
