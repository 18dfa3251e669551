import jax.numpy as jnp
import numpy as np

from bezierflow.normal import Survey
from bezierflow.objectives import JaxEvaluator

POWERS = jnp.array([0.7, 1.0, 2.5])
CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.2, 0.0], [0.3, 1.0, 0.4]])


def powers_of_norms(x):
    return jnp.sum((x - jnp.asarray(CORNERS)) ** 2, axis=1) ** POWERS


def bent(x):
    """Increasing functions of the same: another Hessian, the same set."""
    f = jnp.sum((x - jnp.asarray(CORNERS)) ** 2, axis=1)
    return jnp.stack([jnp.log(f[0] + 0.1), 1e6 * f[1] ** 3, -jnp.exp(-f[2])])


def survey_of(objectives):
    return Survey(JaxEvaluator(objectives, 3, 3), CORNERS, 1.0)


def test_a_power_of_a_norm_lends_its_own_hessian_along_rays():
    survey = survey_of(powers_of_norms)
    x = np.array([[0.4, 0.3, 0.2]])
    survey.look(x)
    for corner in range(3):
        along = CORNERS[corner] + 1.7 * (x - CORNERS[corner])
        lent = survey.look_by_gradients(along).hessians[0, corner]
        own = survey_of(powers_of_norms).look(along).hessians[0, corner]
        np.testing.assert_allclose(lent, own, rtol=1e-10, atol=1e-12)


def test_what_is_lent_across_the_gradient_does_not_depend_on_how_objectives_are_bent():
    x, near = np.array([[0.4, 0.3, 0.2]]), np.array([[0.45, 0.28, 0.25]])
    across = []
    for objectives in (powers_of_norms, bent):
        survey = survey_of(objectives)
        survey.look(x)
        lent = survey.look_by_gradients(near)
        size = np.linalg.norm(lent.gradients[0], axis=1)
        # In the plane across the lender's gradient, in units of the slope.
        direction = (x - CORNERS) / np.linalg.norm(x - CORNERS, axis=1)[:, None]
        plane = np.eye(3) - direction[:, :, None] * direction[:, None, :]
        across.append(plane @ (lent.hessians[0] / size[:, None, None]) @ plane)
    np.testing.assert_allclose(across[0], across[1], rtol=1e-10, atol=1e-12)


def test_nothing_is_lent_by_corners_or_where_hessians_are_not_finite():
    survey = survey_of(powers_of_norms)
    assert not survey.can_borrow
    survey.look(CORNERS)
    survey.look(np.full((2, 3), np.nan))
    assert not survey.can_borrow
    assert np.isfinite(survey.look_by_gradients(np.array([[0.4, 0.3, 0.2]])).hessians).all()
    assert survey.evaluator.evaluations.hessian == 6


def test_the_nearest_point_lends():
    survey = survey_of(lambda x: jnp.sum((x - jnp.asarray(CORNERS)) ** 2, axis=1) * (1 + x[0] ** 2))
    survey.look(np.array([[0.4, 0.3, 0.2], [0.8, 0.9, 0.7]]))
    lent = survey.look_by_gradients(np.array([[0.8, 0.9, 0.7001]])).hessians[0]
    own = survey.evaluator.hessians(np.array([[0.8, 0.9, 0.7001]])).hessians[0]
    np.testing.assert_allclose(lent, own, rtol=1e-2)
