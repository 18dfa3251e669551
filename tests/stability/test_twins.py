"""Twin runs: they are the flow's own runs, with one example exchanged and nothing else."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import bezierflow as bf
from bezierflow.bezier import design_matrix
from bezierflow.precision import double_precision
from bezierflow.stability import Exchange, Setting, empirical_stability, run_many, samples_of_run

PROBLEM = bf.problems.Quadratic.random(2, 2, seed=1)
K, N, DEGREE = 6, 8, 2
ROUNDING = 1e-14
METHODS = {
    "gradient descent": bf.GradientDescent(lambda k: 0.3 / k),
    "adam": bf.Optax(optax.adam(0.1)),
}


def study(method):
    surface = bf.BezierSimplex.constant(np.zeros(2), 2, DEGREE)
    return Setting(bf.lift(method, DEGREE, bf.Uniform(N)), PROBLEM, surface, K)


@pytest.mark.parametrize("name", METHODS)
def test_a_run_with_nothing_exchanged_is_the_run_of_minimize(name):
    setting = study(METHODS[name])
    with double_precision():
        P = np.asarray(run_many(setting, jax.random.key(5)[None], Exchange.none(1, 2)))
    expected = bf.minimize(
        PROBLEM, np.zeros(2), replace(setting.flow, n_iterations=K), seed=5
    ).pareto_set.control_points
    np.testing.assert_allclose(P[0], expected, rtol=1e-12, atol=1e-12)


def test_a_twin_is_the_closed_form_run_with_one_example_exchanged():
    setting = study(METHODS["gradient descent"])
    new = np.array([0.9, 0.1])
    with double_precision():
        key = jax.random.key(7)
        exchange = Exchange(np.array([3]), np.array([2]), new[None])
        path = np.asarray(run_many(setting, key[None], exchange, whole=True))[0]
        t = np.array(samples_of_run(setting, key))
    t[2, 2] = new
    P = np.zeros((3, 2))
    for k in range(K):
        np.testing.assert_allclose(path[k], P, atol=1e-10)
        Z = design_matrix(t[k], DEGREE)
        away = (Z @ P)[:, None, :] - PROBLEM.centers
        G = np.einsum("nm,nml->nl", t[k], 2 * np.einsum("mij,nmj->nmi", PROBLEM.matrices, away))
        P = P - 0.3 / (k + 1) * np.linalg.lstsq(Z, G)[0]
    np.testing.assert_allclose(path[K], P, atol=1e-10)


def test_what_is_measured_is_what_it_says():
    setting = study(METHODS["gradient descent"])
    with double_precision():
        keys = jax.random.split(jax.random.key(1), 3)
        twins = empirical_stability(
            setting, Exchange.random(np.array([2, 6, 4, 6, 1, 3]), N, 2), keys=keys
        )
        t = np.asarray(samples_of_run(setting, keys[1]))
    apart = twins.control_points - twins.control_points_twin
    np.testing.assert_allclose(twins.distance, np.linalg.norm(apart, axis=(1, 2)))
    np.testing.assert_array_equal(twins.control_points[:3], twins.ends)
    np.testing.assert_array_equal(twins.control_points[3:], twins.ends)
    assert np.all(twins.sup_loss <= twins.sup_move + ROUNDING)  # the reverse triangle inequality
    assert np.all(twins.sup_move <= twins.distance + ROUNDING)  # U = 1
    assert np.all(twins.rms <= twins.sup_move + ROUNDING)
    assert twins.distance[1] > 1e-6
    # The second twin's own example, the loss of both surfaces there.
    seen = t[5, twins.exchange.position[1]]
    both = [
        bf.BezierSimplex(P[1], 2, DEGREE)(seen)
        for P in (twins.control_points, twins.control_points_twin)
    ]
    losses = [np.linalg.norm(np.asarray(x) - np.asarray(PROBLEM.pareto_map(seen))) for x in both]
    assert twins.at_example[1] == pytest.approx(losses[0] - losses[1], abs=1e-12)


def test_an_example_exchanged_for_itself_changes_nothing():
    setting = study(METHODS["gradient descent"])
    with double_precision():
        keys = jnp.stack([jax.random.key(7)] * 2)
        t = np.asarray(samples_of_run(setting, keys[0]))
        exchange = Exchange(np.array([0, 4]), np.array([0, 1]), np.stack([t[0, 0], t[3, 1]]))
        P = np.asarray(run_many(setting, keys, exchange))
    np.testing.assert_array_equal(P[0], P[1])


def test_a_method_that_runs_in_python_is_refused():
    with pytest.raises(TypeError, match="flow must have a method that JAX can trace"):
        study(bf.SciPy("BFGS"))
