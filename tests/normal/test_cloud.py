import numpy as np

from bezierflow.normal import Survey
from bezierflow.normal.cloud import Cloud, empty_cloud, observe
from bezierflow.objectives import JaxEvaluator
from bezierflow.problems import ScaledMED

PROBLEM = ScaledMED()
CORNERS = np.asarray(PROBLEM.pareto_map(np.eye(3)))


def seen(off, n=30):
    survey = Survey(JaxEvaluator(PROBLEM, 3, 3), CORNERS, 2.0)
    rng = np.random.default_rng(0)
    t = rng.dirichlet([2.0] * 3, size=n)
    x = PROBLEM.pareto_point(t) + off * rng.normal(size=(n, 3))
    return survey, t, x, survey.linearize(survey.look(x), t > 0)


def test_points_of_the_cloud_lie_on_the_set_as_nearly_as_they_say():
    survey, t, x, linearization = seen(0.02)
    cloud = observe(survey, t, x, linearization)
    distance = PROBLEM.distance(cloud.points)
    assert np.median(distance / PROBLEM.distance(x)) < 0.1
    assert (distance < 3 * cloud.miss + 1e-12).all()


def test_a_given_miss_is_kept_and_a_missing_one_follows_from_the_displacement():
    survey, t, x, linearization = seen(0.02, n=3)
    usual = observe(survey, t, x, linearization).miss
    given = observe(survey, t, x, linearization, np.array([1e-5, np.nan, 1e-7])).miss
    np.testing.assert_array_equal(given, [1e-5, usual[1], 1e-7])


def test_displacements_are_capped_and_invalid_points_left_out():
    survey, t, x, linearization = seen(5.0)
    linearization = linearization._replace(valid=np.arange(len(t)) > 0)
    cloud = observe(survey, t, x, linearization)
    assert len(cloud) == len(t) - 1
    longest = survey.schedule.look.longest * survey.diameter
    assert np.linalg.norm(cloud.points - x[1:], axis=1).max() <= longest * (1 + 1e-12)


def test_join_take_and_coordinates_of_a_face():
    nothing = empty_cloud(3, 2, 2)
    t = np.array([[0.2, 0.0, 0.8], [0.5, 0.0, 0.5]])
    cloud = nothing.join(Cloud(t, t > 0, np.ones((2, 2)), np.zeros((2, 2, 2)), np.zeros(2)))
    assert (len(nothing), len(cloud), len(cloud.take(np.array([1])))) == (0, 2, 1)
    np.testing.assert_array_equal(cloud.within((0, 2)).t, t[:, [0, 2]])
    assert cloud.within((0, 2)).faces.all()
