import jax
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.decisions.front_map import ExactMap, ScaledMap, SquaredDistance, polynomial_map
from bezierflow.decisions.view import view_of
from bezierflow.precision import double_precision
from bezierflow.simplex import tangent_basis
from solved import solved

SOLUTION = solved(bf.problems.ScaledMED(), 4)
FITTED = polynomial_map(SOLUTION.fitted_front.surface)
EXACT = ExactMap(SOLUTION.objectives, SOLUTION.pareto_set)
T = np.random.default_rng(0).dirichlet(np.ones(3), 4)


@pytest.mark.parametrize(
    "front",
    [FITTED, EXACT, ScaledMap(EXACT, np.ones(3), np.array([1.0, 2.0, 3.0])), SquaredDistance(FITTED, np.ones(3))],
    ids=["fitted", "exact", "scaled", "squared distance"],
)
def test_derivatives_are_those_of_the_values(front):
    directions = tangent_basis(3)
    values, jacobian, hessian = front.derivatives(T)
    np.testing.assert_allclose(values, front.values(T), atol=1e-13)
    for k in range(2):
        step = 1e-5 * directions[:, k]
        after, before = front.derivatives(T + step), front.derivatives(T - step)
        np.testing.assert_allclose(jacobian[..., k], (after[0] - before[0]) / 2e-5, atol=1e-6)
        np.testing.assert_allclose(hessian[..., k], (after[1] - before[1]) / 2e-5, atol=1e-5)


def test_a_polynomial_map_is_the_surface_it_came_from():
    np.testing.assert_allclose(FITTED.values(T), SOLUTION.fitted_front.surface(T), atol=1e-13)
    with double_precision():
        exact = np.asarray(jax.vmap(SOLUTION.objectives)(SOLUTION.pareto_set(T)))
    np.testing.assert_allclose(EXACT.values(T), exact, atol=1e-13)


def test_a_stand_in_is_searched_only_where_it_cannot_be_told_from_the_front():
    t = np.random.default_rng(1).dirichlet(np.full(3, 0.5), 300)
    smooth = view_of(SOLUTION)
    assert smooth.terrain.true is smooth.stand_in
    np.testing.assert_allclose(smooth.stand_in.values(t), smooth.scaled.values(t), atol=1e-9)
    cusps = solved(bf.problems.SkewMED(3), 3)  # powers below 1: no polynomial follows them into the corners
    assert view_of(cusps).stand_in is None
    assert view_of(cusps).terrain.true is view_of(cusps).scaled
