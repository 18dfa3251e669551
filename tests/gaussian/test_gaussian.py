"""Gaussian processes against closed forms in plain NumPy: derivatives, posterior, paths, files."""

import jax
import numpy as np
import pytest

from bezierflow.gaussian import (
    Fit,
    Parameters,
    condition,
    covariances,
    describe_posterior,
    fit,
    fit_from_dict,
    fit_to_dict,
    mean_path,
    means,
    restore_posterior,
    sample_paths,
    stds,
)
from bezierflow.gaussian.fitting import NOISE, negative_log_density
from bezierflow.gaussian.kernels import correlation, correlation_and_slope
from bezierflow.precision import double_precision


def data(n: int = 12, noise: float = 0.0):
    rng = np.random.default_rng(0)
    u = rng.random((n, 2))
    y = np.stack([np.sin(3 * u[:, 0]) + u[:, 1], (u[:, 0] - u[:, 1]) ** 2], axis=1)
    return u, y + noise * rng.standard_normal(y.shape)


def some_fits() -> tuple[Fit, Fit]:
    theta = np.array([[-0.5, 0.2, 0.3, -9.0, 0.1], [-0.3, 0.1, 0.4, -8.0, -0.2]])
    return Fit(0, theta), Fit(1, theta)


def by_hand(u, y, one: Fit, v):
    """Posterior mean and covariance of one process by solving the normal equations."""
    lengths, variance, nugget, level = np.exp(one.best[:2]), *np.exp(one.best[2:4]), one.best[4]

    def k(a, b):
        s = (((a[:, None] - b[None]) / lengths) ** 2).sum(axis=2)
        return variance * correlation_and_slope(s, one.kind)[0]

    K = k(u, u) + (nugget + 1e-9 * variance) * np.eye(len(u))
    return level + k(v, u) @ np.linalg.solve(K, y - level), k(v, v) - k(v, u) @ np.linalg.solve(
        K, k(u, v)
    )


def test_kernels_have_two_derivatives_also_where_points_meet_and_kinds_are_mixed():
    function = lambda x, kind: correlation(jax.numpy.sum(x**2), kind)
    # as in a posterior whose objectives have different kernels
    hessians = jax.vmap(jax.hessian(function), (None, 0))
    with double_precision():
        at_zero, beside = (np.asarray(hessians(np.full(2, x), np.arange(2))) for x in (0.0, 1e-5))
    expected = -np.array([1.0, 5 / 3])[:, None, None] * np.eye(2)  # 2 k'(0)
    np.testing.assert_allclose(at_zero, expected, atol=1e-12)
    np.testing.assert_allclose(beside, expected, atol=1e-3)


@pytest.mark.parametrize("kind", [0, 1])
def test_the_density_has_the_gradient_that_it_says(kind):
    u, y = data()
    squares = (u.T[:, :, None] - u.T[:, None, :]) ** 2
    theta, h = np.array([-0.4, 0.3, 0.2, -5.0, 0.1]), 1e-6
    value = lambda theta: negative_log_density(theta, squares, y[:, 0], kind, NOISE["auto"])
    slope = [(value(theta + h * e)[0] - value(theta - h * e)[0]) / (2 * h) for e in np.eye(5)]
    np.testing.assert_allclose(value(theta)[1], slope, rtol=1e-5, atol=1e-6)


def test_the_posterior_is_that_of_the_normal_equations_whatever_it_is_filled_up_with():
    (u, y), fits = data(), some_fits()
    v = np.random.default_rng(1).random((7, 2))
    posterior = condition(u, y, Parameters.of(fits), np.zeros(2), np.ones(2))
    assert len(posterior.points) == 64
    for m, one in enumerate(fits):
        mean, covariance = by_hand(u, y[:, m], one, v)
        np.testing.assert_allclose(means(posterior, v)[:, m], mean, atol=1e-8)
        np.testing.assert_allclose(covariances(posterior, v)[m], covariance, atol=1e-8)
        np.testing.assert_allclose(
            stds(posterior, v)[:, m], np.sqrt(np.diag(covariance)), atol=1e-7
        )
    posterior = condition(u, y, Parameters.of(fits), np.array([0.1, 7e3]), np.array([0.3, 1e-3]))
    again = restore_posterior(describe_posterior(posterior))
    for name in ("factor", "alpha", "values"):
        np.testing.assert_array_equal(getattr(again, name), getattr(posterior, name))


def test_paths_have_the_moments_of_the_posterior_and_its_mean_is_one_without_waves():
    (u, y), fits = data(), some_fits()
    posterior = condition(u, y, Parameters.of(fits), np.zeros(2), np.ones(2))
    v = np.array([[0.5, 0.5], [0.95, 0.02]])

    def values(paths):
        with double_precision():
            each = jax.vmap(lambda h, a: jax.vmap(lambda w: paths(w, h, a))(v))
            return np.asarray(each(jax.numpy.asarray(paths.height), jax.numpy.asarray(paths.alpha)))

    np.testing.assert_allclose(values(mean_path(posterior))[0], means(posterior, v), atol=1e-10)
    drawn = np.concatenate(
        [values(sample_paths(posterior, 100, np.random.default_rng(seed))) for seed in range(4)]
    )
    np.testing.assert_allclose(drawn.mean(axis=0), means(posterior, v), atol=0.03)
    # waves, finitely many of them, know the kernel to some percent of the prior
    ratio = drawn.std(axis=0) / stds(posterior, v)
    assert ((ratio > 0.75) & (ratio < 1.7)).all()


def test_noise_is_learned_and_fits_survive_json_to_the_last_bit():
    import json

    u, exact = data(30)
    _, noisy = data(30, noise=0.2)
    nugget = {}
    for name, y in (("exact", exact), ("noisy", noisy)):
        fits = fit(u, (y - y.mean(axis=0)) / y.std(axis=0), "auto")
        nugget[name] = [
            np.exp(one.best[3] / 2) * spread
            for one, spread in zip(fits, y.std(axis=0), strict=True)
        ]
    assert max(nugget["exact"]) < 0.01
    np.testing.assert_allclose(nugget["noisy"], 0.2, rtol=0.5)
    again = fit_from_dict(json.loads(json.dumps(fit_to_dict(fits[0]))))
    assert again.kind == fits[0].kind
    np.testing.assert_array_equal(again.theta, fits[0].theta)
