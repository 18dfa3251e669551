"""Kernels and hyperparameters against closed forms, finite differences and SciPy's densities."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from bezierflow.gaussian import NOISE, correlation, correlation_and_slope, fit, negative_log_density
from bezierflow.precision import double_precision

KINDS = ("rbf", "matern52")
THETA = np.array([-0.4, 0.3, 0.2, -5.0, 0.1])
DISTANCES = np.array([1e-6, 0.01, 0.3, 1.0, 4.0, 30.0])


def raw(n=12, noise=0.0):
    """Two functions at random points of the square."""
    rng = np.random.default_rng(0)
    u = rng.random((n, 2))
    y = np.stack([np.sin(3 * u[:, 0]) + u[:, 1], (u[:, 0] - u[:, 1]) ** 2], axis=1)
    return u, y + noise * rng.standard_normal(y.shape)


def data(n=12, noise=0.0):
    """The same, standardized."""
    u, y = raw(n, noise)
    return u, (y - y.mean(axis=0)) / y.std(axis=0)


def squares(u):
    return (u.T[:, :, None] - u.T[:, None, :]) ** 2


def density(theta, kind, m=0, noise="auto", u_and_y=None):
    u, y = u_and_y or data()
    return negative_log_density(theta, u, y[:, m], kind, NOISE[noise])


@cache
def fitted(noise="auto", n=12, added=0.0):
    u, y = data(n, added)
    return fit(u, y, noise)


def best(one):
    return one.theta[KINDS.index(one.kind)]


def test_kernels_have_two_derivatives_also_where_points_meet_and_kinds_are_mixed():
    function = lambda x, kind: correlation(jnp.sum(x**2), kind)
    # as in a posterior whose objectives have different kernels
    hessians = jax.vmap(jax.hessian(function), (None, 0))
    with double_precision():
        at_zero, beside = (np.asarray(hessians(np.full(2, x), np.arange(2))) for x in (0.0, 1e-5))
    expected = -np.array([1.0, 5 / 3])[:, None, None] * np.eye(2)  # 2 k'(0)
    np.testing.assert_allclose(at_zero, expected, atol=1e-12)
    np.testing.assert_allclose(beside, expected, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_of_kernels_are_those_of_finite_differences(kind):
    k = lambda s: correlation_and_slope(s, kind)[0]
    slope = lambda s: correlation_and_slope(s, kind)[1]
    h = 1e-5 * DISTANCES
    differences = (k(DISTANCES + h) - k(DISTANCES - h)) / (2 * h)
    np.testing.assert_allclose(slope(DISTANCES), differences, rtol=1e-4, atol=1e-9)
    number = jnp.asarray(KINDS.index(kind))
    with double_precision():
        s = jnp.asarray(DISTANCES)
        value, first, second = (
            np.asarray(jax.vmap(function)(s))
            for function in (
                lambda s: correlation(s, number),
                jax.grad(lambda s: correlation(s, number)),
                jax.grad(jax.grad(lambda s: correlation(s, number))),
            )
        )
    np.testing.assert_allclose(value, k(DISTANCES), rtol=1e-12)
    np.testing.assert_allclose(first, slope(DISTANCES), rtol=1e-12)
    differences = (slope(DISTANCES + h) - slope(DISTANCES - h)) / (2 * h)
    np.testing.assert_allclose(second, differences, rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_are_correlations(kind):
    """1 at distance 0, falling, and positive definite."""
    assert correlation_and_slope(np.zeros(1), kind)[0] == 1
    k, slope = correlation_and_slope(DISTANCES, kind)
    assert (slope < 0).all()
    assert ((k > 0) & (k < 1)).all()
    u = np.random.default_rng(1).random((20, 2))
    gram = correlation_and_slope(squares(u).sum(axis=0) / 0.3**2, kind)[0]
    assert np.linalg.eigvalsh(gram).min() > 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", NOISE)
def test_the_density_has_the_gradient_that_it_says(kind, noise):
    h = 1e-6
    slope = [
        (
            density(THETA + h * e, kind, noise=noise)[0]
            - density(THETA - h * e, kind, noise=noise)[0]
        )
        / (2 * h)
        for e in np.eye(5)
    ]
    np.testing.assert_allclose(density(THETA, kind, noise=noise)[1], slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_density_is_likelihood_times_priors_up_to_a_constant(kind):
    u, y = data()

    def by_scipy(theta):
        lengths, (variance, nugget), level = np.exp(theta[:2]), np.exp(theta[2:4]), theta[4]
        s = (squares(u) / lengths[:, None, None] ** 2).sum(axis=0)
        K = variance * correlation_and_slope(s, kind)[0] + (nugget + 1e-9 * variance) * np.eye(12)
        likelihood = multivariate_normal(np.full(12, level), K).logpdf(y[:, 0])
        prior = norm(np.sqrt(2) + np.log(2) / 2, np.sqrt(3)).logpdf(theta[:2]).sum()
        prior += norm(1, 3).logpdf(theta[2]) + norm(0, 2).logpdf(theta[4])
        mixture = np.logaddexp(*(norm(mean, 3).logpdf(theta[3]) for mean in NOISE["auto"]))
        return likelihood + prior + mixture

    other = THETA + np.array([0.3, -0.5, 0.4, 2.0, -0.3])
    difference = density(other, kind)[0] - density(THETA, kind)[0]
    assert difference == pytest.approx(by_scipy(THETA) - by_scipy(other), rel=1e-9)


def test_fits_are_optima_that_are_no_worse_than_their_starts():
    for m, one in enumerate(fitted()):
        for kind, theta in zip(KINDS, one.theta, strict=True):
            end, gradient = density(theta, kind, m)
            for nugget in (-14.0, -6.0):
                start = np.array([*np.full(2, np.log(0.5) + np.log(2) / 2), 0.0, nugget, 0.0])
                assert end <= density(start, kind, m)[0]
            assert np.abs(gradient).max() < 0.05
            around = [
                density(theta + step, kind, m)[0]
                for step in 0.1 * np.vstack([np.eye(5), -np.eye(5)])
            ]
            assert min(around) > end


def test_the_kernel_is_the_one_with_the_larger_density():
    for m, one in enumerate(fitted()):
        densities = [
            density(theta, kind, m)[0] for kind, theta in zip(KINDS, one.theta, strict=True)
        ]
        assert KINDS[int(np.argmin(densities))] == one.kind


def test_a_former_fit_is_a_start_so_that_fits_get_no_worse():
    u, y = data()
    # a poor optimum elsewhere does no harm, and a good one is kept
    for former in (fitted(), tuple(one._replace(theta=one.theta + 1.0) for one in fitted())):
        again = fit(u, y, former=former)
        for m, (new, old) in enumerate(zip(again, fitted(), strict=True)):
            assert density(best(new), new.kind, m)[0] <= density(best(old), old.kind, m)[0] + 1e-9


def test_functions_are_fitted_one_by_one():
    u, y = data()
    for m, one in enumerate(fitted()):
        (alone,) = fit(u, y[:, [m]])
        assert alone.kind == one.kind
        np.testing.assert_array_equal(alone.theta, one.theta)


def test_a_variable_without_effect_gets_a_long_length_scale():
    u, _ = data(20)
    y = np.sin(5 * u[:, :1])
    (one,) = fit(u, (y - y.mean()) / y.std())
    assert best(one)[1] > best(one)[0] + np.log(5)


def test_noise_is_learned():
    def deviation(added):
        scale = raw(30, added)[1].std(axis=0)
        return scale * [np.exp(best(one)[3] / 2) for one in fitted("auto", 30, added)]

    assert deviation(0.0).max() < 0.01
    np.testing.assert_allclose(deviation(0.2), 0.2, rtol=0.5)


def test_the_prior_of_noise_is_what_the_user_says():
    nuggets = np.array(
        [[best(one)[3] for one in fitted(noise)] for noise in ("none", "auto", "some")]
    )
    assert (np.diff(nuggets, axis=0)[1] > -1e-6).all()
    assert (nuggets[2] > nuggets[0] + 1).all()


def test_values_that_are_all_the_same_are_fitted():
    u, _ = data()
    (one,) = fit(u, np.zeros((12, 1)))
    assert np.isfinite(one.theta).all()
    assert best(one)[4] == pytest.approx(0.0, abs=1e-6)
