"""The bounds on real runs: none is violated by a twin, and the paper's not more often than ε allows."""

import jax
import numpy as np
import optax
import pytest

import bezierflow as bf
from bezierflow.bezier.design import design_matrix
from bezierflow.precision import double_precision
from bezierflow.stability import (
    PaperBounds,
    curvature,
    curvature_bounds,
    empirical_stability,
    lipschitz,
    loss_for,
    sharper_bounds,
    smallest_eigenvalue_law,
    trace,
)

PROBLEM = bf.problems.ScaledMED()
K, N, DEGREE, EPSILON = 12, 14, 2, 0.2
ROUNDING = 1e-12
RUNS = 20


def setting(method, problem=PROBLEM):
    flow = bf.lift(method, DEGREE, bf.Uniform(N)).for_objectives(3)
    return flow, bf.BezierSimplex.constant(np.full(problem.n_variables, 0.3), 3, DEGREE)


@pytest.fixture(scope="module")
def gradient_descent():
    """Independent runs, three twins each: exchanged early, midway and last."""
    with double_precision():
        flow, surface = setting(bf.GradientDescent(lambda k: 1 / k))
        keys = jax.random.split(jax.random.key(0), RUNS)
        k = np.repeat([1, 6, 12], RUNS)
        twins = empirical_stability(flow, PROBLEM, surface, K, loss_for(PROBLEM, flow), k, keys=keys)
        traces = [trace(flow, PROBLEM, surface, key, K) for key in keys]
    return flow, twins, traces


def test_the_papers_bound_fails_no_more_often_than_epsilon(gradient_descent):
    _, twins, traces = gradient_descent
    law = smallest_eigenvalue_law(3, DEGREE, N, n_draws=20_000)
    eta, zeta = law.eta(EPSILON, K), law.zeta(EPSILON, K)
    violated = np.zeros(RUNS)
    for j, distance in enumerate(twins.distance):
        run = traces[j % RUNS]
        mu = lipschitz(PROBLEM, run.control_points[:-1], run.t, DEGREE) * 1.2  # room for the twin's own path
        bound = float(PaperBounds(mu, N, eta, zeta).divergence(K, int(twins.k[j])))
        violated[j % RUNS] += distance > bound
    assert np.mean(violated > 0) <= EPSILON


def test_the_sharper_bounds_hold_on_every_twin(gradient_descent):
    flow, twins, traces = gradient_descent
    slack = []
    for j in range(RUNS):
        run = traces[j]
        mu = lipschitz(PROBLEM, run.control_points[:-1], run.t, DEGREE) * 1.2
        sharper, curved = sharper_bounds(run, PROBLEM, mu), curvature_bounds(run, flow, PROBLEM, within=(2.0, 6.0))
        for i in (j, j + RUNS, j + 2 * RUNS):
            k = int(twins.k[i])
            assert twins.distance[i] <= float(sharper.divergence(k)) + ROUNDING
            assert twins.distance[i] <= float(curved.divergence(k)) + ROUNDING
            assert twins.rms[i] <= float(curved.rms(k)) + ROUNDING
            assert twins.sup_loss[i] <= min(float(sharper.stability()), float(curved.stability())) + ROUNDING
            if k == K:
                slack.append(float(curved.rms(k)) / twins.rms[i])
    assert np.min(slack) < 100  # a bound that is nowhere near what happens would prove little


def test_the_curvature_bound_is_far_below_the_papers(gradient_descent):
    flow, _, traces = gradient_descent
    law = smallest_eigenvalue_law(3, DEGREE, N, n_draws=20_000)
    run = traces[0]
    sharper, curved = sharper_bounds(run, PROBLEM), curvature_bounds(run, flow, PROBLEM)
    paper = PaperBounds(sharper.mu, N, law.eta(EPSILON, K), law.zeta(EPSILON, K))
    assert float(curved.divergence(K)) < float(sharper.divergence(K)) < float(paper.divergence(K, K))


def test_the_sharper_bound_carries_over_to_newton():
    """The proofs only use |A_t(x) − x| ≤ α μ, which any method without state has: for Newton on quadratics |x − x*| ≤ μ."""
    with double_precision():
        flow, surface = setting(bf.Newton(0.8))
        keys = jax.random.split(jax.random.key(3), 8)
        twins = empirical_stability(flow, PROBLEM, surface, K, loss_for(PROBLEM, flow), [K] * 8, keys=keys)
        for key, distance in zip(keys, twins.distance, strict=True):
            run = trace(flow, PROBLEM, surface, key, K)
            farthest = max(
                np.linalg.norm(design_matrix(t, DEGREE) @ P - PROBLEM.pareto_map(t), axis=1).max()
                for P, t in zip(run.control_points, run.t, strict=False)
            )
            curved = curvature_bounds(run, flow, PROBLEM, within=(1.0, 1.0))  # Newton's displacement has derivative 1
            assert distance <= float(sharper_bounds(run, PROBLEM, 1.5 * farthest).divergence(K)) + ROUNDING
            assert distance <= float(curved.divergence(K)) + ROUNDING


def test_the_region_of_a_run_is_measured_at_its_points(gradient_descent):
    _, _, traces = gradient_descent
    run = traces[0]
    largest = 0.0
    for P, t in zip(run.control_points, run.t, strict=False):
        x = design_matrix(t, DEGREE) @ P
        away = x[:, None, :] - np.array([[0.0, 1, 1], [1, 0, 1], [1, 1, -1]])
        gradients = 2 * np.array([[1.0, 3, 2], [2, 1, 3], [3, 2, 1]]) * away
        largest = max(largest, np.linalg.norm(gradients, axis=-1).max())
    assert lipschitz(PROBLEM, run.control_points[:-1], run.t, DEGREE) == pytest.approx(largest)
    least, most = curvature(PROBLEM, run.control_points[:-1], run.t, DEGREE)
    assert 2 < least < most < 6


def test_objectives_without_gradients_are_refused(gradient_descent):
    _, _, traces = gradient_descent
    run = traces[0]
    with pytest.raises(ValueError, match="objectives must have gradients where the run goes, finite and not all 0"):
        lipschitz(lambda x: jax.numpy.round(x), run.control_points[:-1], run.t, DEGREE)
    with pytest.raises(ValueError, match=r"the largest found is (inf|nan)"):
        lipschitz(lambda x: jax.numpy.sqrt(x - x), run.control_points[:-1], run.t, DEGREE)


def test_nothing_is_proved_for_a_method_with_state():
    flow, surface = setting(bf.Optax(optax.adam(0.1)))
    with pytest.raises(TypeError, match="flow must lift GradientDescent"), double_precision():
        trace(flow, PROBLEM, surface, jax.random.key(0), K)
