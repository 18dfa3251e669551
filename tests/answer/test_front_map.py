import jax
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.answer import ExactMap, PolynomialMap, interpolate
from bezierflow.precision import double_precision
from bezierflow.simplex import SmoothMap, tangent_basis
from solved import solved

SOLUTION = solved(bf.problems.ScaledMED(), 4)
FITTED = PolynomialMap(
    np.asarray(SOLUTION.fitted_front.surface.control_points),
    3,
    SOLUTION.fitted_front.surface.degree,
)
SURFACE = PolynomialMap(np.asarray(SOLUTION.pareto_set.control_points), 3, 4)
EXACT = ExactMap(SOLUTION.objectives, SURFACE)
T = np.random.default_rng(0).dirichlet(np.ones(3), 4)
UNITS = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "front",
    [FITTED, EXACT, FITTED.in_units(UNITS), EXACT.in_units(UNITS)],
    ids=["fitted", "exact", "fitted in units", "exact in units"],
)
def test_derivatives_are_those_of_the_values(front):
    directions = tangent_basis(3)
    values, slopes, bends = front.derivatives(T)
    np.testing.assert_allclose(values, front.values(T), atol=1e-13)
    np.testing.assert_allclose(front(T), values, atol=1e-13)
    for one, other in zip(front.slopes(T), (values, slopes), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    for direction in directions.T:
        after, before = (
            front.derivatives(T + 1e-5 * direction),
            front.derivatives(T - 1e-5 * direction),
        )
        np.testing.assert_allclose(direction @ slopes, (after[0] - before[0]) / 2e-5, atol=1e-6)
        np.testing.assert_allclose(
            np.einsum("m,nmkv->nkv", direction, bends), (after[1] - before[1]) / 2e-5, atol=1e-5
        )


def test_maps_are_smooth_maps_of_the_simplex():
    assert isinstance(FITTED, SmoothMap)
    assert isinstance(EXACT, SmoothMap)


@pytest.mark.parametrize("n", [1, 3, 20])
def test_values_do_not_depend_on_how_many_are_asked_for_at_once(n):
    t = np.random.default_rng(n).dirichlet(np.ones(3), n)
    for front in (FITTED, EXACT):
        for parts in zip(front.slopes(t), *(front.slopes(row[None]) for row in t), strict=True):
            np.testing.assert_allclose(parts[0], np.concatenate(parts[1:]), atol=1e-12)


def test_a_map_is_the_surface_it_came_from():
    np.testing.assert_allclose(FITTED.values(T), SOLUTION.fitted_front.surface(T), atol=1e-13)
    with double_precision():
        exact = np.asarray(jax.vmap(SOLUTION.objectives)(SOLUTION.pareto_set(T)))
    np.testing.assert_allclose(EXACT.values(T), exact, atol=1e-13)
    np.testing.assert_allclose(EXACT.in_units(UNITS).values(T), exact / UNITS, atol=1e-13)


def test_a_polynomial_is_interpolated_exactly_and_a_constant_has_no_slope():
    again = interpolate(FITTED, 3, FITTED.degree + 1)
    np.testing.assert_allclose(again.values(T), FITTED.values(T), atol=1e-11)
    values, slopes = PolynomialMap(np.array([[1.0, 2.0]]), 3, 0).slopes(T)
    np.testing.assert_array_equal(values, np.tile([1.0, 2.0], (4, 1)))
    np.testing.assert_array_equal(slopes, np.zeros((4, 3, 2)))


@pytest.mark.parametrize(
    "kink",
    [lambda x: jax.numpy.sqrt(x @ x), lambda x: jax.numpy.sqrt(x[0])],
    ids=["NaN", "infinite"],
)
def test_a_derivative_that_is_not_finite_is_given_as_zero(kink):
    def kinked(x):
        return bf.problems.ScaledMED()(x).at[0].set(kink(x))

    front = ExactMap(kinked, PolynomialMap(np.array([[0.0, 0, 0], [1.0, 0, 0], [0, 1.0, 0]]), 3, 1))
    values, slopes = front.slopes(np.array([[1.0, 0.0, 0.0]]))
    assert values[0, 0] == 0
    assert slopes[0, 1, 0] == 0
    assert np.isfinite(slopes).all()


def test_a_stand_in_is_searched_only_where_it_cannot_be_told_from_the_front():
    t = np.random.default_rng(1).dirichlet(np.full(3, 0.5), 300)
    smooth = SOLUTION.set
    assert isinstance(smooth.searched, PolynomialMap)
    np.testing.assert_allclose(
        smooth.front(t) / smooth.scale, smooth.values(t) / smooth.scale, atol=1e-9
    )
    # powers below 1: no polynomial follows them into the corners
    cusps = solved(bf.problems.SkewMED(3), 3).set
    assert cusps.searched is cusps.exact
