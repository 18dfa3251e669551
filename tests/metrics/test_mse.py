"""The mean squared error of a surface against the exact Pareto map."""

from importlib import import_module

import numpy as np
import pytest

from bezierflow.bezier import BezierSimplex
from bezierflow.metrics import mse
from bezierflow.problems import ScaledMED, SkewMED

T = np.random.default_rng(0).dirichlet(np.ones(3), 200)


def test_the_exact_map_has_none():
    assert mse(ScaledMED().pareto_map, ScaledMED(), T) == 0


def test_against_the_definition():
    surface = BezierSimplex(np.random.default_rng(1).normal(size=(10, 3)), 3, 3)
    expected = np.mean(np.sum((surface(T) - ScaledMED().pareto_map(T)) ** 2, axis=1))
    np.testing.assert_allclose(mse(surface, ScaledMED(), T), expected, rtol=1e-13)


def test_a_constant_shift_is_its_squared_length():
    shifted = lambda t: ScaledMED().pareto_map(t) + np.array([1.0, 2.0, 2.0])
    np.testing.assert_allclose(mse(shifted, ScaledMED(), T), 9, rtol=1e-13)


def test_blocks_change_nothing(monkeypatch):
    surface = BezierSimplex(np.ones((10, 3)), 3, 3)
    whole = mse(surface, ScaledMED(), T)
    monkeypatch.setattr(import_module("bezierflow.metrics.mse"), "BLOCK_POINTS", 7)
    np.testing.assert_allclose(mse(surface, ScaledMED(), T), whole, rtol=1e-13)


def test_a_problem_without_a_pareto_map_is_refused():
    with pytest.raises(TypeError, match="SkewMED has none"):
        mse(ScaledMED().pareto_map, SkewMED(3), T)


def test_a_surface_into_another_space_is_refused():
    with pytest.raises(ValueError, match="surface must return shape"):
        mse(lambda t: t[:, :2], ScaledMED(), T)
