import jax.numpy as jnp
import numpy as np

from bezierflow.normal import Schedule, descend, find_minimizers
from bezierflow.normal.corners import break_ties, not_unique
from bezierflow.objectives import JaxEvaluator

NUMBERS = Schedule().descent


def objectives(x):
    """The first does not see x[1]; the second has one minimizer; the third is flat at its minimizer
    but has only one."""
    return jnp.stack([x[0] ** 2, jnp.sum((x - 1) ** 2), jnp.sum((x + 1) ** 2) ** 2])


def test_only_a_singular_hessian_at_a_smooth_minimum_means_that_it_is_not_unique():
    look = JaxEvaluator(objectives, 3, 2).hessians
    descent = find_minimizers(look, np.eye(3), np.tile([3.0, -2.0], (3, 1)))
    assert descent.converged.all()
    np.testing.assert_array_equal(not_unique(descent, NUMBERS), [True, False, False])


def test_a_tie_is_broken_by_the_others_and_the_rest_stays():
    look = JaxEvaluator(lambda x: objectives(x)[:2], 2, 2).hessians
    descent = find_minimizers(look, np.eye(2), np.tile([3.0, -2.0], (2, 1)))
    ties = break_ties(descent, NUMBERS)
    np.testing.assert_array_equal(ties.active, [True, False])
    while ties.active.any():
        ties = descend(look, ties, NUMBERS)
    np.testing.assert_allclose(ties.x, [[0, 1], [1, 1]], atol=1e-5)
    np.testing.assert_array_equal(ties.x[1], descent.x[1])
