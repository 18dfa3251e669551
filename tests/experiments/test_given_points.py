"""The instances of the authors' earlier paper."""

import numpy as np
import pytest
from experiments.given_points import (
    INSTANCES,
    birthwt_as_in_the_text,
    birthwt_squares,
    location,
    skeleton,
)

from experiments import given_points

PUBLISHED_WEIGHTS = np.array([0.3745401188473625, 0.5761741875625537, 0.04928569359008383])
PUBLISHED_MINIMIZER = [0.03706417, 0.11303564, 0.05822655, 0.15951539, -0.08842766, 0.13591622]
"""The first row of `data/Birthwt6.csv,n_10000,…,s_42,…` in github.com/rafcc/aaai-20.1534, to eight
digits."""


def mse(name, method, degree, size, n_trials=3):
    return np.mean(
        [
            given_points._scores(INSTANCES[name](), method, degree, size, seed)["mse"]
            for seed in range(n_trials)
        ]
    )


def test_the_problem_is_the_one_of_the_published_data():
    np.testing.assert_allclose(
        birthwt_squares().pareto_map(PUBLISHED_WEIGHTS), PUBLISHED_MINIMIZER, atol=1e-6
    )
    assert (
        np.abs(
            np.asarray(birthwt_as_in_the_text().pareto_map(PUBLISHED_WEIGHTS)) - PUBLISHED_MINIMIZER
        ).max()
        > 0.05
    )


@pytest.mark.parametrize(
    ("method", "degree", "published"),
    [
        ("all-at-once", 2, 2.8219e-4),
        ("all-at-once", 3, 8.5007e-5),
        ("inductive skeleton", 2, 1.6110e-3),
    ],
)
def test_fits_to_2000_points_are_as_good_as_published(method, degree, published):
    assert mse("group lasso", method, degree, 2000) == pytest.approx(published, rel=0.05)
    assert mse("group lasso, as in the text", method, degree, 2000) != pytest.approx(
        published, rel=0.2
    )


def test_a_flow_is_as_good_as_the_best_fit_without_any_point():
    flow = given_points._scores(INSTANCES["group lasso"](), "M(Newton), fixed nodes", 3, 0, 0)
    assert flow["mse"] == pytest.approx(mse("group lasso", "all-at-once", 3, 2000), rel=0.05)
    assert flow["jacobians"] < 100


def test_the_location_problem_is_a_flat_triangle():
    t = np.random.default_rng(0).dirichlet(np.ones(3), 5)
    np.testing.assert_allclose(location().pareto_map(t)[:, :3], t, atol=1e-12)
    exact = INSTANCES["location"]()._replace(noise=0.0)
    surface = skeleton(exact, 2, 250, 0)
    np.testing.assert_allclose(np.asarray(surface(t)), location().pareto_map(t), atol=1e-10)
