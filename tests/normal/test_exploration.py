import jax.numpy as jnp
import numpy as np
import pytest

from bezierflow.answer import Flag
from bezierflow.normal import (
    Incumbents,
    Matrices,
    Schedule,
    Settings,
    advance,
    begin,
    better_point,
    probes_around,
    probes_within,
)
from bezierflow.normal.exploration import explore
from bezierflow.objectives import JaxEvaluator
from bezierflow.problems import ScaledMED, SkewMMD

NUMBERS = Schedule()
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0]])
HOLE = np.array([4.0, -3.0])


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


def search(objectives, surface, budget=None):
    evaluator = JaxEvaluator(objectives, surface.n_objectives, surface.n_variables, budget)
    corners = np.asarray(surface(np.eye(surface.n_objectives)))
    curvature = Matrices(evaluator, corners, 2.0)
    found = explore(curvature, np.asarray(surface.control_points), surface.degree, 1.0)
    return *found, evaluator.evaluations


def test_a_budget_is_kept_and_values_that_are_not_finite_are_passed_over():
    problem = ScaledMED()
    surface = run(problem, np.zeros(3)).surface
    n_probes, _, _, spent = search(problem, surface, budget=100)
    assert (n_probes, spent.objective) == (0, 0)

    def partly(x):
        return jnp.where(x[0] > 1.5, jnp.nan, problem(x))

    assert search(partly, surface)[1] is None


def bowls(x):
    return jnp.sum((x - CORNERS) ** 2, axis=1)


def with_a_hole(x):
    """The first objective is 0 at its corner, and −0.25 at the bottom of a hole that is about 0.1
    wide below 0."""
    return bowls(x) - jnp.array([25.0, 0.0]) * jnp.exp(-4 * jnp.sum((x - HOLE) ** 2))


def gain(x, f):
    """How much lower an objective is than at its corner, where it is 0."""
    return -f.min(axis=1)


def elsewhere(objectives):
    """The better point that probes around the flat set between the corners hint at; by values alone
    there is none."""
    evaluator = JaxEvaluator(objectives, 2, 2)
    points = np.concatenate([CORNERS, np.linspace(*CORNERS, 101)])
    incumbents = Incumbents(points, evaluator.values(points), np.ones(2))
    boxes = probes_around(CORNERS.mean(axis=0), 1.0, 1536)
    probes = boxes.reshape(-1, 2)
    values = evaluator.values(probes)
    assert gain(probes, values).max() < NUMBERS.clear
    searched = boxes, values.reshape(boxes.shape), incumbents, gain, 2
    return better_point(Matrices(evaluator, CORNERS, 1.0), *searched), evaluator


def test_a_narrow_well_that_no_probe_meets_is_found_by_going_downhill():
    rival, _ = elsewhere(with_a_hole)
    assert np.linalg.norm(rival - HOLE) < 0.1
    assert with_a_hole(rival)[0] < -0.2


def test_bowls_hint_at_no_wells_and_cost_no_hessians():
    rival, evaluator = elsewhere(bowls)
    assert rival is None
    assert evaluator.evaluations.hessian == 0


def test_wells_that_are_no_better_are_no_rivals():
    rival, evaluator = elsewhere(lambda x: bowls(x) - 10 * jnp.exp(-4 * jnp.sum((x - HOLE) ** 2)))
    assert rival is None
    assert evaluator.evaluations.hessian > 0


def test_probes_fill_their_boxes():
    low, high = np.array([-1.0, 2.0, 0.0]), np.array([1.0, 2.5, 9.0])
    probes = probes_within(low, high, 1536)
    assert ((probes >= low) & (probes <= high)).all()
    np.testing.assert_allclose((probes - low).mean(axis=0) / (high - low), 0.5, atol=0.01)
    around = probes_around(np.full(30, 5.0), 2.0, 2048)
    for box, side in zip(around, NUMBERS.boxes, strict=False):
        np.testing.assert_allclose(np.ptp(box, axis=0), 2.0 * side, rtol=0.02)
