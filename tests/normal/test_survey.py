import jax.numpy as jnp
import numpy as np

from bezierflow.normal import Survey, linearize
from bezierflow.objectives import JaxEvaluator
from bezierflow.precision import double_precision
from bezierflow.problems import ScaledMED

PROBLEM = ScaledMED()
CORNERS = np.asarray(PROBLEM.pareto_map(np.eye(3)))


def test_every_computed_hessian_is_remembered_and_borrowed_ones_are_not():
    survey = Survey(JaxEvaluator(PROBLEM, 3, 3), CORNERS, 2.0)
    x = np.random.default_rng(0).normal(size=(5, 3))
    survey.look(x)
    survey.look_by_gradients(x + 0.1)
    np.testing.assert_array_equal(survey.known.derivatives.points, x)
    assert survey.evaluator.evaluations == (10, 10, 5)


def test_linearizations_in_blocks_are_those_of_single_points():
    survey = Survey(JaxEvaluator(PROBLEM, 3, 3), CORNERS, 2.0)
    found = survey.look(np.random.default_rng(0).normal(size=(20, 3)))
    faces = np.random.default_rng(1).random((20, 3)) < 0.7
    faces[:, 0] = True
    batch = survey.linearize(found, faces)
    for i in (0, 7, 19):
        with double_precision():
            one = linearize(
                jnp.asarray(found.gradients[i]),
                jnp.asarray(found.hessians[i]),
                jnp.asarray(faces[i]),
            )
        np.testing.assert_allclose(batch.displacement[i], one.displacement, atol=1e-10)
        np.testing.assert_allclose(batch.multipliers[i], one.multipliers, atol=1e-10)


def test_the_set_has_at_most_as_many_tangents_as_variables():
    assert Survey(JaxEvaluator(PROBLEM, 3, 3), CORNERS, 1.0).n_tangents == 2
    assert Survey(JaxEvaluator(PROBLEM, 3, 1), CORNERS[:, :1], 1.0).n_tangents == 1
