"""Lifting: Algorithm 1, its special case Algorithm 2, and what happens to a method's state."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import optimistix as optx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bezierflow as bf
from bezierflow import methods
from bezierflow.bezier import design_matrix
from bezierflow.evaluations import Evaluations
from bezierflow.methods import AbstractMethod
from bezierflow.precision import double_precision
from bezierflow.simplex import n_controls, quadrature_nodes

PROBLEM = bf.problems.ScaledMED()


BEGIN = eqx.filter_jit(lambda flow, surface, key: flow.begin(surface, key))
DRAW = eqx.filter_jit(lambda flow, key, k, n_objectives: flow.draw(key, k, n_objectives)[0])
ITERATE = eqx.filter_jit(lambda flow, problem, state: flow.iterate(problem, state))
JACOBIANS = eqx.filter_jit(lambda problem, x: jax.vmap(jax.jacobian(problem))(x))


def sample_t(n=2000, n_objectives=3):
    return np.random.default_rng(7).dirichlet(np.ones(n_objectives), n)


@pytest.mark.parametrize(
    ("n_objectives", "degree", "n_variables"), [(2, 4, 1), (3, 3, 3), (4, 2, 5)]
)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_lifted_gradient_descent_is_the_closed_form_update(n_objectives, degree, n_variables, seed):
    """P^(k+1) = P^(k) − α (ZᵀZ)⁻¹ Zᵀ G, the update rule of Algorithm 2."""
    problem = bf.problems.Quadratic.random(n_objectives, n_variables, seed=seed)
    n_samples, alpha = 2 * n_controls(n_objectives, degree), 0.3
    with double_precision():
        flow = bf.lift(bf.GradientDescent(alpha), degree, bf.Uniform(n_samples)).for_objectives(
            n_objectives
        )
        P = jax.random.normal(jax.random.key(seed), (n_controls(n_objectives, degree), n_variables))
        state = BEGIN(flow, bf.BezierSimplex(P, n_objectives, degree), jax.random.key(seed + 1))
        stepped, _ = ITERATE(flow, problem, state)

        t = np.asarray(DRAW(flow, state.key, state.k, n_objectives))
        Z = design_matrix(t, degree)
        G = np.einsum("nml,nm->nl", np.asarray(JACOBIANS(problem, Z @ P)), t)
        expected = np.asarray(P) - alpha * np.linalg.solve(Z.T @ Z, Z.T @ G)
    np.testing.assert_allclose(stepped.surface.control_points, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.slow("100-3.7e-05")
@pytest.mark.parametrize(("n_samples", "expected"), [(30, 5.8e-5), (50, 4.4e-5), (100, 3.7e-5)])
def test_algorithm_2_reaches_the_papers_accuracy(n_samples, expected):
    """P = 0, D = 3, K = 1000, α = 1/k: the mean MSE over 20 seeds, as in the paper's first table,
    within 10 %."""
    flow = bf.lift(
        bf.GradientDescent(lambda k: 1 / k),
        degree=3,
        sampler=bf.Uniform(n_samples),
        n_iterations=1000,
    )
    t = sample_t(10_000)
    errors = [
        bf.metrics.mse(
            bf.minimize(PROBLEM, np.zeros(3), flow, seed=seed).pareto_set,
            PROBLEM,
            t,
        )
        for seed in range(20)
    ]
    assert abs(np.mean(errors) / expected - 1) < 0.1


def test_newton_at_the_default_nodes_reaches_the_degree_floor():
    solution = bf.minimize(PROBLEM, np.zeros(3), bf.lift(bf.Newton(), degree=3))
    assert bf.metrics.mse(solution.pareto_set, PROBLEM, sample_t(10_000)) < 1.02 * 3.33e-5
    assert solution.result.reason is bf.Reason.CONVERGED


LIFTED = {
    "GradientDescent": (bf.GradientDescent(0.2), 60, 1e-3),
    "Newton": (bf.Newton(), 5, 1e-4),
    "Optax": (bf.Optax(optax.adam(0.03)), 600, 1e-3),
    "Optimistix": (bf.Optimistix(optx.BFGS(1e-8, 1e-8), n_steps=20), 2, 1e-4),
    "SciPy": (bf.SciPy("L-BFGS-B", n_steps=30), 1, 1e-4),
}


def test_every_exported_method_is_lifted_here():
    exported = {name for name in methods.__all__ if not name.startswith("Abstract")} - {
        "Evaluations",
        "at_iteration",
    }
    assert exported == {*LIFTED, "ProximalGradient"}


@pytest.mark.parametrize("name", LIFTED)
def test_every_method_lifts(name):
    method, n_iterations, tolerance = LIFTED[name]
    solution = bf.minimize(
        PROBLEM, np.zeros(3), bf.lift(method, degree=3, n_iterations=n_iterations)
    )
    assert bf.metrics.mse(solution.pareto_set, PROBLEM, sample_t()) < tolerance
    assert solution.stats.iterations == n_iterations
    assert sum(solution.stats.evaluations) >= n_iterations * 25


def test_lifted_proximal_gradient_solves_the_lasso_at_every_weight():
    center = np.array([1.0, -2.0])
    problem = bf.problems.Composite(
        smooth=lambda x: jnp.array([jnp.sum((x - center) ** 2), 0.5 * jnp.sum(x**2)]),
        nonsmooth=lambda x: jnp.array([0.0, jnp.sum(jnp.abs(x))]),
        prox=lambda x, w: jnp.sign(x) * jnp.maximum(jnp.abs(x) - w[1], 0.0),
    )
    solution = bf.minimize(
        problem, np.zeros(2), bf.lift(bf.ProximalGradient(0.4), degree=12, n_iterations=100)
    )
    t = bf.simplex.grid(2, 20)
    # Stationarity of t1 |x−c|² + t2 (|x|²/2 + |x|_1), coordinate by coordinate.
    exact = (
        np.sign(center)
        * np.maximum(2 * t[:, :1] * np.abs(center) - t[:, 1:], 0)
        / (2 * t[:, :1] + t[:, 1:])
    )
    # a kink costs a polynomial this much
    assert np.sqrt(np.mean((np.asarray(solution.pareto_set(t)) - exact) ** 2)) < 0.02
    value = lambda x: np.sum(t * np.asarray(jax.vmap(problem)(x)), axis=1)
    assert np.max(value(np.asarray(solution.pareto_set(t))) - value(exact)) < 0.02


class HeavyBall(AbstractMethod):
    """Momentum the pointwise way: the velocity is a floating-point state, so lifting makes it a
    field over the simplex."""

    rate: float = eqx.field(static=True, default=0.02)
    decay: float = eqx.field(static=True, default=0.9)

    def init(self, x):
        return jnp.zeros_like(x)

    def step(self, objective, x, state):
        velocity = self.decay * state + jax.grad(objective)(x)
        return x - self.rate * velocity, velocity

    def evaluations(self, state):
        return Evaluations(jacobian=1)


def test_momentum_is_the_same_as_a_field_and_on_control_points():
    """The two ways a state can live give one and the same method where the state is linear in past
    gradients."""
    run = lambda method: bf.minimize(
        PROBLEM, np.zeros(3), bf.lift(method, 3, bf.Uniform(40), n_iterations=50), seed=3
    )
    as_field, on_control_points = run(HeavyBall()), run(bf.Optax(optax.sgd(0.02, momentum=0.9)))
    np.testing.assert_allclose(
        as_field.pareto_set.control_points, on_control_points.pareto_set.control_points, atol=1e-9
    )


def test_momentum_has_the_closed_form_of_heavy_ball_on_control_points():
    n, rate, decay = 40, 0.02, 0.9
    with double_precision():
        flow = bf.lift(HeavyBall(rate, decay), 2, bf.Uniform(n)).for_objectives(3)
        state = BEGIN(flow, bf.BezierSimplex.constant(np.zeros(3), 3, 2), jax.random.key(0))
        P, V = np.zeros((6, 3)), np.zeros((6, 3))
        for _ in range(4):
            t = np.asarray(DRAW(flow, state.key, state.k, 3))
            state, _ = ITERATE(flow, PROBLEM, state)
            Z = design_matrix(t, 2)
            G = np.einsum("nml,nm->nl", np.asarray(JACOBIANS(PROBLEM, Z @ P)), t)
            V = decay * V + np.linalg.lstsq(Z, G)[0]
            P = P - rate * V
    np.testing.assert_allclose(state.surface.control_points, P, atol=1e-10)


def test_adam_keeps_a_positive_second_moment_under_fresh_samples():
    with double_precision():
        flow = bf.lift(bf.Optax(optax.adam(0.05)), 3, bf.Uniform(30)).for_objectives(3)
        state = BEGIN(flow, bf.BezierSimplex.constant(np.zeros(3), 3, 3), jax.random.key(0))
        step = jax.jit(lambda state: flow.iterate(PROBLEM, state)[0])
        for _ in range(50):
            state = step(state)
        second_moment = state.method_state[0].nu
        assert int(state.method_state[0].count) == 50
    assert second_moment.shape == (10, 3)
    assert np.all(np.asarray(second_moment) >= 0)


def test_fixed_nodes_make_the_run_independent_of_the_seed():
    flow = bf.lift(bf.GradientDescent(0.1), 2, bf.Fixed(quadrature_nodes(3, 2)), n_iterations=5)
    one, two = (bf.minimize(PROBLEM, np.zeros(3), flow, seed=seed) for seed in (0, 1))
    np.testing.assert_array_equal(one.pareto_set.control_points, two.pareto_set.control_points)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: bf.lift("gd"), TypeError, "method must be a single-objective method"),
        (lambda: bf.lift(optax.adam(0.1)), TypeError, r"wrapped as Optax"),
        (
            lambda: bf.lift(bf.Newton(), degree=0),
            ValueError,
            "degree must be a whole number of at least 1, got 0",
        ),
        (
            lambda: bf.lift(bf.Newton(), sampler=100),
            TypeError,
            "sampler must be a sampler such as Uniform",
        ),
        (
            lambda: bf.lift(bf.Newton(), 3, bf.Uniform(9)).for_objectives(3),
            ValueError,
            "n_samples=9 .* 10 control points",
        ),
        (lambda: bf.Uniform(0), ValueError, "n must be a whole number of at least 1, got 0"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_mistakes_are_named(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_every_iteration_of_every_run_draws_its_own_samples():
    """Keys that are counted up must neither repeat within a run nor meet those of the next seed."""
    flow = bf.lift(bf.GradientDescent(0.1), 2, bf.Uniform(8)).for_objectives(3)
    with double_precision():
        drawn = [
            np.asarray(DRAW(flow, jax.random.key(seed), np.asarray(k), 3))
            for seed in range(5)
            for k in range(1, 41)
        ]
        again = DRAW(flow, jax.random.key(3), np.asarray(7), 3)
    np.testing.assert_array_equal(again, drawn[3 * 40 + 6])
    every = np.concatenate(drawn)
    assert len(np.unique(every, axis=0)) == len(every)
    np.testing.assert_allclose(every.mean(axis=0), 1 / 3, atol=0.03)
    correlation = np.corrcoef([t.ravel() for t in drawn])[np.triu_indices(len(drawn), 1)]
    assert abs(correlation.mean()) < 0.02
