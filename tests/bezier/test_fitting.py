"""Least squares with known t: exact where it can be, weighted, penalized, with control points held,
and honest about rank."""

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.exceptions import RankWarning

from bezierflow.bezier import BezierSimplex, basis, design_matrix, fit, least_squares
from bezierflow.precision import double_precision
from bezierflow.simplex import multi_indices, n_controls


def samples(n, n_objectives, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(n_objectives), n)


def exact_least_squares(design, x):
    """(ZᵀZ)⁻¹Zᵀx without any rounding but the last: Bareiss elimination in integers."""
    denominator = max(
        Fraction(entry).denominator for entry in [*design.ravel().tolist(), *x.tolist()]
    )
    scaled = np.array(
        [[int(Fraction(entry) * denominator) for entry in row] for row in design.tolist()],
        dtype=object,
    )
    right = np.array([int(Fraction(entry) * denominator) for entry in x.tolist()], dtype=object)
    system = np.column_stack([scaled.T @ scaled, scaled.T @ right])
    size, previous = len(system), 1
    for k in range(size):
        others = np.arange(size) != k
        system[others] = (
            system[k, k] * system[others] - np.outer(system[others, k], system[k])
        ) // previous
        previous = system[k, k]
    return np.array([float(Fraction(system[i, -1], system[i, i])) for i in range(size)])


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 5), st.integers(0, 5), st.integers(1, 4), st.integers(0, 10**6))
def test_fit_after_evaluate_is_the_identity(n_objectives, degree, width, seed):
    rng = np.random.default_rng(seed)
    size = n_controls(n_objectives, degree)
    points = rng.normal(size=(size, width))
    t = rng.dirichlet(np.ones(n_objectives), 3 * size + 5)
    surface, report = fit(t, design_matrix(t, degree) @ points, degree, diagnostics=True)
    assert surface.n_objectives == n_objectives
    assert surface.degree == degree
    assert report.rank == report.n_controls == report.n_free == size
    np.testing.assert_allclose(surface.control_points, points, atol=1e-14 * size * report.condition)


@pytest.mark.parametrize(("n_objectives", "degree"), [(1, 3), (2, 0), (2, 7), (3, 4), (6, 2)])
def test_host_design_is_the_basis(n_objectives, degree):
    t = samples(7, n_objectives)
    with double_precision():
        expected = np.asarray(basis(jnp.asarray(t), degree))
    np.testing.assert_allclose(design_matrix(t, degree), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("n_objectives", "degree", "seed"), [(2, 12, 0), (3, 5, 1), (3, 6, 2), (5, 3, 3), (8, 2, 4)]
)
def test_few_samples_lose_no_accuracy_that_qr_keeps(n_objectives, degree, seed):
    """N = ⌈1.2 n⌉ random t, against exact arithmetic: the error stays that of Householder QR
    (within a small factor)."""
    size = n_controls(n_objectives, degree)
    rng = np.random.default_rng(seed)
    t = rng.dirichlet(np.ones(n_objectives), int(np.ceil(1.2 * size)))
    design, x = design_matrix(t, degree), rng.normal(size=len(t))
    exact = exact_least_squares(design, x)
    orthogonal, triangle = np.linalg.qr(design)
    with_qr = np.linalg.solve(triangle, orthogonal.T @ x)
    found = fit(t, x, degree).control_points
    scale = np.abs(exact).max()
    assert np.abs(found - exact).max() <= 20 * np.abs(with_qr - exact).max() + 1e-14 * scale


def test_refinement_is_as_accurate_as_qr_up_to_its_limit():
    """A degree that raises the condition to the edge of where Cholesky is still used: its error
    alone would be κ²u."""
    t, points = samples(400, 2), np.random.default_rng(1).normal(size=(13, 3))
    surface, report = fit(t, design_matrix(t, 12) @ points, 12, diagnostics=True)
    assert 1e3 < report.condition < 1e4
    orthogonal, triangle = np.linalg.qr(design_matrix(t, 12))
    with_qr = np.linalg.solve(triangle, orthogonal.T @ (design_matrix(t, 12) @ points))
    assert np.abs(surface.control_points - points).max() < 3 * np.abs(with_qr - points).max()


def test_offset_far_from_the_origin_costs_no_digits_of_the_shape():
    t, points = samples(60, 3), np.random.default_rng(1).normal(size=(10, 1))
    x = 2.0**20 + np.round(2**20 * (design_matrix(t, 3) @ points)) / 2**20
    far, near = fit(t, x, 3).control_points - 2.0**20, fit(t, x - 2.0**20, 3).control_points
    np.testing.assert_allclose(far, near, atol=1e-9)


def test_the_callers_arrays_are_left_alone():
    t, x = samples(20, 2), np.random.default_rng(1).normal(size=(20, 1))
    before = t.copy(), x.copy()
    fit(t, x, 2, weights=np.arange(20.0), ridge=0.1, frozen={0: [0.0]})
    fit(t, x, 2)
    np.testing.assert_array_equal(t, before[0])
    np.testing.assert_array_equal(x, before[1])


def test_weights_count_as_repeated_samples():
    t, x = samples(30, 3), np.random.default_rng(1).normal(size=(30, 2))
    counts = np.arange(30) % 4
    weighted = fit(t, x, 2, weights=counts)
    repeated = fit(np.repeat(t, counts, axis=0), np.repeat(x, counts, axis=0), 2)
    np.testing.assert_allclose(weighted.control_points, repeated.control_points, atol=1e-12)


@pytest.mark.parametrize("n_samples", [4, 40])
def test_ridge_minimizes_what_it_says(n_samples):
    t, x, ridge = (
        samples(n_samples, 3),
        np.random.default_rng(1).normal(size=(n_samples, 2)) + 5,
        0.3,
    )
    design, mean = design_matrix(t, 2), x.mean(axis=0)
    surface = fit(t, x, 2, ridge=ridge)
    gradient = design.T @ (design @ surface.control_points - x) + ridge * (
        surface.control_points - mean
    )
    assert np.abs(gradient).max() < 1e-12


def test_frozen_control_points_stay_and_the_others_are_the_best_for_them():
    t, x = samples(50, 3), np.random.default_rng(1).normal(size=(50, 2))
    held = {0: [1.0, 2.0], (1, 1, 1): np.array([3.0, 4.0])}
    surface, report = fit(t, x, 3, frozen=held, diagnostics=True)
    rows = [0, int(np.flatnonzero((multi_indices(3, 3) == 1).all(axis=1))[0])]
    np.testing.assert_array_equal(surface.control_points[rows], [[1, 2], [3, 4]])
    gradient = design_matrix(t, 3).T @ (design_matrix(t, 3) @ surface.control_points - x)
    assert np.abs(np.delete(gradient, rows, axis=0)).max() < 1e-12
    assert (report.n_free, report.n_controls) == (8, 10)


def test_frozen_everywhere_leaves_nothing_to_fit():
    held = {tuple(index): float(row) for row, index in enumerate(multi_indices(2, 2).tolist())}
    surface, report = fit(samples(3, 2), np.zeros(3), 2, frozen=held, diagnostics=True)
    np.testing.assert_array_equal(surface.control_points, [0, 1, 2])
    assert report.rank == report.n_free == 0
    assert report.residual_rms > 0


def test_pytree_values_and_scalars():
    t = samples(20, 3)
    x = {"a": np.random.default_rng(1).normal(size=(20, 2, 3)), "b": (t[:, 0], t[:, 1:])}
    surface = fit(t, x, 1)
    value = surface(np.array([0.2, 0.3, 0.5]))
    np.testing.assert_allclose(value["b"][0], 0.2, atol=1e-14)
    np.testing.assert_allclose(value["b"][1], [0.3, 0.5], atol=1e-14)
    np.testing.assert_allclose(
        surface.control_points["a"],
        fit(t, x["a"].reshape(20, 6), 1).control_points.reshape(3, 2, 3),
    )
    assert fit(t, t[:, 0], 1).control_points.shape == (3,)
    np.testing.assert_allclose(fit(t.tolist(), t.tolist(), 1).control_points, np.eye(3), atol=1e-14)


def test_float32_input_is_fitted_in_float64():
    t = jnp.asarray(samples(40, 3), jnp.float32)
    surface = fit(t, np.asarray(t, np.float64) @ np.array([1e3, 2e3, 3e3]), 1)
    assert surface.control_points.dtype == np.float64
    np.testing.assert_allclose(surface.control_points, [1e3, 2e3, 3e3], rtol=1e-13)


def test_diagnostics_say_what_was_measured():
    t, x = samples(100, 3), np.random.default_rng(1).normal(size=(100, 2))
    weights = np.repeat([0.0, 1.0], 50)
    surface, report = fit(t, x, 3, weights=weights, diagnostics=True)
    assert isinstance(surface, BezierSimplex)
    assert report.n_samples == 50
    np.testing.assert_allclose(
        report.condition, np.linalg.cond(design_matrix(t[50:], 3)), rtol=1e-6
    )
    distances = np.sum((surface(t[50:]) - x[50:]) ** 2, axis=1)
    np.testing.assert_allclose(report.residual_rms, np.sqrt(distances.mean()), rtol=1e-9)


def test_too_few_samples_name_both_numbers():
    with pytest.raises(ValueError, match=r"9 samples cannot determine 10 free control points"):
        fit(samples(9, 3), np.zeros(9), 3)
    with pytest.raises(ValueError, match=r"9 samples cannot determine 10"):
        fit(samples(12, 3), np.zeros(12), 3, weights=[0, 0, 0] + [1] * 9)
    assert fit(samples(9, 3), np.zeros(9), 3, frozen={0: 0.0}).n_controls == 10


def test_rank_deficiency_warns_and_gives_the_solution_nearest_to_the_mean():
    t = np.full((20, 3), 1 / 3)
    with pytest.warns(RankWarning, match="only 1 of 6"):
        surface, report = fit(t, np.full((20, 2), 7.0), 2, diagnostics=True)
    np.testing.assert_allclose(surface.control_points, 7.0)
    assert (report.rank, report.condition) == (1, np.inf)
    edge = np.column_stack([samples(30, 2), np.zeros(30)])
    x = np.random.default_rng(1).normal(size=30)
    with pytest.warns(RankWarning, match="only 3 of 6"):
        surface, report = fit(edge, x, 2, diagnostics=True)
    expected = np.linalg.lstsq(design_matrix(edge, 2), x - x.mean(), rcond=None)[0] + x.mean()
    np.testing.assert_allclose(surface.control_points, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"t": [[0.5, 0.6]] * 5}, "row 0 is"),
        ({"t": [[-0.5, 1.5]] * 5}, "row 0 is"),
        ({"t": [[0.5, 0.5]] * 4 + [[np.nan, 0.5]]}, "row 4 is"),
        ({"t": [0.5, 0.5]}, r"t must be a matrix .* got shape \(2,\)"),
        ({"x": [1.0, 2.0]}, "x has 2, t has 5"),
        ({"x": [1.0, 2.0, np.inf, 4.0, 5.0]}, "row 2 is"),
        ({"x": {}}, "got leaves of shape"),
        ({"x": (np.zeros(5), np.zeros(4))}, "equally many rows"),
        ({"ridge": -1.0}, "ridge must be"),
        ({"ridge": np.nan}, "ridge must be"),
        ({"degree": -1}, "degree must be a whole number of at least 0"),
        ({"weights": [1.0] * 4}, r"weights must have one number for each of the 5 rows"),
        ({"weights": [1.0, 1.0, -1.0, 1.0, 1.0]}, r"weights\[2\] = -1.0"),
        ({"weights": [0.0] * 5}, "only zeros"),
        ({"frozen": {2: 0.0}}, "got the key 2"),
        (
            {"frozen": {(1, 1): 0.0}},
            r"sum 1, or by objectives from 0 to 1 for vertices, got the key \(1, 1\)",
        ),
        ({"frozen": {0: 0.0, (1, 0): 0.0}}, r"names the control point \(1, 0\) twice"),
        ({"frozen": {0: [0.0, 1.0]}}, r"frozen\[0\] must be built like one row of x"),
    ],
)
def test_misuse_is_named(change, message):
    arguments = {
        "t": [[0.5, 0.5], [0.2, 0.8], [0.1, 0.9], [1.0, 0.0], [0.3, 0.7]],
        "x": [1.0, 2.0, 3.0, 4.0, 5.0],
        "degree": 1,
    }
    with pytest.raises(ValueError, match=message):
        fit(**(arguments | change))


def test_complex_and_traced_values_are_refused():
    t = samples(5, 2)
    with pytest.raises(TypeError, match="real ones"):
        fit(t, t[:, 0] * 1j, 1)
    with pytest.raises(TypeError, match="least_squares inside"):
        jax.jit(lambda x: fit(t, x, 1).control_points)(t)
    with pytest.raises(TypeError, match="least_squares inside"):
        jax.jit(lambda t: fit(t, np.zeros(5), 1).control_points)(t)


def traced_problem(n_samples, n_objectives, degree, width, seed=0):
    rng = np.random.default_rng(seed)
    design = design_matrix(rng.dirichlet(np.ones(n_objectives), n_samples), degree)
    return design, rng.normal(size=(n_samples, width)), rng.uniform(0.1, 2.0, n_samples)


@pytest.mark.parametrize("width", [1, 3, 25])
def test_is_the_weighted_least_squares_solution(width):
    design, values, weights = traced_problem(40, 3, 3, width)
    root = np.sqrt(weights)[:, None]
    expected = np.linalg.lstsq(root * design, root * values, rcond=None)[0]
    with double_precision():
        found = np.asarray(jax.jit(least_squares)(design, values, weights))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


def test_zero_weight_leaves_a_sample_out():
    design, values, _ = traced_problem(20, 3, 2, 2)
    weights = np.repeat([1.0, 0.0], [12, 8])
    with double_precision():
        found, expected = (
            jax.jit(least_squares)(design, values, weights),
            jax.jit(least_squares)(design[:12], values[:12]),
        )
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_as_accurate_as_qr_where_the_normal_equations_fail():
    """A condition near 1e6: squared, it would leave four digits of 16; QR keeps ten."""
    design, _, _ = traced_problem(80, 2, 20, 1)
    points = np.linspace(-1, 1, design.shape[1])[:, None]
    assert np.linalg.cond(design) > 1e5
    with double_precision():
        found = np.asarray(jax.jit(least_squares)(design, design @ points))
    orthogonal, triangle = np.linalg.qr(design)
    reference = np.linalg.solve(triangle, orthogonal.T @ (design @ points))
    assert np.abs(found - points).max() < 10 * np.abs(reference - points).max() + 1e-12
    normal = np.linalg.solve(design.T @ design, design.T @ (design @ points))
    assert np.abs(normal - points).max() > 100 * np.abs(found - points).max()


@pytest.mark.parametrize("width", [2, 12])
@pytest.mark.parametrize("exact", [False, True])
def test_derivatives_are_those_of_the_closed_form(width, exact):
    design, values, weights = traced_problem(30, 3, 2, width)
    if exact:
        values = design @ values[: design.shape[1]]

    def closed_form(design, values):
        gram = design.T @ (weights[:, None] * design)
        return jnp.sum(jnp.sin(jnp.linalg.solve(gram, design.T @ (weights[:, None] * values))))

    def ours(design, values):
        return jnp.sum(jnp.sin(least_squares(design, values, weights)))

    with double_precision():
        found, expected = (
            jax.jit(jax.grad(f, argnums=(0, 1)))(design, values) for f in (ours, closed_form)
        )
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-8)


def test_float32_stays_float32_in_compiled_loops():
    design, values, weights = (array.astype(np.float32) for array in traced_problem(30, 3, 2, 2))
    assert (
        least_squares(jnp.asarray(design), jnp.asarray(values), jnp.asarray(weights)).dtype
        == jnp.float32
    )
