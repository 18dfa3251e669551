"""GD, IGD and both ways, against comparing all pairs; the MSE against the exact Pareto map."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.bezier import BezierSimplex
from bezierflow.metrics import gd, igd, mse, two_sided
from bezierflow.problems import ScaledMED, SkewMED

sets = st.tuples(
    st.integers(1, 30),
    st.integers(1, 30),
    st.sampled_from([1, 3, 12, 13, 20]),
    st.integers(0, 1000),
)

T = np.random.default_rng(0).dirichlet(np.ones(3), 200)


def draw(sizes):
    n, k, dimension, seed = sizes
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, dimension)), rng.normal(size=(k, dimension))


@given(sets)
@settings(deadline=None)
def test_against_all_pairs(sizes):
    x, y = draw(sizes)
    pairs = np.linalg.norm(x[:, None] - y, axis=2)
    there, back = pairs.min(axis=1), pairs.min(axis=0)
    np.testing.assert_allclose(gd(x, y), there.mean(), rtol=1e-12)
    np.testing.assert_allclose(igd(x, y), back.mean(), rtol=1e-12)
    found = two_sided(x, y)
    np.testing.assert_allclose(found.mean, max(there.mean(), back.mean()), rtol=1e-12)
    np.testing.assert_allclose(found.max, max(there.max(), back.max()), rtol=1e-12)


@given(sets)
@settings(deadline=None)
def test_igd_is_gd_the_other_way(sizes):
    x, y = draw(sizes)
    assert igd(x, y) == gd(y, x)
    assert two_sided(x, y) == two_sided(y, x)
    assert gd(x, x) == 0


def test_blocks_change_nothing(monkeypatch):
    x, y = draw((50, 40, 20, 0))
    whole = gd(x, y)
    monkeypatch.setattr("bezierflow.metrics.quality.BLOCK_ENTRIES", 100)
    assert gd(x, y) == whole


def test_by_hand():
    x, y = [[0.0, 0.0], [3.0, 4.0]], [[0.0, 0.0]]
    assert gd(x, y) == 2.5
    assert igd(x, y) == 0
    assert two_sided(x, y) == (2.5, 5.0)


@pytest.mark.parametrize("metric", [gd, igd, two_sided])
@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (
            np.zeros(3),
            np.zeros((1, 3)),
            "must be a matrix with one point per row, at least one, got shape",
        ),
        (np.zeros((0, 3)), np.zeros((1, 3)), "at least one"),
        (np.zeros((1, 3)), np.zeros((1, 2)), "must have 3 columns"),
        (np.zeros((1, 2)), np.array([[0.0, 0.0], [np.nan, 0.0]]), "must be finite, but row 1"),
    ],
)
def test_misuse_is_named(metric, x, y, message):
    with pytest.raises(ValueError, match=message):
        metric(x, y)


def test_the_exact_map_has_no_mse():
    assert mse(ScaledMED().pareto_map, ScaledMED(), T) == 0


def test_mse_against_its_definition():
    surface = BezierSimplex(np.random.default_rng(1).normal(size=(10, 3)), 3, 3)
    expected = np.mean(np.sum((surface(T) - ScaledMED().pareto_map(T)) ** 2, axis=1))
    np.testing.assert_allclose(mse(surface, ScaledMED(), T), expected, rtol=1e-13)


def test_a_constant_shift_is_its_squared_length():
    shifted = lambda t: ScaledMED().pareto_map(t) + np.array([1.0, 2.0, 2.0])
    np.testing.assert_allclose(mse(shifted, ScaledMED(), T), 9, rtol=1e-13)


def test_blocks_of_t_change_nothing(monkeypatch):
    surface = BezierSimplex(np.ones((10, 3)), 3, 3)
    whole = mse(surface, ScaledMED(), T)
    monkeypatch.setattr("bezierflow.metrics.quality.BLOCK_POINTS", 7)
    np.testing.assert_allclose(mse(surface, ScaledMED(), T), whole, rtol=1e-13)


def test_a_problem_without_a_pareto_map_is_refused():
    with pytest.raises(TypeError, match="SkewMED has none"):
        mse(ScaledMED().pareto_map, SkewMED(3), T)


def test_a_surface_into_another_space_is_refused():
    with pytest.raises(ValueError, match="surface must return shape"):
        mse(lambda t: t[:, :2], ScaledMED(), T)
