import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.answer import Flag
from bezierflow.normal import Schedule, Settings, advance, begin
from bezierflow.normal.exploration import explore
from bezierflow.objectives import JaxEvaluator
from bezierflow.problems import ScaledMED, SkewMMD

NUMBERS = Schedule().explore


def run(objectives, x0, **settings):
    settings = Settings(**settings)
    state = begin(objectives, np.asarray(x0, dtype=float), settings)
    while not state.done:
        state = advance(objectives, settings, state)
    return state


def two_basins(x):
    """Two wells each; those around 4 are twice as deep as those around 0."""

    def well(center):
        return jnp.exp(-jnp.sum((x - jnp.asarray(center)) ** 2) / 4)

    return -jnp.stack(
        [2 * well((4.0, 4.0)) + well((0.0, 0.0)), 2 * well((5.0, 4.0)) + well((1.0, 0.0))]
    )


def test_a_run_that_ends_in_the_worse_basin_starts_again_in_the_better_one():
    state = run(two_basins, [0.0, 0.0])
    assert state.n_restarts == 1
    assert state.rival is None
    assert state.flags == ()
    np.testing.assert_allclose(state.surface.control_points[[0, -1]], [[4, 4], [5, 4]], atol=0.2)


@pytest.mark.parametrize(
    ("objectives", "x0"),
    [
        (
            lambda x: jnp.stack(
                [(x[0] ** 2 - 1) ** 2 + x[0] / 2 + x[1] ** 2, (x[0] - 1.5) ** 2 + (x[1] - 1) ** 2]
            ),
            [1.0, 0.0],
        ),
        (
            lambda x: jnp.stack(
                [
                    (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2,
                    (x[0] - 1) ** 2 + (x[1] + 2) ** 2,
                ]
            ),
            [0.0, 0.0],
        ),
        (
            lambda x: jnp.stack(
                [
                    jnp.sum((x - c) ** 2 - 10 * jnp.cos(2 * jnp.pi * (x - c)) + 10)
                    for c in (0.0, 1.5)
                ]
            ),
            [0.3, 0.2],
        ),
    ],
    ids=["a well and a paraboloid", "Himmelblau", "Rastrigin"],
)
def test_a_set_in_several_basins_is_flagged_and_a_better_point_named(objectives, x0):
    state = run(objectives, x0)
    assert Flag.BETTER_ELSEWHERE in state.flags
    values = np.asarray(objectives(jnp.asarray(state.rival)))
    t = np.random.default_rng(0).dirichlet([1.0, 1.0], size=400)
    front = np.stack(
        [
            np.asarray(objectives(jnp.asarray(x)))
            for x in np.asarray(state.surface(np.concatenate([np.eye(2), t])))
        ]
    )
    assert (front > values).all(axis=1).any() or (np.diagonal(front[:2]) > values).any()


@pytest.mark.parametrize("problem", [ScaledMED(), SkewMMD(3)], ids=["scaled-MED", "skew-3MMD"])
def test_nothing_better_is_found_where_there_is_nothing(problem):
    state = run(problem, np.zeros(3))
    assert (state.flags, state.n_restarts, state.rival) == ((), 0, None)
    assert state.n_probes == NUMBERS.probes * len(NUMBERS.boxes)


def test_a_budget_is_kept_and_values_that_are_not_finite_are_passed_over():
    problem = ScaledMED()
    surface = run(problem, np.zeros(3)).surface
    evaluator = JaxEvaluator(problem, 3, 3, budget=100)
    assert explore(evaluator, surface, 2 * np.array(NUMBERS.boxes), NUMBERS).n_probes == 0
    assert evaluator.evaluations.objective == 0

    def partly(x):
        return jnp.where(x[0] > 1.5, jnp.nan, problem(x))

    assert (
        explore(JaxEvaluator(partly, 3, 3), surface, 2 * np.array(NUMBERS.boxes), NUMBERS).rival
        is None
    )
