"""IGD+ and hypervolume, against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.metrics import hypervolume, igd_plus


@given(st.integers(1, 20), st.integers(1, 20), st.integers(2, 4), st.integers(0, 1000))
@settings(deadline=None, max_examples=50)
def test_igd_plus_against_its_definition(n, k, n_objectives, seed):
    rng = np.random.default_rng(seed)
    front, reference = rng.normal(size=(n, n_objectives)), rng.normal(size=(k, n_objectives))
    short = np.linalg.norm(np.maximum(front - reference[:, None], 0), axis=2)
    np.testing.assert_allclose(
        igd_plus(front, reference), short.min(axis=1).mean(), rtol=1e-12, atol=1e-15
    )


@given(st.integers(1, 8), st.integers(2, 4), st.integers(0, 1000))
@settings(deadline=None, max_examples=50)
def test_hypervolume_by_inclusion_and_exclusion(n, n_objectives, seed):
    front = np.random.default_rng(seed).uniform(size=(n, n_objectives))
    total = 0.0
    for subset in range(1, 2**n):
        members = [i for i in range(n) if subset >> i & 1]
        total -= (-1) ** len(members) * np.prod(1.2 - front[members].max(axis=0))
    np.testing.assert_allclose(hypervolume(front, np.full(n_objectives, 1.2)), total, rtol=1e-9)


def test_points_beyond_the_reference_count_for_nothing():
    assert hypervolume([[1.0, 1.0], [0.0, 5.0]], [2.0, 2.0]) == 1
    assert hypervolume([[3.0, 3.0]], [2.0, 2.0]) == 0


@pytest.mark.parametrize(
    ("metric", "arguments", "message"),
    [
        (hypervolume, ([[0.0, 0.0]], [1.0]), "reference must be one finite point of 2 objectives"),
        (hypervolume, ([[0.0, 0.0]], [1.0, np.inf]), "reference must be one finite point"),
        (hypervolume, ([[0.0, np.nan]], [1.0, 1.0]), "front must be finite, but row 0"),
        (igd_plus, ([[0.0, 0.0]], [[1.0, 1.0, 1.0]]), "reference must have 2 columns"),
        (igd_plus, ([], [[1.0]]), "front must be a matrix"),
    ],
)
def test_misuse_is_named(metric, arguments, message):
    with pytest.raises(ValueError, match=message):
        metric(*arguments)
