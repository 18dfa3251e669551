"""Leverage sampling: the law of the draws, their weights, unbiased refits."""

import jax
import numpy as np
import pytest
from scipy import stats

import bezierflow as bf
from bezierflow.bezier import design_matrix
from bezierflow.precision import double_precision
from bezierflow.simplex import Leverage, gauss_nodes, n_controls
from bezierflow.stability import expected_gram, gram_root


def leverage(t, degree):
    """K(t) = z(t)ᵀΓ⁻¹z(t)."""
    Z = design_matrix(t, degree)
    return np.sum(Z @ np.linalg.inv(expected_gram(t.shape[1], degree)) * Z, axis=1)


def draws(sampler, M, n_draws):
    """The points and weights of many draws."""
    with double_precision():
        draw = jax.jit(jax.vmap(lambda key: sampler(key, M)))
        t, weights = draw(jax.random.split(jax.random.key(1), n_draws))
    return np.asarray(t), np.asarray(weights)


@pytest.mark.parametrize(("M", "degree"), [(1, 2), (2, 7), (3, 3), (5, 2)])
def test_the_weights_are_inverse_leverages_of_mean_one(M, degree):
    t, weights = draws(Leverage(500, True, degree), M, 1)
    np.testing.assert_allclose(weights[0] * leverage(t[0], degree), n_controls(M, degree))
    assert weights.mean() == pytest.approx(1, abs=5 * weights.std() / 500**0.5 + 1e-12)
    assert np.max(leverage(np.eye(M), degree)) == pytest.approx(n_controls(M, degree) ** 2)


@pytest.mark.parametrize("independent", [True, False])
def test_points_of_an_edge_have_the_density_of_the_leverage(independent):
    """Kolmogorov's test against its integral; of a joint draw only one point, as they repel."""
    degree, n_draws = 4, 4000
    t, _ = draws(Leverage(1, independent, degree), 2, n_draws)
    s, (x, w) = np.sort(t[:, 0, 0]), np.polynomial.legendre.leggauss(degree + 1)
    inner = s[:, None] * (1 + x) / 2
    K = leverage(np.column_stack([inner.ravel(), 1 - inner.ravel()]), degree).reshape(inner.shape)
    cdf = s * (K @ w) / 2 / n_controls(2, degree)
    assert stats.kstest(cdf, "uniform").pvalue > 1e-3
    assert stats.kstest(s, "uniform").pvalue < 1e-3


@pytest.mark.parametrize(("M", "degree"), [(2, 3), (3, 1)])
def test_joint_draws_make_the_refit_unbiased_and_independent_ones_do_not(M, degree):
    """With one point more than control points: the mean fit over draws is within five standard
    errors of the exact projection."""
    field = lambda t: np.exp(3 * t[..., 0]) * (1 + t[..., 1])
    nodes, N = gauss_nodes(M, 12), n_controls(M, degree) + 1
    Z = design_matrix(nodes.t, degree)
    projection = np.linalg.solve(expected_gram(M, degree), Z.T @ (nodes.weights * field(nodes.t)))
    z_scores = []
    for independent in (False, True):
        t, weights = draws(Leverage(N, independent, degree), M, 2000)
        Z = design_matrix(t.reshape(-1, M), degree).reshape(*t.shape[:2], -1)
        weighted = np.swapaxes(Z, 1, 2) * weights[:, None, :]
        # Weighted means over either kind of draw are means over the simplex.
        gram = weighted @ Z / N
        off = gram.mean(axis=0) - expected_gram(M, degree)
        assert np.abs(off / gram.std(axis=0)).max() * 2000**0.5 < 5
        fits = np.linalg.solve(weighted @ Z, weighted @ field(t)[..., None])[..., 0]
        away = (fits.mean(axis=0) - projection) / fits.std(axis=0)
        z_scores.append(np.abs(away).max() * 2000**0.5)
    assert z_scores[0] < 5
    assert z_scores[1] > 5


@pytest.mark.slow("4-1.0")
@pytest.mark.parametrize(("N", "least"), [(2, 0.4), (4, 1.0)])
def test_nearly_singular_draws_are_as_rare_as_the_lemma_says(N, least):
    """P(σ_min(Y)² ≤ s) falls at least like s^((N/D − n_c + 1)/2): exponents 1/2 and 3/2 for two
    objectives in degree 1."""
    t, weights = draws(Leverage(N, True, 1), 2, 100_000)
    Z = design_matrix(t.reshape(-1, 2), 1).reshape(*t.shape[:2], -1)
    Y = np.sqrt(weights)[..., None] * (Z @ np.linalg.inv(gram_root(2, 1)))
    smallest = np.linalg.svd(Y, compute_uv=False)[:, -1] ** 2
    levels = np.quantile(smallest, [1e-3, 1e-2])
    assert np.log(10) / np.log(levels[1] / levels[0]) > least


@pytest.mark.slow
def test_thirty_points_per_iteration_beat_a_hundred_uniform_ones():
    """The paper's Algorithm 2 on scaled-MED has an MSE of 5.9e-5 with 30 uniform points and of
    3.8e-5 with 100."""
    problem, nodes = bf.problems.ScaledMED(), gauss_nodes(3, 14)
    flow = bf.lift(bf.GradientDescent(lambda k: 1 / k), 3, Leverage(30), n_iterations=1000)
    surface = bf.minimize(problem, np.zeros(3), flow).pareto_set
    away = np.asarray(surface(nodes.t)) - np.asarray(problem.pareto_map(nodes.t))
    assert nodes.weights @ np.sum(away**2, axis=1) < 3.65e-5


def test_a_flow_fills_in_its_degree_and_outside_it_is_asked_for():
    flow = bf.lift(bf.GradientDescent(0.1), 2, Leverage(9)).for_objectives(3)
    assert flow.sampler.degree == 2
    with pytest.raises(ValueError, match=r"degree must be given .* Leverage\(30, degree=3\)"):
        Leverage(30)(jax.random.key(0), 3)
