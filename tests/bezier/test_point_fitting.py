"""Fitting with unknown t: surfaces are found again from their points, noise is averaged out; every
face of a skeleton fits its own points and shares its boundary."""

import numpy as np
import pytest

from bezierflow.bezier import (
    BezierSimplex,
    FitDiagnostics,
    FitOptions,
    PointsFit,
    fit_points,
    fit_skeleton,
    project,
    stiffness,
)
from bezierflow.problems import ScaledMED
from bezierflow.simplex import faces, grid, n_controls


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
        ({"tol": 0.0}, "tol must be a finite number above 0"),
        ({"tautness": -1.0}, "tautness must be"),
        ({"max_iterations": 0}, "max_iterations must be a whole number of at least 1"),
    ],
)
def test_options_that_cannot_be_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        FitOptions(**options)


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


def surface_of(n_objectives=3, degree=3, width=3):
    rng = np.random.default_rng(0)
    flat = grid(n_objectives, degree) @ (2 * np.eye(n_objectives, width))
    return BezierSimplex(flat + 0.05 * rng.normal(size=flat.shape), n_objectives, degree)


def samples(surface, n=60, known=True):
    """Points of every face of at most `degree` objectives."""
    rng = np.random.default_rng(1)
    found = {}
    for face in faces(surface.n_objectives):
        if len(face) <= surface.degree:
            t = rng.dirichlet(np.ones(len(face)), 1 if len(face) == 1 else n)
            x = surface(t @ np.eye(surface.n_objectives)[list(face)])
            found[face] = (t, x) if known else x
    return found


@pytest.mark.parametrize(("n_objectives", "degree"), [(3, 3), (4, 2), (2, 1), (1, 2)])
def test_known_t_give_the_surface_back_exactly(n_objectives, degree):
    surface = surface_of(n_objectives, degree, 4)
    found, reports = fit_skeleton(samples(surface), n_objectives, degree, diagnostics=True)
    np.testing.assert_allclose(found.control_points, surface.control_points, atol=1e-11)
    assert all(isinstance(report, FitDiagnostics) for report in reports.values())
    assert sum(report.n_free for report in reports.values()) == n_controls(n_objectives, degree)


def test_unknown_t_give_a_surface_that_lies_on_the_true_one():
    surface = surface_of()
    found, reports = fit_skeleton(samples(surface, known=False), 3, 3, diagnostics=True)
    assert list(reports) == [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
    assert all(isinstance(report, PointsFit) and report.converged for report in reports.values())
    for m in range(3):
        np.testing.assert_array_equal(found.vertex(m), surface.vertex(m))
    t = np.random.default_rng(2).dirichlet(np.ones(3), 128)
    assert np.sqrt(np.mean(project(surface, found(t))[1] ** 2)) < 1e-3
    assert np.sqrt(np.mean(project(found, surface(t))[1] ** 2)) < 1e-3


def test_a_face_depends_on_its_own_points_and_its_boundary_only():
    surface = surface_of()
    points = samples(surface)
    moved = dict(points)
    moved[0, 1, 2] = (points[0, 1, 2][0], points[0, 1, 2][1] + 1.0)
    moved[0, 1] = (points[0, 1][0], points[0, 1][1] + 1.0)
    before, after = fit_skeleton(points, 3, 3), fit_skeleton(moved, 3, 3)
    for face in ((0, 2), (1, 2)):
        np.testing.assert_array_equal(
            before.restrict(face).control_points, after.restrict(face).control_points
        )
    assert (
        np.abs(before.restrict((0, 1)).control_points - after.restrict((0, 1)).control_points).max()
        > 0.5
    )


def test_columns_of_t_follow_the_face_as_it_is_written():
    surface = surface_of()
    points = samples(surface)
    turned = {tuple(reversed(face)): (t[:, ::-1], x) for face, (t, x) in points.items()}
    np.testing.assert_allclose(
        fit_skeleton(turned, 3, 3).control_points, surface.control_points, atol=1e-11
    )


def test_corners_are_means_and_faces_above_the_degree_are_not_used():
    rng = np.random.default_rng(0)
    points = {(m,): rng.normal(size=(7, 2)) for m in range(3)} | {
        (0, 1, 2): rng.normal(size=(1, 2))
    }
    found = fit_skeleton(points, 3, 1)
    np.testing.assert_allclose(found.control_points, [points[(m,)].mean(axis=0) for m in range(3)])


def test_pytree_points():
    points = {(0,): {"a": np.zeros((1, 2))}, (1,): {"a": np.ones((1, 2))}}
    np.testing.assert_array_equal(fit_skeleton(points, 2, 1).control_points["a"], [[0, 0], [1, 1]])


def replaced(face, value):
    return lambda points: points | {face: value}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda points: {}, r"7 are missing, the first is \(0,\)"),
        (
            lambda points: {k: v for k, v in points.items() if k != (0, 2)},
            r"1 are missing, the first is \(0, 2\)",
        ),
        (replaced((0, 3), np.zeros((5, 3))), "distinct numbers from 0 to 2"),
        (replaced((1, 0), np.zeros((5, 3))), r"names the face \(0, 1\) twice"),
        (replaced((0, 1), np.zeros((5, 2))), "must be built like the other faces' points"),
        (replaced((0, 1), np.zeros((0, 3))), "must hold at least one point"),
        (
            replaced((0, 1), (np.zeros((5, 3)), np.zeros((5, 3)))),
            r"needs t of shape \(5, 2\), got \(5, 3\)",
        ),
        (
            replaced((0, 1), np.zeros((1, 3))),
            r"face \(0, 1\): 1 points cannot determine 2 free control points",
        ),
        (
            replaced((0, 1), (np.array([[0.5, 0.5]]), np.zeros((1, 3)))),
            r"face \(0, 1\): 1 samples cannot determine 2",
        ),
        (
            replaced((0, 1), (np.full((5, 2), 0.6), np.zeros((5, 3)))),
            r"face \(0, 1\): t must hold points of the simplex",
        ),
    ],
)
def test_misuse_of_faces_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        fit_skeleton(change(samples(surface_of())), 3, 3)
    with pytest.raises(ValueError, match="degree must be at least 1"):
        fit_skeleton({}, 3, 0)


@pytest.mark.parametrize("degree", [2, 4])
def test_a_surface_that_reaches_beyond_its_points_is_flagged(degree):
    """Exact points on a grid with its edges, of a set that no surface of the degree is."""
    problem = ScaledMED()
    x = np.asarray(problem.pareto_map(grid(3, 10)))
    with pytest.warns(RuntimeWarning, match=r"reaches 0.\d+ of its diameter beyond the points"):
        found, report = fit_points(x, 3, degree, diagnostics=True)
    beyond = np.asarray(problem.distance(np.asarray(found(grid(3, 24))))).max()
    diameter = np.linalg.norm(np.ptp(x, axis=0))
    assert beyond > 0.01 * diameter
    assert beyond / 3 < report.overhang * diameter < 3 * beyond


def test_a_curve_that_ends_with_its_points_is_not_flagged(recwarn):
    s = np.linspace(0, 1, 40)
    _, report = fit_points(np.stack([s, s**2], axis=1), 2, 2, diagnostics=True)
    assert report.overhang < 1e-6
    assert not recwarn
