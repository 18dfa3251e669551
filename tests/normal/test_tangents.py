import numpy as np

from bezierflow.bezier import BezierSimplex
from bezierflow.normal.tangents import face_tangents


def test_tangents_span_the_surface_and_only_the_face():
    rng = np.random.default_rng(0)
    surface = BezierSimplex(rng.normal(size=(10, 5)), 3, 3)
    t = np.array([[0.2, 0.3, 0.5], [0.4, 0.0, 0.6], [1.0, 0.0, 0.0]])
    tangents = face_tangents(np.asarray(surface.control_points), t, 3, 2)
    slopes = np.asarray(surface.derivative(t))
    for directions, point in (([[1, -1, 0], [0, 1, -1]], 0), ([[1, 0, -1]], 1)):
        along = slopes[point] @ np.array(directions, dtype=float).T
        within = tangents[point] @ (tangents[point].T @ along)
        np.testing.assert_allclose(within, along, atol=1e-10)
    np.testing.assert_array_equal(
        np.linalg.norm(tangents, axis=1) > 0.5, [[True, True], [True, False], [False, False]]
    )
    np.testing.assert_allclose(tangents[0].T @ tangents[0], np.eye(2), atol=1e-12)
