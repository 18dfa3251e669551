"""Fitting with unknown t: surfaces are found again from their points, noise is averaged out,
reports say what happened."""

import numpy as np
import pytest

from bezierflow.bezier import BezierSimplex, FitOptions, PointsFit, fit_points, project
from bezierflow.bezier.cloud_fitting import stiffness
from bezierflow.bezier.extremes import extreme_points
from bezierflow.simplex import grid


def dome(degree=2):
    """A curved triangle in R³, lifted in the middle, and 200 points of it."""
    rng = np.random.default_rng(0)
    points = grid(3, degree) @ np.array([[0.0, 0, 0], [2, 0, 0], [0, 1, 0]]) + 0.1 * rng.normal(
        size=(len(grid(3, degree)), 3)
    )
    surface = BezierSimplex(points, 3, degree)
    return surface, surface(rng.dirichlet(np.ones(3), 200))


def test_points_of_a_surface_give_it_back():
    surface, x = dome()
    found, report = fit_points(x, 3, 2, diagnostics=True)
    assert report.converged
    assert report.residual_rms < 1e-6
    t = np.random.default_rng(1).dirichlet(np.ones(3), 128)
    beyond, missed = project(surface, found(t))[1], project(found, surface(t))[1]
    assert np.median(beyond) < 1e-9
    assert np.median(missed) < 1e-9
    # Random points hardly reach into corners: there the found surface may end a little before or
    # behind the true one.
    assert max(np.sqrt(np.mean(beyond**2)), np.sqrt(np.mean(missed**2))) < 1e-2


def test_report_agrees_with_the_surface():
    _, x = dome()
    noisy = x + 0.01 * np.random.default_rng(1).normal(size=x.shape)
    found, report = fit_points(noisy, 3, 2, diagnostics=True)
    assert isinstance(report, PointsFit)
    assert report.t.shape == (200, 3)
    assert report.n_iterations == len(report.residuals)
    assert report.residuals[-1] < report.residuals[0]
    distances = np.linalg.norm(found(report.t) - noisy, axis=1)
    np.testing.assert_allclose(np.sqrt(np.mean(distances**2)), report.residual_rms, rtol=1e-6)
    nearest = project(found, noisy[:128])[1]
    assert (nearest <= distances[:128] * (1 + 1e-9)).all()
    assert np.mean(nearest**2) >= 0.98 * np.mean(distances[:128] ** 2)


def test_noise_is_averaged_out_and_the_surface_keeps_to_the_cloud():
    surface, x = dome()
    noisy = x + 0.02 * np.random.default_rng(1).normal(size=x.shape)
    found = fit_points(noisy, 3, 2)
    t = np.random.default_rng(2).dirichlet(np.ones(3), 128)
    assert np.sqrt(np.mean(project(surface, found(t))[1] ** 2)) < 0.02
    assert np.sqrt(np.mean(project(found, surface(t))[1] ** 2)) < 0.02


def test_tautness_keeps_a_surface_from_reaching_beyond_its_points():
    _, x = dome()
    noisy = x + 0.05 * np.random.default_rng(3).normal(size=x.shape)
    taut, (loose, report) = (
        fit_points(noisy, 3, 2),
        fit_points(noisy, 3, 2, options=FitOptions(tautness=0.0), diagnostics=True),
    )
    assert report.residual_rms < fit_points(noisy, 3, 2, diagnostics=True)[1].residual_rms
    assert np.ptp(taut.control_points, axis=0).prod() < np.ptp(loose.control_points, axis=0).prod()


def test_same_points_same_surface_bit_for_bit():
    _, x = dome()
    first, second = fit_points(x, 3, 2), fit_points(x, 3, 2)
    assert first.control_points.tobytes() == second.control_points.tobytes()


def test_position_and_size_of_the_cloud_do_not_matter():
    _, x = dome()
    near, far = fit_points(x, 3, 2), fit_points(1e3 * x + 1e4, 3, 2)
    np.testing.assert_allclose((far.control_points - 1e4) / 1e3, near.control_points, atol=1e-3)


def test_vertices_say_which_corner_is_which_objective():
    surface, x = dome()
    corners = np.stack([surface.vertex(m) for m in (2, 0, 1)])
    found = fit_points(x, 3, 2, vertices=corners)
    for m in range(3):
        assert np.linalg.norm(found.vertex(m) - corners[m]) < 0.3


def test_frozen_control_points_stay():
    surface, x = dome()
    held = {0: surface.vertex(0), (0, 1, 1): [1.0, 0.5, 0.25]}
    found = fit_points(
        x, 3, 2, vertices=np.stack([surface.vertex(m) for m in range(3)]), frozen=held
    )
    np.testing.assert_array_equal(found.vertex(0), surface.vertex(0))
    np.testing.assert_array_equal(found.control_points[4], [1.0, 0.5, 0.25])


def test_curves_and_pytrees():
    s = np.linspace(0, 1, 60)
    x = {"u": s * 2, "v": np.stack([s**2, 1 - s], axis=1)}
    found, report = fit_points(x, 2, 2, diagnostics=True)
    assert report.residual_rms < 1e-8
    ends = np.sort(found.control_points["u"][[0, -1]])
    np.testing.assert_allclose(ends, [0, 2], atol=1e-4)


def test_running_out_of_iterations_is_said():
    _, x = dome()
    with pytest.warns(
        RuntimeWarning, match="fit_points stopped at max_iterations=2 while still improving"
    ):
        _, report = fit_points(x, 3, 2, options=FitOptions(max_iterations=2), diagnostics=True)
    assert not report.converged
    assert report.n_iterations == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": np.zeros((5, 3))}, "5 points cannot determine 6 free control points"),
        ({"x": np.zeros((2, 3))}, "at least 3 points to find 3 extreme ones"),
        ({"x": np.full((9, 3), np.nan)}, "row 0 is"),
        ({"vertices": np.zeros((2, 3))}, "vertices must be 3 rows .* got 2 rows of 3 numbers"),
        ({"frozen": {(1, 0, 0): np.zeros(3)}}, "sum 2"),
    ],
)
def test_misuse_is_named(change, message):
    arguments = {"x": np.random.default_rng(0).normal(size=(20, 3)), "n_objectives": 3, "degree": 2}
    with pytest.raises(ValueError, match=message):
        fit_points(**(arguments | change))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tol": 0.0}, "tol must be above 0"),
        ({"tautness": -1.0}, "tautness must be"),
        ({"max_iterations": 0}, "max_iterations must be at least 1"),
    ],
)
def test_options_that_cannot_be_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        FitOptions(**options)


def test_extreme_points_are_the_corners_of_a_polytope_and_degenerate_clouds_do_not_fail():
    rng = np.random.default_rng(0)
    corners = np.array([[0.0, 0, 0], [5, 0, 0], [0, 4, 0], [0, 0, 3]])
    cloud = np.concatenate([rng.dirichlet(np.ones(4), 200) @ corners, corners])
    found = extreme_points(cloud, 4)
    assert {tuple(row) for row in found.tolist()} == {tuple(row) for row in corners.tolist()}
    line = np.linspace(0, 1, 11)[:, None]
    np.testing.assert_allclose(np.sort(extreme_points(line, 3).ravel()), [0, 0.5, 1], atol=0.1)
    assert extreme_points(np.ones((4, 2)), 3).shape == (3, 2)
    assert extreme_points(line, 1).shape == (1, 1)


def test_stiffness_is_the_stretch_of_the_net():
    points = np.random.default_rng(0).normal(size=(6, 2))
    rows = {(2, 0, 0): 0, (1, 1, 0): 1, (1, 0, 1): 2, (0, 2, 0): 3, (0, 1, 1): 4, (0, 0, 2): 5}
    total = 0.0
    for below in np.eye(3, dtype=int):
        cell = [rows[tuple((below + corner).tolist())] for corner in np.eye(3, dtype=int)]
        total += sum(
            np.sum((points[cell[i]] - points[cell[j]]) ** 2) for i in range(3) for j in range(i)
        )
    np.testing.assert_allclose(np.trace(points.T @ stiffness(3, 2) @ points), total)
    assert not stiffness(2, 0).any()
