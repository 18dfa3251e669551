"""The skew problems: the paper's values, and derivatives where a norm vanishes."""

from functools import lru_cache

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.precision import double_precision
from bezierflow.problems import SkewMED, SkewMMD

POINT = np.array([0.2, -0.5, 1.3])


@lru_cache
def compiled(problem):
    return jax.jit(
        jax.vmap(lambda x: (problem(x), jax.jacobian(problem)(x), jax.hessian(problem)(x)))
    )


def with_derivatives(problem, x):
    """Values, Jacobians and Hessians at each row of x."""
    with double_precision():
        return [np.asarray(part) for part in compiled(problem)(x)]


def test_med_values_as_in_the_paper():
    expected = [
        # m counts from 0 here
        (np.sum((POINT - np.eye(3)[m]) ** 2) / np.sqrt(2)) ** np.exp(2 * m / 2 - 1)
        for m in range(3)
    ]
    np.testing.assert_allclose(SkewMED(3)(POINT), expected, rtol=1e-14)


def test_mmd_values_as_in_the_paper():
    diagonals = [[3 / 5, 4 / 5, 4 / 5], [4 / 5, 3 / 5, 4 / 5], [4 / 5, 4 / 5, 3 / 5]]
    expected = [
        np.linalg.norm(np.diag(diagonals[m]) @ (POINT - np.eye(3)[m])) ** np.exp(2 * m / 2 - 1)
        for m in range(3)
    ]
    np.testing.assert_allclose(SkewMMD(3)(POINT), expected, rtol=1e-14)


def test_mmd_matrices_dense_or_diagonal_are_the_same():
    diagonals = 0.8 - 0.2 * np.eye(3)
    dense = SkewMMD(3, [np.diag(diagonal) for diagonal in diagonals])
    mixed = SkewMMD(3, [diagonals[0], np.diag(diagonals[1]), diagonals[2]])
    w = np.random.default_rng(0).dirichlet(np.ones(3), 10)
    x = np.random.default_rng(1).normal(size=(10, 3))
    for other in (dense, mixed):
        np.testing.assert_allclose(other(POINT), SkewMMD(3)(POINT), rtol=1e-14)
        np.testing.assert_allclose(other.pareto_point(w), SkewMMD(3).pareto_point(w), rtol=1e-13)
        np.testing.assert_allclose(other.distance(x), SkewMMD(3).distance(x), rtol=1e-11)


def test_med_projection_is_the_projection_on_a_convex_set():
    """p is nearest to x just if (x − p)·(e_m − p) ≤ 0 for each vertex e_m."""
    x = np.random.default_rng(2).normal(size=(200, 5)) * 3
    p = SkewMED(5).project(x)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-14)
    assert (p >= 0).all()
    inner = np.einsum("ni,nmi->nm", x - p, np.eye(5) - p[:, None])
    assert inner.max() < 1e-12


@pytest.mark.parametrize(
    "problem",
    [SkewMED(3), SkewMMD(3), SkewMED(5), SkewMMD(2, np.ones((2, 2)), exponents=[0.1, 1.0])],
    ids=["med", "mmd", "5med", "sharp cusp"],
)
def test_derivatives_at_and_next_to_a_center_are_finite(problem):
    centers, away = np.eye(problem.n_objectives), np.array([0.0, 1e-300, 1e-160, 1e-80, 1e-12])
    x = centers + away[:, None, None] * (centers == 0)
    value, gradient, hessian = with_derivatives(problem, x.reshape(-1, problem.n_objectives))
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()
    assert np.isfinite(hessian).all()


def test_value_and_gradient_vanish_at_a_center():
    for problem in (SkewMED(3), SkewMMD(3)):
        value, gradient, _ = with_derivatives(problem, np.eye(3))
        np.testing.assert_array_equal(value.diagonal(), 0)
        np.testing.assert_array_equal(gradient[np.arange(3), np.arange(3)], 0)


def test_the_quadratic_among_the_skew_has_its_hessian_everywhere():
    """p_2 = 1 for M = 3: f_2 = |x − e_2|²/√2, with Hessian √2 I also at its center."""
    hessian = with_derivatives(SkewMED(3), np.eye(3))[2]
    np.testing.assert_allclose(hessian[1, 1], np.sqrt(2) * np.eye(3), rtol=1e-14)


@given(st.floats(0, 1e10, allow_subnormal=False), st.floats(0.05, 5))
@settings(deadline=None)
def test_powers_have_the_right_value_everywhere(square, exponent):
    """|x|^p of one variable, at the minimizer and close to it too."""
    line = SkewMMD(2, np.ones((2, 1)), np.array([[0.0], [1.0]]), [2 * exponent, 1.0])
    found = float(line(np.sqrt([square]))[0])
    # subnormal numbers may be 0
    np.testing.assert_allclose(found, square**exponent, rtol=1e-12, atol=2.3e-308)


def test_a_singular_matrix_can_be_evaluated_but_has_no_known_set():
    problem = SkewMMD(2, [[1.0, 0.0], [1.0, 1.0]])
    np.testing.assert_allclose(problem(np.array([1.0, 7.0]))[0], 0)
    for ask in (problem.pareto_point, problem.distance):
        with pytest.raises(ValueError, match="full column rank"):
            ask(np.ones(2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_objectives": 1}, "n_objectives must be a whole number of at least 2, got 1"),
        ({"n_objectives": 3, "matrices": np.ones((2, 3))}, "matrices must hold 3 matrices"),
        (
            {"n_objectives": 2, "matrices": np.ones((2, 4))},
            r"centers must have shape \(2, 4\).*default",
        ),
        ({"n_objectives": 2, "centers": np.zeros((2, 3))}, r"centers must have shape \(2, 2\)"),
        ({"n_objectives": 2, "exponents": [1.0, -1.0]}, "exponents must be 2 numbers above 0"),
        ({"n_objectives": 2, "matrices": [[1.0, np.nan], [1.0, 1.0]]}, "matrices must be finite"),
        ({"n_objectives": 2, "matrices": [np.eye(2), np.eye(3)]}, "matrices of one shape"),
    ],
)
def test_misuse_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        SkewMMD(**arguments)
