"""Values with noise up to a thousandth of the ranges: the set is found to a few times the noise, or
the run ends at once and says so."""

import numpy as np
import pytest

import bezierflow as bf


def exact(x):
    """The set is the line from 0.2 to 0.8, all variables equal."""
    return np.array([np.sum((x - 0.2) ** 2), np.sum((x - 0.8) ** 2)])


SPAN = 2 * 0.6**2
"""The range of each objective over the set, of two variables."""


def noisy(noise, offset):
    rng = np.random.default_rng(0)

    def objectives(x):
        x = np.array([float(value) for value in x])
        return (exact(x) + offset + noise * SPAN * rng.normal(size=2)).tolist()

    return objectives


@pytest.mark.parametrize(
    ("noise", "offset"),
    [
        (1e-3, 10.0),
        pytest.param(1e-3, 0.0, marks=pytest.mark.slow),
        pytest.param(1e-5, 10.0, marks=pytest.mark.slow),
    ],
)
def test_small_noise_is_survived(noise, offset):
    solution = bf.minimize(noisy(noise, offset), bounds=(np.zeros(2), np.ones(2)), budget=800)
    assert solution.made_by["chosen"].startswith("by values alone")
    front = np.array([exact(x) for x in np.asarray(solution.spread(50).X)]) / SPAN
    # On the front √f1 + √f2 = 1, whose roots would blow noise up; at an end, where one objective is
    # flat, noise of 1e-3 hides as much as 3e-2 of the other.
    u = np.linspace(0, 1, 2001)[:, None]
    excess = (front[:, None] - np.hstack([u**2, (1 - u) ** 2])).max(axis=2).min(axis=1)
    assert np.quantile(excess, 0.9) < 5e-3
    assert excess.max() < 3 * solution.error.front
    assert np.ptp(front, axis=0).min() > 0.9


def test_large_noise_is_refused_soon():
    calls, objectives = [], noisy(0.03, 1.0)
    solution = bf.minimize(
        lambda x: calls.append(1) or objectives(x), bounds=(np.zeros(2), np.ones(2)), budget=5000
    )
    assert solution.result.reason is bf.Reason.SUSPECT
    assert "noise" in solution.result.message
    assert len(calls) < 1000


@pytest.mark.parametrize("noise", [1e-5, 1e-4])
def test_without_bounds_what_is_noise_does_not_pass_for_an_unknown_distance(noise):
    """Displacements of 1e-3 of the diameter are noise of differences, and do not become less."""
    solution = bf.minimize(noisy(noise, 1.0), np.full(2, 0.4))
    assert solution.success
    assert solution.error.n_invalid == 0
    front = np.array([exact(x) for x in np.asarray(solution.spread(50).X)]) / SPAN
    assert np.abs(np.sqrt(front).sum(axis=1) - 1).max() < 0.05
    assert solution.error.front < 0.05
