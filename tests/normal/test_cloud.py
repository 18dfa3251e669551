import jax.numpy as jnp
import numpy as np

from bezierflow.normal import Matrices
from bezierflow.normal.cloud import Cloud, observe, probe
from bezierflow.normal.shape import face_tangents
from bezierflow.objectives import JaxEvaluator
from bezierflow.problems import ScaledMED

PROBLEM = ScaledMED()
CORNERS = np.asarray(PROBLEM.pareto_map(np.eye(3)))
T = np.random.default_rng(0).dirichlet([2.0] * 3, size=12)


def curvature_of(problem=PROBLEM, corners=CORNERS):
    diameter = float(np.linalg.norm(corners[:, None] - corners[None], axis=2).max())
    return Matrices(JaxEvaluator(problem, *corners.shape), corners, diameter)


def flat(curvature, t):
    """Tangents of the flat surface through the corners."""
    return face_tangents(curvature.corners, t, 1, 2)


def seen(off, n=30):
    curvature = curvature_of()
    rng = np.random.default_rng(0)
    t = rng.dirichlet([2.0] * 3, size=n)
    x = PROBLEM.pareto_point(t) + off * rng.normal(size=(n, 3))
    return curvature, t, x, curvature.look(x, t > 0, flat(curvature, t))


def test_points_of_the_cloud_lie_on_the_set_as_nearly_as_they_say():
    curvature, t, x, sight = seen(0.02)
    cloud, follow = observe(curvature, t, x, sight)
    distance = PROBLEM.distance(cloud.points)
    assert np.median(distance / PROBLEM.distance(x)) < 0.1
    assert (distance < 3 * cloud.miss + 1e-12).all()
    assert follow.any()


def test_a_given_miss_is_kept_and_a_missing_one_follows_from_the_displacement():
    curvature, t, x, sight = seen(0.02, n=3)
    usual = observe(curvature, t, x, sight)[0].miss
    sight = sight._replace(miss=np.array([1e-5, np.nan, 1e-7]))
    cloud, follow = observe(curvature, t, x, sight)
    np.testing.assert_array_equal(cloud.miss, [1e-5, usual[1], 1e-7])
    assert not follow[[0, 2]].any()


def test_displacements_are_capped_and_invalid_points_left_out():
    curvature, t, x, sight = seen(5.0)
    valid = sight.linearization._replace(valid=np.arange(len(t)) > 0)
    cloud, _ = observe(curvature, t, x, sight._replace(linearization=valid))
    assert len(cloud) == len(t) - 1
    longest = curvature.schedule.straight * curvature.diameter
    assert np.linalg.norm(cloud.points - x[1:], axis=1).max() <= longest * (1 + 1e-12)


def test_join_take_and_coordinates_of_a_face():
    nothing = Cloud.empty(3, 2, 2)
    t = np.array([[0.2, 0.0, 0.8], [0.5, 0.0, 0.5], [0.2, 0.3, 0.5]])
    cloud = nothing.join(Cloud(t, t > 0, np.ones((3, 2)), np.zeros((3, 2, 2)), np.zeros(3)))
    assert (len(nothing), len(cloud), len(cloud.take(np.array([1])))) == (0, 3, 1)
    np.testing.assert_array_equal(cloud.on_face((0, 2)).t, t[:2, [0, 2]])
    assert cloud.on_face((0, 2)).faces.all()
    assert len(cloud.on_face((0, 1))) == 0


def test_distances_are_those_to_the_set_and_far_points_are_followed_to_it():
    curvature = curvature_of()
    x = PROBLEM.pareto_point(T) + 0.05 * np.random.default_rng(3).normal(size=(12, 3))
    cloud, distance, _ = probe(curvature, T, x, flat(curvature, T))
    np.testing.assert_allclose(distance, PROBLEM.distance(x), rtol=0.1)
    assert curvature.evaluator.evaluations.hessian > len(T)
    assert PROBLEM.distance(cloud.points).max() < 1e-3
    assert len(cloud) == len(T)


def test_near_the_set_hessians_are_borrowed():
    curvature = curvature_of()
    curvature.compute(PROBLEM.pareto_point(np.random.default_rng(1).dirichlet([1.0] * 3, size=40)))
    before = curvature.evaluator.evaluations.hessian
    x = PROBLEM.pareto_point(T) + 1e-4 * np.random.default_rng(2).normal(size=(12, 3))
    _, distance, _ = probe(curvature, T, x, flat(curvature, T), near=True)
    np.testing.assert_allclose(distance, PROBLEM.distance(x), rtol=0.1, atol=1e-7)
    assert curvature.evaluator.evaluations.hessian - before <= 4
    assert curvature.evaluator.evaluations.jacobian - before >= 2 * len(T)


def test_points_beyond_the_boundary_are_seen_and_called_back():
    """A triangle that reaches over its side: the normal displacement alone would call the part
    beyond critical."""
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.8, 0.0]])

    def objectives(x):
        return jnp.stack([jnp.sum((x - corner) ** 2) for corner in jnp.asarray(corners)])

    curvature = curvature_of(objectives, corners)
    t = np.array([[0.3, 0.3, 0.4], [0.495, 0.495, 0.01]])
    x = np.array([[0.5, 0.3, 0.0], [0.5, -0.004, 0.0]])
    _, distance, recall = probe(curvature, t, x, flat(curvature, t))
    np.testing.assert_allclose(distance, [0.0, 0.004], atol=1e-9)
    np.testing.assert_allclose(recall.points, [[0.5, 0.002, 0.0]], atol=1e-9)
    np.testing.assert_array_equal(recall.t, t[1:])
