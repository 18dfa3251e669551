import jax.numpy as jnp
import numpy as np

from bezierflow.normal import Survey
from bezierflow.normal.probe import probe
from bezierflow.normal.tangents import face_tangents
from bezierflow.objectives import JaxEvaluator
from bezierflow.problems import ScaledMED

PROBLEM = ScaledMED()
CORNERS = np.asarray(PROBLEM.pareto_map(np.eye(3)))
T = np.random.default_rng(0).dirichlet([2.0] * 3, size=12)


def survey_of(problem=PROBLEM, corners=CORNERS):
    diameter = float(np.linalg.norm(corners[:, None] - corners[None], axis=2).max())
    return Survey(JaxEvaluator(problem, *corners.shape), corners, diameter)


def test_distances_are_those_to_the_set_and_far_points_are_followed_to_it():
    survey = survey_of()
    x = PROBLEM.pareto_point(T) + 0.05 * np.random.default_rng(3).normal(size=(12, 3))
    seen = probe(survey, T, x)
    np.testing.assert_allclose(seen.distance, PROBLEM.distance(x), rtol=0.1)
    assert survey.evaluator.evaluations.hessian > len(T)
    assert PROBLEM.distance(seen.cloud.points).max() < 1e-3
    assert len(seen.cloud) == len(T)


def test_near_the_set_hessians_are_borrowed():
    survey = survey_of()
    survey.look(PROBLEM.pareto_point(np.random.default_rng(1).dirichlet([1.0] * 3, size=40)))
    before = survey.evaluator.evaluations.hessian
    x = PROBLEM.pareto_point(T) + 1e-4 * np.random.default_rng(2).normal(size=(12, 3))
    seen = probe(survey, T, x, tangents=face_tangents(CORNERS, T, 1, 2))
    np.testing.assert_allclose(seen.distance, PROBLEM.distance(x), rtol=0.1, atol=1e-7)
    assert survey.evaluator.evaluations.hessian - before <= 4
    assert survey.evaluator.evaluations.jacobian - before >= 2 * len(T)


def test_points_beyond_the_boundary_are_seen_and_called_back():
    """A triangle that reaches over its side: the normal displacement alone would call the part
    beyond critical."""
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.8, 0.0]])

    def objectives(x):
        return jnp.stack([jnp.sum((x - corner) ** 2) for corner in jnp.asarray(corners)])

    survey = survey_of(objectives, corners)
    t = np.array([[0.3, 0.3, 0.4], [0.495, 0.495, 0.01]])
    seen = probe(survey, t, np.array([[0.5, 0.3, 0.0], [0.5, -0.004, 0.0]]))
    np.testing.assert_allclose(seen.distance, [0.0, 0.004], atol=1e-9)
    np.testing.assert_allclose(seen.recall.points, [[0.5, 0.002, 0.0]], atol=1e-9)
    np.testing.assert_array_equal(seen.recall.t, t[1:])
