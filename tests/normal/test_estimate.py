import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.answer import Flag
from bezierflow.bezier import BezierSimplex, design_matrix
from bezierflow.normal import estimate_error
from bezierflow.precision import double_precision
from bezierflow.problems import ScaledMED, SkewMED

PROBLEM = ScaledMED()


def fitted(degree):
    """A least-squares surface of the exact Pareto map, with the exact corners."""
    rng = np.random.default_rng(0)
    t = np.concatenate([rng.dirichlet([0.8] * 3, size=2000), np.repeat(np.eye(3), 200, axis=0)])
    points = np.linalg.lstsq(
        design_matrix(t, degree), np.asarray(PROBLEM.pareto_map(t)), rcond=None
    )[0]
    return BezierSimplex(points, 3, degree)


@pytest.mark.parametrize("degree", [2, 3, 6])
def test_agrees_with_the_true_distance(degree):
    surface = fitted(degree)
    estimate = estimate_error(PROBLEM, surface)
    t = np.concatenate([np.random.default_rng(1).dirichlet([1] * 3, size=400), np.eye(3)])
    true = PROBLEM.distance(np.asarray(surface(t))).max()
    assert true < estimate.expected
    assert estimate.max < 10 * true + 1e-12
    assert float(estimate) == estimate.rms <= estimate.max
    assert estimate.n_invalid == 0
    assert estimate.n_samples >= 200


def test_objectives_are_not_stated_to_be_exact_to_less_than_a_rounding_of_their_values():
    def bowls(x):
        away = jnp.array([jnp.sum(x**2), jnp.sum((x - jnp.array([1.0, 0.0])) ** 2)])
        return 1e6 + 1e-6 * away

    segment = BezierSimplex(np.array([[0.0, 0.0], [1.0, 0.0]]), 2, 1)
    estimate = estimate_error(bowls, segment)
    assert estimate.max < 1e-9
    assert 1e-4 < estimate.front < 1e-3  # values are multiples of 1.2e-10, of ranges of 1e-6


def test_slopes_without_an_end_do_not_stop_an_estimate():
    """|x|^0.3 is steeper than any line where it is least, which is a corner of the set."""

    def roots(x):
        return jnp.stack([jnp.sum(jnp.abs(x) ** 0.3), jnp.sum((x - jnp.array([1.0, 0.5])) ** 2)])

    estimate = estimate_error(roots, BezierSimplex(np.array([[0.0, 0.0], [1.0, 0.5]]), 2, 1))
    assert np.isfinite(estimate.max)


def test_an_exact_surface_has_no_error_and_no_flags():
    estimate = estimate_error(SkewMED(3), BezierSimplex(np.eye(3), 3, 1), tol=1e-6)
    assert estimate.max < 1e-12
    assert estimate.residual < 1e-9
    assert estimate.dominated == estimate.folded == 0
    assert estimate.flags == ()


def test_a_surface_that_misses_its_tolerance_says_so():
    assert Flag.NOT_AT_TOLERANCE in estimate_error(PROBLEM, fitted(2), tol=1e-6).flags


def test_the_same_seed_gives_the_same_estimate():
    assert estimate_error(PROBLEM, fitted(2), seed=3) == estimate_error(PROBLEM, fitted(2), seed=3)


def test_a_corner_that_misses_its_minimizer_counts():
    points = np.eye(3)
    points[0] += [0, 0, 0.1]
    assert estimate_error(SkewMED(3), BezierSimplex(points, 3, 1)).max > 0.05


def test_a_fold_is_seen():
    # An edge that runs past its corner and back.
    points = np.array([[0.0, 0.0], [1.6, 0.0], [1.0, 0.0]])

    def objectives(x):
        return jnp.stack([jnp.sum(x**2), jnp.sum((x - jnp.array([1.0, 0.0])) ** 2)])

    estimate = estimate_error(objectives, BezierSimplex(points, 2, 2))
    assert Flag.NOT_SIMPLICIAL in estimate.flags or estimate.max > 0.01


def test_a_minimizer_that_is_not_unique_is_flagged():
    def objectives(x):
        return jnp.stack([x[0] ** 2, jnp.sum((x - 1) ** 2)])

    surface = BezierSimplex(np.array([[0.0, 0.0], [1.0, 1.0]]), 2, 1)
    assert Flag.MINIMIZER_NOT_UNIQUE in estimate_error(objectives, surface).flags


def test_fewer_variables_than_dimensions_are_flagged():
    def objectives(x):
        return jnp.stack([(x[0] - c) ** 2 for c in (0.0, 0.5, 1.0)])

    surface = BezierSimplex(np.array([[0.0], [0.5], [1.0]]), 3, 1)
    assert Flag.FEW_VARIABLES in estimate_error(objectives, surface).flags


@pytest.mark.parametrize("x0", [[0.0, 0.0, 0.0], [5.0, -3.0, 2.0]])
def test_a_surface_that_collapsed_reports_at_least_its_distance_to_the_corners(x0):
    corners = np.asarray(PROBLEM.pareto_map(np.eye(3)))
    surface = BezierSimplex(np.tile(np.array(x0), (10, 1)), 3, 3)
    estimate = estimate_error(PROBLEM, surface)
    assert estimate.max >= 0.999 * np.linalg.norm(corners - x0, axis=1).max()
    assert Flag.CORNERS_MISSED in estimate.flags
    assert estimate.relative > 0.5


def test_a_small_surface_far_from_the_set_is_not_measured_by_its_own_size():
    """Objectives that are not quadratic: the distance has to be followed."""

    def objectives(x):
        return jnp.stack([jnp.sum((x - c) ** 4) + jnp.sum((x - c) ** 2) for c in (0.0, 1.0)])

    rng = np.random.default_rng(0)
    surface = BezierSimplex(3 + 1e-3 * rng.normal(size=(3, 2)), 2, 2)
    estimate = estimate_error(objectives, surface)
    assert estimate.max > 0.99 * np.linalg.norm([3.0, 3.0])
    assert Flag.CORNERS_MISSED in estimate.flags


def test_a_single_point_has_no_error():
    def objectives(x):
        away = x - jnp.array([1.0, 2.0])
        return jnp.stack([jnp.sum(away**2), 3 * jnp.sum(away**2) + 1])

    points = np.array([[1.0, 2.0], [1.0, 2.0]]) * (1 + 1e-16 * np.array([[1.0], [-3.0]]))
    estimate = estimate_error(objectives, BezierSimplex(points, 2, 1), tol=1e-6)
    assert estimate.max < 1e-14
    assert estimate.flags == ()


def test_distances_in_objectives_and_coverage_know_how_far_a_surface_is_off():
    """A segment between two bowls, moved sideways by δ, is off by δ in x, and by more where it
    ends: the set goes no farther."""
    corners, sideways = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 0.02], [0.0, 0.02]])
    with double_precision():
        exact, moved = (
            estimate_error(
                lambda x: jnp.sum((x - corners) ** 2, axis=1), BezierSimplex(points, 2, 1)
            )
            for points in (corners, corners + sideways)
        )
    assert exact.coverage == 1
    assert exact.front < 1e-12
    assert 0.02 <= moved.max < 0.045
    # of 1 + δ²: across the set it changes by 2 δ², along it by 2 δ
    assert 2 * 0.02**2 <= moved.front < 0.075
    assert moved.coverage == 0  # nothing of it is within a hundredth of the diameter


def test_objectives_with_one_minimizer_have_a_set_of_one_point():
    """Rounding leaves the minimizers apart, and says nothing about their directions."""
    with double_precision():
        point = np.array([[1e-17, 0.0], [0.0, -1e-17]])
        found = estimate_error(
            lambda x: jnp.stack([jnp.sum(x**2), x[0] ** 2 + 7 * x[1] ** 2]),
            BezierSimplex(point, 2, 1),
            tol=1e-6,
        )
    assert found.flags == ()
    assert found.diameter == 1
    assert found.max < 1e-12


@pytest.mark.parametrize("width", [0.1, 0.03, 0.015])
def test_a_narrow_dent_of_the_set_is_seen(width):
    """200 held-out t miss a dent of a hundredth of the area; gradients at many more find its rim,
    and from there its bottom."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 0.75**0.5, 0]])

    def dented(x):
        away = jnp.sum((x[:2] - jnp.array([0.43, 0.31])) ** 2)
        y = x.at[2].add(-0.05 * jnp.exp(-away / width**2))
        return jnp.sum((y - corners) ** 2, axis=1)

    flat = BezierSimplex(corners, 3, 1)
    with double_precision():
        error = estimate_error(dented, flat)
    assert error.max > 0.045
    assert error.resolution < 0.05
