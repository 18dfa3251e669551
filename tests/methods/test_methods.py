"""Every single-objective method, on its own, before any lifting."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import optimistix as optx
import pytest

import bezierflow as bf
from bezierflow import methods
from bezierflow.precision import double_precision
from bezierflow.scalarizations import Scalarized

CENTER = np.array([1.0, -2.0, 0.5])
CURVATURE = np.array([1.0, 4.0, 2.0])


def quadratic(x):
    return jnp.sum(CURVATURE * (x - CENTER) ** 2)


def composite(t):
    """|x − c|² with weight t_1 and |x|_1 with weight t_2: solved by soft thresholding."""
    problem = bf.problems.Composite(
        smooth=lambda x: jnp.array([jnp.sum((x - CENTER) ** 2), 0.0]),
        nonsmooth=lambda x: jnp.array([0.0, jnp.sum(jnp.abs(x))]),
        prox=lambda x, w: jnp.sign(x) * jnp.maximum(jnp.abs(x) - w[1], 0.0),
    )
    return Scalarized(problem, bf.WeightedSum(), jnp.asarray(t))


EXAMPLES = {
    "GradientDescent": (bf.GradientDescent(0.1), 200),
    "Newton": (bf.Newton(), 2),
    "Optax": (bf.Optax(optax.adam(0.1)), 500),
    "Optimistix": (bf.Optimistix(optx.BFGS(1e-10, 1e-10), n_steps=20), 2),
    "SciPy": (bf.SciPy("L-BFGS-B", n_steps=30), 2),
}


def test_every_exported_method_has_an_example():
    exported = {name for name in methods.__all__ if not name.startswith("Abstract")}
    exported.remove("Evaluations")
    assert exported == {*EXAMPLES, "ProximalGradient"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_method_finds_the_minimizer_of_a_quadratic(name):
    method, steps = EXAMPLES[name]
    with double_precision():
        x = jnp.zeros(3)
        state = method.init(x)
        step = (
            (lambda x, state: method.step(quadratic, x, state))
            if method.runs_on_host
            else jax.jit(lambda x, state: method.step(quadratic, x, state))
        )
        for _ in range(steps):
            x, state = step(x, state)
        count = method.evaluations(state)
    np.testing.assert_allclose(np.asarray(x), CENTER, atol=1e-4)
    assert sum(int(c) for c in count) >= 1


def test_gradient_descent_counts_iterations_from_one():
    with double_precision():
        method = bf.GradientDescent(lambda k: 1 / k)
        x, k = method.step(
            lambda x: 0.5 * jnp.sum((x - 3.0) ** 2), jnp.zeros(2), method.init(jnp.zeros(2))
        )
    # with step size 1 the first step lands on the minimizer
    np.testing.assert_allclose(x, 3.0, rtol=1e-14)
    assert int(k) == 2


def test_newton_descends_where_the_hessian_is_indefinite():
    saddle = lambda x: x[0] ** 2 - x[1] ** 2 + 0.1 * x[1] ** 4
    with double_precision():
        x = jnp.array([1.0, 0.1])
        moved, _ = jax.jit(lambda x: bf.Newton(step_size=0.5).step(saddle, x, jnp.asarray(1)))(x)
        assert saddle(moved) < saddle(x)
        assert moved[1] > x[1]  # away from the saddle, where plain Newton would go


def test_newton_stays_finite_where_the_hessian_is_zero():
    with double_precision():
        moved, _ = jax.jit(lambda x: bf.Newton().step(jnp.sum, x, jnp.asarray(1)))(np.zeros(2))
    np.testing.assert_allclose(moved, -1.0)


def test_proximal_gradient_solves_the_lasso_where_the_answer_is_known():
    with double_precision():
        t = np.array([0.4, 0.6])
        objective = composite(t)
        method = bf.ProximalGradient(0.5)
        x = jnp.zeros(3)
        state = method.init(x)
        step = jax.jit(lambda x, state: method.step(objective, x, state))
        for _ in range(200):
            x, state = step(x, state)
    threshold = t[1] / (2 * t[0])
    np.testing.assert_allclose(
        x, np.sign(CENTER) * np.maximum(np.abs(CENTER) - threshold, 0), atol=1e-10
    )
    assert x[2] == 0.0  # exactly on the kink, where no gradient method stays


def test_optax_method_is_optax():
    optimizer = optax.sgd(0.05, momentum=0.9)
    with double_precision():
        x = y = jnp.zeros(3)
        method = bf.Optax(optimizer)
        state, own = method.init(x), optimizer.init(y)
        for _ in range(5):
            x, state = method.step(quadratic, x, state)
            updates, own = optimizer.update(jax.grad(quadratic)(y), own, y)
            y = optax.apply_updates(y, updates)
    np.testing.assert_array_equal(x, y)


def test_scipy_counts_what_scipy_evaluated():
    with double_precision():
        method = bf.SciPy("trust-exact", n_steps=5)
        _, state = method.step(quadratic, jnp.zeros(3), method.init(jnp.zeros(3)))
    count = method.evaluations(state)
    assert count.objective >= 1
    assert count.jacobian >= 1
    assert count.hessian >= 1


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: bf.GradientDescent(0.0), ValueError, "step_size must be a finite number above 0"),
        (lambda: bf.GradientDescent(-1), ValueError, "-1"),
        (
            lambda: bf.Newton(floor=2.0),
            ValueError,
            "floor must be a number strictly between 0 and 1, got 2.0",
        ),
        (lambda: bf.Optax("adam"), TypeError, "optimizer must be an optax optimizer"),
        (lambda: bf.Optimistix("bfgs"), TypeError, "minimiser must be an optimistix minimiser"),
        (
            lambda: bf.Optimistix(optx.BFGS(1e-8, 1e-8), n_steps=0),
            ValueError,
            "n_steps must be a whole number of at least 1, got 0",
        ),
        (
            lambda: bf.SciPy(n_steps=0),
            ValueError,
            "n_steps must be a whole number of at least 1, got 0",
        ),
    ],
)
def test_bad_settings_are_named(unchecked, make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_proximal_gradient_says_what_the_problem_lacks():
    with double_precision(), pytest.raises(TypeError, match="Composite"):
        bf.ProximalGradient(0.1).step(quadratic, jnp.zeros(3), jnp.asarray(1))
