"""Finite differences against exact derivatives: inside, at bounds, with noise."""

import numpy as np
import pytest

from bezierflow.objectives import Differences

EVERYWHERE = np.full(3, -np.inf), np.full(3, np.inf)
X = np.array([[0.3, -0.4, 1.2], [1.0, 2.0, -0.5]])


def values(x):
    return np.stack(
        [np.sin(x[:, 0]) * x[:, 1] + x[:, 2] ** 3, np.exp(0.5 * x[:, 0] * x[:, 2])], axis=1
    )


def gradients(x):
    e = np.exp(0.5 * x[:, 0] * x[:, 2])
    first = np.stack([np.cos(x[:, 0]) * x[:, 1], np.sin(x[:, 0]), 3 * x[:, 2] ** 2], axis=1)
    return np.stack(
        [first, np.stack([0.5 * x[:, 2] * e, 0 * e, 0.5 * x[:, 0] * e], axis=1)], axis=1
    )


def hessians(x):
    e, H = np.exp(0.5 * x[:, 0] * x[:, 2]), np.zeros((len(x), 2, 3, 3))
    H[:, 0, 0, 0], H[:, 0, 0, 1], H[:, 0, 2, 2] = (
        -np.sin(x[:, 0]) * x[:, 1],
        np.cos(x[:, 0]),
        6 * x[:, 2],
    )
    H[:, 1, 0, 0], H[:, 1, 2, 2] = 0.25 * x[:, 2] ** 2 * e, 0.25 * x[:, 0] ** 2 * e
    H[:, 1, 0, 2] = 0.5 * e * (1 + 0.5 * x[:, 0] * x[:, 2])
    return H + np.swapaxes(np.triu(H, 1), -1, -2)


def differences(lower=EVERYWHERE[0], upper=EVERYWHERE[1], relative_noise=1.2e-16):
    return Differences(np.ones(3), lower, upper, relative_noise)


def test_derivatives_inside():
    np.testing.assert_allclose(differences().gradients(values, X), gradients(X), atol=1e-9)
    np.testing.assert_allclose(differences().hessians(values, X), hessians(X), atol=3e-6)
    np.testing.assert_allclose(
        differences().hessians_of_gradients(gradients, X), hessians(X), atol=1e-9
    )


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_no_point_leaves_the_bounds(side):
    bounds = {"lower": EVERYWHERE[0], "upper": EVERYWHERE[1]} | {side: X[0]}
    seen = []

    def watched(x):
        seen.append(x)
        return values(x)

    found = differences(**bounds)
    np.testing.assert_allclose(found.gradients(watched, X[:1]), gradients(X[:1]), atol=3e-9)
    np.testing.assert_allclose(found.hessians(watched, X[:1]), hessians(X[:1]), atol=3e-3)
    points = np.concatenate(seen)
    assert (points >= bounds["lower"]).all()
    assert (points <= bounds["upper"]).all()


@pytest.mark.parametrize("sigma", [0.0, 1e-10, 1e-6, 1e-3])
def test_noise_is_found(sigma):
    rng = np.random.default_rng(0)

    def noisy(x):
        return values(x) * (1 + sigma * rng.standard_normal((len(x), 2)))

    found = differences().measured(noisy, X[0]).noise
    assert sigma / 3 <= found <= 3 * sigma + 1e-15


def test_noise_of_single_precision():
    def single(x):
        return values(x.astype(np.float32)).astype(np.float32).astype(float)

    assert 1e-9 < differences().measured(single, X[0]).noise < 1e-6


def test_steps_grow_with_noise_and_gradients_stay_as_exact_as_they_can_be():
    rng, sigma = np.random.default_rng(1), 1e-6

    def noisy(x):
        return values(x) * (1 + sigma * rng.standard_normal((len(x), 2)))

    error = np.abs(differences(relative_noise=sigma).gradients(noisy, X) - gradients(X)).max()
    too_small = np.abs(differences().gradients(noisy, X) - gradients(X)).max()
    assert error < 20 * sigma ** (2 / 3) < too_small


def test_scales_are_found_from_curvatures():
    scale = np.array([1e3, 1.0, 1e-4])

    def scaled(x):
        return np.stack([1 + ((x / scale) ** 2).sum(axis=1)], axis=1)

    found = differences().measured(scaled, np.zeros(3))
    assert np.all(np.abs(np.log10(found.scale / scale)) < 0.5)
