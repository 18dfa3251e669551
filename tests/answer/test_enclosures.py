"""Enclosures hold for every argument of the set, and are as narrow as their degree promises."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import Primitive

from bezierflow.answer import Interval, Model, Unsupported, enclose
from bezierflow.bezier import design_matrix
from bezierflow.precision import double_precision
from bezierflow.simplex import n_controls

MATRIX = np.array([[1.0, -2.0, 0.5], [0.3, 0.7, -1.0]])

FUNCTIONS = {
    "products": lambda x: jnp.stack([x[0] * x[1] - x[2], x @ x, x[0] ** 5, (x[1] - 2) ** -2]),
    "matrices": lambda x: jnp.concatenate([MATRIX @ x, jnp.outer(x, x)[1], x[::-1]]) / (3 + x[0]),
    "exponents": lambda x: jnp.exp(x) + jnp.log1p(x + 2) + jnp.exp2(x) + jnp.expm1(-x),
    "roots": lambda x: jnp.sqrt(2 + x) + (x + 2) ** 1.3 + jax.lax.rsqrt(x + 2) + jnp.log(x + 2),
    "waves": lambda x: jnp.sin(3 * x) * jnp.cos(x) + jnp.sinh(x) + jnp.cosh(x),
    "sigmoids": lambda x: jnp.tanh(x) + jax.nn.sigmoid(x) + jax.nn.softplus(x) - 1 / (x - 2),
    "sums": lambda x: jnp.log(jnp.sum(jnp.exp(x))) + jnp.mean(x**2) + jnp.linalg.norm(x + 2),
}


def traced(function, derivatives):
    for _ in range(derivatives):
        function = jax.jacfwd(function)
    return jax.make_jaxpr(function)(np.zeros(3)), jax.jit(jax.vmap(function))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("derivatives", [0, 2])
def test_values_at_all_samples_and_corners_are_enclosed(name, derivatives):
    rng = np.random.default_rng(0)
    with double_precision():
        formula, evaluate = traced(FUNCTIONS[name], derivatives)
        for width in (0.4, 0.05):
            low = rng.uniform(-0.5, 0.5, (4, 3))
            found = enclose(formula, [Interval(low, low + width)])[0]
            shares = np.concatenate([rng.uniform(size=(60, 3)), rng.integers(0, 2, (20, 3))])
            for row in range(len(low)):
                true = np.asarray(evaluate(low[row] + width * shares)).reshape(len(shares), -1)
                slack = 1e-14 * (1 + np.abs(true))
                assert (true >= found.low[row] - slack).all()
                assert (true <= found.high[row] + slack).all()
            for M, degree in ((2, 4), (3, 3)):
                ramp = rng.uniform(-1, 1, (4, 3, n_controls(M, degree)))
                rest = np.full((4, 3), 1e-3 * width)
                x = Model(low[..., None] + width * ramp / 2, rest, M, degree)
                found = enclose(formula, [x])[0]
                t = np.concatenate([np.eye(M), rng.dirichlet(np.ones(M), 80 - M)])
                Z = design_matrix(t, degree)
                for row in range(len(low)):
                    away = rest[row] * rng.choice([-1.0, 1.0], (len(t), 3))
                    true = np.asarray(evaluate(Z @ x.net[row].T + away)).reshape(len(t), -1)
                    misses = np.abs(Z @ found.net[row].T - true)
                    assert (misses <= found.rest[row] + 1e-14 * (1 + np.abs(true))).all()


@pytest.mark.parametrize(
    ("name", "coefficients", "function"),
    [
        ("one_minus_square", [], lambda x: 1 - x**2),
        ("log2", [], lambda x: np.log2(x)),
        ("polynomial", [2.0, -1.0, 3.0], lambda x: 2 - x + 3 * x**2),
    ],
)
def test_operations_that_only_some_versions_of_jax_have(name, coefficients, function):
    operation = Primitive(name)
    operation.def_abstract_eval(lambda x, *others: x)
    a = [np.full(2, value) for value in coefficients]
    formula = jax.make_jaxpr(lambda x: operation.bind(x, *a))(np.ones(2, np.float32))
    low, high = np.array([[0.3, 0.7]]), np.array([[0.5, 0.9]])
    t = np.linspace(1, 0, 50)
    true = function(np.outer(t, low) + np.outer(1 - t, high))
    found = enclose(formula, [Interval(low, high)])[0]
    assert (true >= found.low - 1e-14).all()
    assert (true <= found.high + 1e-14).all()
    for degree in (1, 4):
        line = low[..., None] + 0.2 * np.linspace(0, 1, degree + 1)
        found = enclose(formula, [Model(line, np.zeros((1, 2)), 2, degree)])[0]
        Z = design_matrix(np.stack([1 - t, t], axis=1), degree)
        true = function(Z @ line[0].T)
        assert (np.abs(Z @ found.net[0].T - true) <= found.rest[0] + 1e-14).all()


def test_the_rest_of_a_model_falls_with_the_power_of_its_degree():
    with double_precision():
        formula, _ = traced(FUNCTIONS["sigmoids"], 1)
        ends = np.linspace(-1, 1, 6)  # control points of a straight line of degree 5
        rests = [
            enclose(formula, [Model(np.full((1, 3, 1), 0.3) + h * ends, np.zeros((1, 3)), 2, 5)])[0]
            for h in (0.2, 0.1)
        ]
    assert rests[1].rest.max() < rests[0].rest.max() / 2**5


def test_infinite_boxes_and_undefined_values():
    everything = Interval(np.full((1, 3), -np.inf), np.full((1, 3), np.inf))
    with double_precision():
        convex = jax.make_jaxpr(jax.hessian(lambda x: jnp.sum(jnp.cosh(x) + x**2)))(np.zeros(3))
        found = enclose(convex, [everything])[0].low.reshape(3, 3)
        assert (np.diag(found) >= 2 - 1e-12).all()
        for function in (jnp.log, jnp.sqrt, lambda x: 1 / x):
            formula = jax.make_jaxpr(function)(np.ones(3))
            box = Interval(np.full((1, 3), -0.1), np.full((1, 3), 1.0))
            assert np.isnan(enclose(formula, [box])[0].low).all()
            net = np.tile([-0.1, 1.0], (1, 3, 1))
            assert np.isnan(enclose(formula, [Model(net, np.zeros((1, 3)), 2, 1)])[0].rest).all()


def test_unknown_operations_are_named():
    with double_precision():
        formula = jax.make_jaxpr(lambda x: jax.lax.cummax(x))(np.zeros(3))
        with pytest.raises(Unsupported, match="cummax"):
            enclose(formula, [Interval(np.zeros((1, 3)), np.ones((1, 3)))])
