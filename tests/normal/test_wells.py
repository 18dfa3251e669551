import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.bezier import BezierSimplex
from bezierflow.normal import ExploreSchedule, Survey, deepest_rival
from bezierflow.normal.exploration import explore
from bezierflow.objectives import JaxEvaluator
from bezierflow.precision import double_precision

NUMBERS = ExploreSchedule()
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0]])
HOLE = np.array([4.0, -3.0])


def bowls(x):
    return jnp.sum((x - CORNERS) ** 2, axis=1)


def with_a_hole(x):
    """The first objective is 0 at its corner, and −0.25 at the bottom of a hole that is about 0.1
    wide below 0."""
    return bowls(x) - jnp.array([25.0, 0.0]) * jnp.exp(-4 * jnp.sum((x - HOLE) ** 2))


@pytest.fixture(autouse=True)
def precise():
    with double_precision():
        yield


def look(objectives):
    evaluator = JaxEvaluator(objectives, 2, 2)
    found = explore(evaluator, BezierSimplex(CORNERS, 2, 1), np.array(NUMBERS.boxes), NUMBERS)
    assert found.rival is None  # by values alone nothing is better
    return evaluator, deepest_rival(Survey(evaluator, CORNERS, 1.0), found.seen, NUMBERS)


def test_a_narrow_well_that_no_probe_meets_is_found_by_going_downhill():
    _, rival = look(with_a_hole)
    assert np.linalg.norm(rival - HOLE) < 0.1
    assert with_a_hole(rival)[0] < -0.2


def test_bowls_hint_at_no_wells_and_cost_no_hessians():
    evaluator, rival = look(bowls)
    assert rival is None
    assert evaluator.evaluations.hessian == 0


def test_wells_that_are_no_better_are_no_rivals():
    evaluator, rival = look(lambda x: bowls(x) - 10 * jnp.exp(-4 * jnp.sum((x - HOLE) ** 2)))
    assert rival is None
    assert evaluator.evaluations.hessian > 0
