"""Posteriors, paths drawn from them and posterior means, against closed forms in plain NumPy."""

from dataclasses import replace
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow import Names
from bezierflow.bezier import Raveling
from bezierflow.gaussian import (
    PosteriorMean,
    above_zero,
    condition,
    correlation_and_slope,
    covariances,
    fit_posterior,
    mean_path,
    means,
    sample_paths,
    stds,
)
from bezierflow.precision import double_precision

HYPERPARAMETERS = {
    "lengths": np.array([[0.6, 1.2], [0.7, 1.1]]),
    "variance": np.array([1.3, 1.5]),
    "nugget": np.array([1e-4, 3e-4]),
    "level": np.array([0.1, -0.2]),
    "kind": np.array([0, 1]),
}
EXACT = {**HYPERPARAMETERS, "nugget": np.full(2, 1e-9)}
UNITS = np.zeros(2), np.ones(2)
ELSEWHERE = np.random.default_rng(1).random((7, 2))


def data(n=12):
    u = np.random.default_rng(0).random((n, 2))
    return u, np.stack([np.sin(3 * u[:, 0]) + u[:, 1], (u[:, 0] - u[:, 1]) ** 2], axis=1)


@cache
def posterior():
    return condition(*data(), HYPERPARAMETERS, *UNITS)


@cache
def exact():
    return condition(*data(), EXACT, *UNITS)


def by_hand(u, y, v, m):
    """Posterior mean and covariance of one process by solving the normal equations."""
    lengths, variance, nugget, level, kind = (one[m] for one in HYPERPARAMETERS.values())

    def k(a, b):
        s = (((a[:, None] - b[None]) / lengths) ** 2).sum(axis=2)
        return variance * correlation_and_slope(s, ("rbf", "matern52")[kind])[0]

    K = k(u, u) + (nugget + 1e-9 * variance) * np.eye(len(u))
    mean = level + k(v, u) @ np.linalg.solve(K, y[:, m] - level)
    return mean, k(v, v) - k(v, u) @ np.linalg.solve(K, k(u, v))


# 12 points are filled up to 64 rows, and 70 points to 128
@pytest.mark.parametrize(("n", "rows"), [(12, 64), (70, 128)])
def test_the_posterior_is_that_of_the_normal_equations_whatever_it_is_filled_up_with(n, rows):
    u, y = data(n)
    found = condition(u, y, HYPERPARAMETERS, *UNITS)
    assert len(found.points) == rows
    for m in range(2):
        mean, covariance = by_hand(u, y, ELSEWHERE, m)
        np.testing.assert_allclose(means(found, ELSEWHERE)[:, m], mean, atol=1e-8)
        np.testing.assert_allclose(covariances(found, ELSEWHERE)[m], covariance, atol=1e-8)
        deviation = np.sqrt(np.diag(covariance))
        np.testing.assert_allclose(stds(found, ELSEWHERE)[:, m], deviation, atol=1e-6)


def test_without_noise_the_posterior_interpolates():
    u, y = data()
    np.testing.assert_allclose(means(exact(), u), y, atol=1e-5)
    assert stds(exact(), u).max() < 1e-3 * stds(exact(), ELSEWHERE).max()


def test_far_from_all_points_the_posterior_is_the_prior():
    short = {**HYPERPARAMETERS, "lengths": np.full((2, 2), 0.01)}
    found = condition(*data(), short, *UNITS)
    corner = np.array([[2.0, -1.0]])
    np.testing.assert_allclose(means(found, corner)[0], short["level"])
    np.testing.assert_allclose(stds(found, corner)[0], np.sqrt(short["variance"]))


def test_repeated_noisy_evaluations_average():
    """k evaluations at one point have the precision of one with a k-th of the noise."""
    u, y = np.full((4, 2), 0.3), np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [2.0, 3.0]])
    noisy = {**HYPERPARAMETERS, "nugget": np.array([0.5, 2.0])}
    found = condition(u, y, noisy, *UNITS)
    v, nugget = noisy["variance"], noisy["nugget"] / 4
    weight = v / (v + nugget)
    level = noisy["level"]
    expected = level + weight * (y.mean(axis=0) - level)
    np.testing.assert_allclose(means(found, u[:1])[0], expected, rtol=1e-6)
    np.testing.assert_allclose(stds(found, u[:1])[0] ** 2, v * nugget / (v + nugget), rtol=1e-6)


def test_an_evaluation_more_makes_nothing_less_certain():
    u, y = data()
    more = np.vstack([u, [0.9, 0.1]]), np.vstack([y, [5.0, -5.0]])
    after = stds(condition(*more, HYPERPARAMETERS, *UNITS), ELSEWHERE)
    assert (after <= stds(posterior(), ELSEWHERE) + 1e-9).all()
    # uncertainty does not depend on values, only on where they are
    other = condition(more[0], -3 * more[1], HYPERPARAMETERS, *UNITS)
    np.testing.assert_array_equal(stds(other, ELSEWHERE), after)


def test_covariances_are_those_of_a_distribution():
    K = covariances(posterior(), ELSEWHERE)
    np.testing.assert_allclose(K, K.transpose(0, 2, 1), atol=1e-12)
    assert np.linalg.eigvalsh(K).min() > -1e-9
    deviations = np.sqrt(np.diagonal(K, axis1=1, axis2=2)).T
    np.testing.assert_allclose(stds(posterior(), ELSEWHERE), deviations, rtol=1e-5)


@pytest.mark.parametrize("at_data", [False, True])
def test_derivatives_of_the_mean_are_those_of_finite_differences(at_data):
    u = data()[0][3] if at_data else np.array([0.4, 0.7])
    with double_precision():
        slope = np.asarray(jax.jacfwd(posterior().mean)(u))
        curvature = np.asarray(jax.jacfwd(jax.jacfwd(posterior().mean))(u))
    h = 1e-4
    steps = h * np.vstack([np.eye(2), -np.eye(2)])
    values = means(posterior(), np.vstack([u, u + steps]))
    np.testing.assert_allclose(slope, (values[1:3] - values[3:5]).T / (2 * h), atol=1e-4)
    second = (values[1:3] + values[3:5] - 2 * values[0]).T / h**2
    np.testing.assert_allclose(np.diagonal(curvature, axis1=1, axis2=2), second, atol=0.02)


def test_units_of_values_do_not_matter():
    u, y = data()
    fits, found = fit_posterior(u, y)
    # powers of two, so that standardized values are the same to the last bit
    again, other = fit_posterior(u, y * [1024.0, 0.25])
    for one, same in zip(fits, again, strict=True):
        assert one.kind == same.kind
        np.testing.assert_array_equal(one.theta, same.theta)
    np.testing.assert_allclose(means(other, ELSEWHERE), means(found, ELSEWHERE) * [1024.0, 0.25])
    np.testing.assert_allclose(stds(other, ELSEWHERE), stds(found, ELSEWHERE) * [1024.0, 0.25])


def test_a_former_fit_is_taken_as_it_is_on_demand():
    u, y = data()
    fits, found = fit_posterior(u, y)
    kept, same = fit_posterior(u, y, former=fits, effort="none")
    assert all(one is other for one, other in zip(kept, fits, strict=True))
    np.testing.assert_array_equal(same.factor, found.factor)
    # fewer evaluations with the same hyperparameters, as in a search that was restored
    _, fewer = fit_posterior(u[:8], y[:8], former=fits, effort="none")
    np.testing.assert_array_equal(fewer.lengths, found.lengths)
    assert fewer.is_point.sum() == 8


@pytest.mark.parametrize("level", [0.0, 5.0, -1e9])
def test_an_objective_that_is_constant_has_a_constant_mean(level):
    u, y = data()
    _, found = fit_posterior(u, np.column_stack([y[:, 0], np.full(12, level)]))
    size = max(abs(level), 1.0)
    np.testing.assert_allclose(means(found, ELSEWHERE)[:, 1], level, atol=1e-6 * size)
    assert np.isfinite(stds(found, ELSEWHERE)).all()


def path_values(paths, v):
    with double_precision():
        each = jnp.asarray(paths.height), jnp.asarray(paths.alpha)
        return np.asarray(jax.vmap(lambda *path: paths.at_rows(v, *path)[0].T)(*each))


def moments(posterior, v):
    """Mean and covariance at points over 800 paths."""
    draws = [sample_paths(posterior, 100, np.random.default_rng(seed)) for seed in range(8)]
    values = np.concatenate([path_values(one, v) for one in draws])
    away = values - values.mean(axis=0)
    return values.mean(axis=0), np.einsum("pim,pjm->mij", away, away) / len(away)


def test_paths_have_the_mean_and_the_covariance_of_the_posterior():
    # beside the data: finitely many Fourier features know the kernel to some percent of the prior
    v = np.array([[1.4, 0.3], [1.1, 1.6]])
    mean, covariance = moments(posterior(), v)
    np.testing.assert_allclose(mean, means(posterior(), v), atol=0.1)
    np.testing.assert_allclose(covariance, covariances(posterior(), v), atol=0.08)
    assert covariances(posterior(), v)[:, 0, 0].min() > 0.16
    inside = np.array([[0.5, 0.5], [0.95, 0.02]])
    mean, covariance = moments(posterior(), inside)
    np.testing.assert_allclose(mean, means(posterior(), inside), atol=0.01)


def test_paths_have_the_covariance_of_the_prior_where_nothing_was_evaluated():
    far_off = np.array([[40.0, 40.0]])
    prior = condition(far_off, np.zeros((1, 2)), HYPERPARAMETERS, *UNITS)
    v = np.array([[0.2, 0.2], [0.5, 0.7]])
    mean, covariance = moments(prior, v)
    np.testing.assert_allclose(mean, np.broadcast_to(HYPERPARAMETERS["level"], (2, 2)), atol=0.1)
    np.testing.assert_allclose(covariance, covariances(prior, v), atol=0.25)


def test_paths_without_noise_go_through_the_evaluations():
    u, y = data()
    values = path_values(sample_paths(exact(), 100, np.random.default_rng(0)), u)
    np.testing.assert_allclose(values, np.broadcast_to(y, values.shape), atol=2e-3)


def test_the_mean_is_a_path_without_features():
    np.testing.assert_allclose(
        path_values(mean_path(posterior()), ELSEWHERE)[0], means(posterior(), ELSEWHERE), atol=1e-10
    )


NAMES = Names(
    ("cost", "gain"),
    ("a", "b", "c"),
    directions=("minimize", "maximize"),
    transforms=("log10", "", ""),
).complete(2, 3)


@cache
def posterior_mean(calibration=2.5):
    """a from 0.01 to 100 by its logarithm, b fixed, c from −1 to 3."""
    found = condition(*data(), HYPERPARAMETERS, np.array([0.1, 7e3]), np.array([0.3, 1e-3]))
    box = np.array([-2.0, -1.0]), np.array([4.0, 4.0])
    return PosteriorMean(
        found, *box, np.asarray(calibration), (0, 2), Raveling.of(np.zeros(3)), NAMES
    )


def test_a_posterior_mean_takes_designs_and_gives_values_as_people_see_them():
    mean, posterior = posterior_mean(), posterior_mean().posterior
    x = np.array([10.0, 5.0, 0.0])
    u = np.array([[0.75, 0.25]])
    with double_precision():
        np.testing.assert_allclose(mean.place(x), u[0])
        np.testing.assert_allclose(mean(x), means(posterior, u)[0] * [1, -1])
        slope = np.asarray(jax.jacfwd(mean)(x))
    assert (slope[:, 1] == 0).all()  # b is fixed
    assert (mean.n_objectives, mean.n_variables) == (2, 3)


def test_calibration_multiplies_standard_deviations():
    x = np.array([[10.0, 5.0, 0.0], [0.02, 5.0, 2.0]])
    u = np.array([[0.75, 0.25], [(np.log10(0.02) + 2) / 4, 0.75]])
    expected = 2.5 * stds(posterior_mean().posterior, u)
    np.testing.assert_allclose(posterior_mean().std(x, batch_axes=1), expected, rtol=1e-9)
    np.testing.assert_allclose(posterior_mean().std(x[0]), expected[0], rtol=1e-9)
    np.testing.assert_array_equal(
        posterior_mean(1.0).std(x, batch_axes=1) * 2.5, posterior_mean().std(x, batch_axes=1)
    )


def test_what_is_described_is_restored_to_the_last_bit():
    mean = posterior_mean()
    manifest, arrays = mean.describe()
    assert {name: len(arrays[name]) for name in ("points", "values")} == {
        "points": 12,
        "values": 12,
    }
    again = PosteriorMean.restore(manifest, arrays, mean.raveling, mean.names)
    for name in ("points", "is_point", "values", "factor", "alpha", "shift", "scale", "kind"):
        np.testing.assert_array_equal(
            getattr(again.posterior, name), getattr(mean.posterior, name), strict=True
        )
    assert (again.free, again.names) == (mean.free, mean.names)
    x = np.array([1.0, 5.0, 1.0])
    np.testing.assert_array_equal(again.std(x), mean.std(x))


def test_values_that_cannot_be_negative_are_bent_away_from_zero_in_their_order():
    own = condition(*data(), HYPERPARAMETERS, np.zeros(2), np.array([2.0, 1e3]))
    values = np.stack([np.linspace(-8, 8, 1001)] * 2, axis=1)
    bent = above_zero(values, own, (True, False))
    np.testing.assert_array_equal(bent[:, 1], values[:, 1])
    assert (bent[:, 0] > 0).all()
    assert (np.diff(bent[:, 0]) > 0).all()  # so no design gains or loses its place in the front
    np.testing.assert_allclose(bent[:, 0], np.maximum(values[:, 0], 0), atol=1e-3)
    np.testing.assert_allclose(bent[values[:, 0] > 1, 0], values[values[:, 0] > 1, 0], rtol=1e-6)


def test_a_posterior_mean_keeps_what_cannot_be_negative():
    mean = replace(posterior_mean(), nonnegative=(True, False))
    again = PosteriorMean.restore(*mean.describe(), mean.raveling, NAMES)
    x = np.array([10.0, 5.0, 0.0])
    with double_precision():
        assert np.asarray(again(x)).tobytes() == np.asarray(mean(x)).tobytes()
        low = replace(mean, posterior=replace(mean.posterior, shift=np.array([-9.0, -9.0])))
        first, second = np.asarray(low(x))
    assert 0 < first < 1e-3  # −9 or so
    assert second > 1  # maximized, with its own sign
