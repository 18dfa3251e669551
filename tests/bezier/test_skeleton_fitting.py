"""Skeleton fitting: every face fits its own points, shares its boundary, and needs only the points
it needs."""

import numpy as np
import pytest

from bezierflow.bezier import BezierSimplex, FitDiagnostics, PointsFit, fit_skeleton, project
from bezierflow.simplex import faces, grid, n_controls


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
def test_misuse_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        fit_skeleton(change(samples(surface_of())), 3, 3)
    with pytest.raises(ValueError, match="degree must be at least 1"):
        fit_skeleton({}, 3, 0)
