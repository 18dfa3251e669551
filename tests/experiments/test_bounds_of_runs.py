"""The bounds on real runs: none that is called proved is violated by a twin, and the paper's not
more often than ε allows."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from experiments.stability_bounds import (
    PaperBounds,
    residuals,
    residuals_of_quadratics,
    run_bounds,
    smallest_eigenvalue_law,
)

import bezierflow as bf
from bezierflow.bezier import design_matrix
from bezierflow.precision import double_precision
from bezierflow.simplex import grid
from bezierflow.stability import Exchange, Setting, empirical_stability, trace

PROBLEM = bf.problems.ScaledMED()
K, N, DEGREE, EPSILON = 12, 14, 2, 0.2
ROUNDING = 1e-12
RUNS = 20
CENTERS = np.array([[0.0, 1, 1], [1, 0, 1], [1, 1, -1]])
SCALES = 2 * np.array([[1.0, 3, 2], [2, 1, 3], [3, 2, 1]])
STEEPNESS, WIDTH = 2000.0, 0.005


def setting(method, problem=PROBLEM):
    surface = bf.BezierSimplex.constant(
        np.full(problem.n_variables, 0.3), problem.n_objectives, DEGREE
    )
    return Setting(bf.lift(method, DEGREE, bf.Uniform(N)), problem, surface, K)


@pytest.fixture(scope="module")
def gradient_descent():
    """Independent runs, five twins each: exchanged early, midway and last at random, and early and
    last for a vertex."""
    with double_precision():
        study = setting(bf.GradientDescent(lambda k: 1 / k))
        keys = jax.random.split(jax.random.key(0), RUNS)
        random = Exchange.random(np.repeat([1, 6, 12], RUNS), N, 3)
        zeros = np.zeros(2 * RUNS, dtype=int)
        vertices = Exchange(
            np.repeat([2, 12], RUNS), zeros, np.tile(np.eye(3)[[0, 1, 2, 0]], (RUNS // 2, 1))
        )
        twins = empirical_stability(study, random.followed_by(vertices), keys=keys)
        runs = [trace(study, key) for key in keys]
        return twins, runs, [run_bounds(run, PROBLEM) for run in runs]


def test_the_papers_bound_fails_no_more_often_than_epsilon(gradient_descent):
    twins, _, bounds = gradient_descent
    law = smallest_eigenvalue_law(3, DEGREE, N, n_draws=20_000)
    eta, zeta = law.eta(EPSILON, K), law.zeta(EPSILON, K)
    violated = np.zeros(RUNS)
    for j, distance in enumerate(twins.distance):
        paper = PaperBounds(bounds[j % RUNS].sharper.mu, N, eta, zeta)
        violated[j % RUNS] += distance > float(paper.divergence(K, int(twins.exchange.k[j])))
    assert np.mean(violated > 0) <= EPSILON


def test_the_proved_bounds_hold_on_every_twin(gradient_descent):
    """With the constants that the report uses, and no factor on top of them."""
    twins, _, bounds = gradient_descent
    slack = []
    for j, k in enumerate(twins.exchange.k):
        sharper, curved = bounds[j % RUNS].sharper, bounds[j % RUNS].curvature
        assert sharper.proved
        assert curved.proved
        assert twins.distance[j] <= float(sharper.divergence(int(k))) + ROUNDING
        assert twins.distance[j] <= float(curved.divergence(int(k))) + ROUNDING
        assert twins.rms[j] <= float(curved.rms(int(k))) + ROUNDING
        assert (
            twins.sup_loss[j]
            <= min(float(sharper.stability()), float(curved.stability())) + ROUNDING
        )
        if k == K:
            slack.append(float(curved.rms(int(k))) / twins.rms[j])
    assert np.min(slack) < 100  # a bound that is nowhere near what happens would prove little


def test_the_curvature_bound_is_far_below_the_papers(gradient_descent):
    _, _, bounds = gradient_descent
    law = smallest_eigenvalue_law(3, DEGREE, N, n_draws=20_000)
    sharper, curved = bounds[0].sharper, bounds[0].curvature
    paper = PaperBounds(sharper.mu, N, law.eta(EPSILON, K), law.zeta(EPSILON, K))
    assert (
        float(curved.divergence(K)) < float(sharper.divergence(K)) < float(paper.divergence(K, K))
    )


def test_the_constants_of_quadratics_hold_for_every_t(gradient_descent):
    """Against gradients written out, at the points of the run's surfaces over a fine grid and of a
    twin's."""
    twins, runs, bounds = gradient_descent
    run, mu = runs[0], bounds[0].sharper.mu
    t = grid(3, 30)
    Z, bounded = design_matrix(t, DEGREE), residuals_of_quadratics(run, PROBLEM)
    largest = 0.0
    for P, fitted, sup in zip(run.control_points, run.fitted(), bounded, strict=False):
        gradients = SCALES * ((Z @ P)[:, None, :] - CENTERS)
        largest = max(largest, np.linalg.norm(gradients, axis=-1).max())
        field = np.einsum("nm,nml->nl", t, gradients)
        found = np.linalg.norm(field - Z @ fitted, axis=-1).max()
        assert found <= sup * (1 + 1e-9) + ROUNDING
    assert found > sup / 3  # the last iteration's supremum is not far from its bound
    ends = [twins.control_points_twin[j] for j in range(0, len(twins.distance), RUNS)]
    at_twins = max(
        np.linalg.norm(SCALES * ((Z @ P)[:, None, :] - CENTERS), axis=-1).max() for P in ends
    )
    assert max(largest, at_twins) <= mu
    assert bounds[0].curvature.curvature == pytest.approx((2.0, 6.0))


def test_residuals_at_the_samples_are_those_of_the_fit(gradient_descent):
    _, runs, _ = gradient_descent
    run = runs[1]
    Z = design_matrix(run.t[3], DEGREE)
    G = np.einsum(
        "nm,nml->nl", run.t[3], SCALES * ((Z @ run.control_points[3])[:, None, :] - CENTERS)
    )
    left = G - Z @ np.linalg.lstsq(Z, G)[0]
    np.testing.assert_allclose(
        residuals(run, PROBLEM, run.t)[3], np.linalg.norm(left, axis=1), atol=1e-10
    )


def steep_at_one_vertex(x):
    """Smooth, convex and Lipschitz; f_1 is steep beyond 0.98 only, where few samples come."""
    steep = STEEPNESS * WIDTH * jax.nn.softplus((x[0] - 0.98) / WIDTH)
    return jnp.stack([jnp.sqrt(1 + (x[0] - 1) ** 2) + steep, jnp.sqrt(1 + x[0] ** 2)])


@pytest.mark.slow
def test_what_was_measured_is_not_called_proved():
    """A twin whose new example is a steep vertex moves beyond what the run's own samples suggest,
    in several of eight seeds."""
    n_surprised = 0
    with double_precision():
        flow = bf.lift(bf.GradientDescent(lambda k: 0.1 / k), 1, bf.Uniform(8))
        study = Setting(
            flow, steep_at_one_vertex, bf.BezierSimplex(np.array([[1.0], [0.0]]), 2, 1), 3
        )
        to_vertex = Exchange(np.array([3]), np.array([0]), np.array([[1.0, 0.0]]))
        slopes = jax.jit(jax.vmap(jax.jacobian(steep_at_one_vertex)))
        for seed in range(8):
            key = jax.random.key(seed)
            moved = empirical_stability(study, to_vertex, keys=key[None]).distance[0]
            run = trace(study, key)
            estimated = run_bounds(run, steep_at_one_vertex)
            assert not estimated.sharper.divergence(3).proved
            assert not estimated.curvature.divergence(3).proved
            given = run_bounds(
                run,
                steep_at_one_vertex,
                mu=STEEPNESS + 1,
                curvature=(0.0, STEEPNESS / WIDTH / 4 + 2),
            )
            for bound in (given.sharper.divergence(3), given.curvature.divergence(3)):
                assert bound.proved
                assert moved <= float(bound)
            seen = float(jnp.abs(slopes(_visited(run))).max())
            from_own_samples = float(
                run_bounds(run, steep_at_one_vertex, mu=seen).sharper.divergence(3)
            )
            n_surprised += moved > from_own_samples
    assert n_surprised >= 4


def _visited(run):
    return np.concatenate(
        [design_matrix(t, 1) @ P for t, P in zip(run.t, run.control_points, strict=False)]
    )


def test_the_constants_of_fonseca_are_known():
    problem = bf.problems.Fonseca(2)
    with double_precision():
        study = setting(bf.GradientDescent(0.3), problem)
        bounds = run_bounds(trace(study, jax.random.key(0)), problem)
        x = np.random.default_rng(0).normal(size=(2000, 2))
        slopes = np.linalg.norm(jax.vmap(jax.jacobian(problem))(x), axis=-1)
        curvatures = np.linalg.eigvalsh(np.asarray(jax.vmap(jax.hessian(problem))(x)))
    assert bounds.sharper.proved
    assert bounds.curvature.proved
    assert 0.99 * bounds.sharper.mu < slopes.max() <= bounds.sharper.mu
    least, most = bounds.curvature.curvature
    assert least <= curvatures.min() < 0.98 * least
    assert 0.98 * most < curvatures.max() <= most


def test_a_fit_that_interpolates_has_no_bound():
    """With as many samples as control points, taking one out leaves ZᵀZ singular: the new example
    may do anything."""
    with double_precision():
        surface = bf.BezierSimplex.constant(np.zeros(3), 3, DEGREE)
        study = Setting(
            bf.lift(bf.GradientDescent(0.1), DEGREE, bf.Uniform(6)), PROBLEM, surface, 2
        )
        bounds = run_bounds(trace(study, jax.random.key(0)), PROBLEM)
    assert float(bounds.sharper.growth(1)) == np.inf
    assert float(bounds.curvature.stability()) == np.inf


def test_objectives_without_gradients_are_refused():
    with double_precision():
        study = setting(bf.GradientDescent(0.1))
        run = trace(study, jax.random.key(0))
    with pytest.raises(
        ValueError, match="objectives must have gradients where the run goes, finite and not all 0"
    ):
        run_bounds(run, lambda x: jnp.round(x), curvature=(0.0, 1.0))
    with pytest.raises(ValueError, match=r"the largest found is (inf|nan)"):
        run_bounds(run, lambda x: jnp.sqrt(x - x), curvature=(0.0, 1.0))


@pytest.mark.parametrize("method", [bf.Optax(optax.adam(0.1)), bf.Newton()], ids=["adam", "newton"])
def test_bounds_are_for_gradient_descent(method):
    with pytest.raises(TypeError, match="flow must lift GradientDescent"), double_precision():
        trace(setting(method), jax.random.key(0))
