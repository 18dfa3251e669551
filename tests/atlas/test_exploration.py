"""The first look: what samples and a population run find, and the units that follow from it."""

import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.atlas import Settings, survey
from bezierflow.atlas.exploration import RARE, feasible_part, look_over
from bezierflow.atlas.program import Program
from bezierflow.evaluations import Evaluations
from bezierflow.objectives import feasible_set
from bezierflow.precision import double_precision

GENEROUS = np.full(2, 1e-6), np.full(2, 100.0)


def truss(x):
    """Volume and compliance of two bars: they are equal on the whole front, with f2 = 4e-6 / f1."""
    return jnp.array([x[0] + x[1], 1e-6 / x[0] + 1e-6 / x[1]])


def limits(x):
    return jnp.array([x[0] + x[1] - 0.01, 1e-4 - x[0], 1e-4 - x[1]])


def test_a_small_feasible_part_gives_variables_their_units():
    feasible = feasible_set(GENEROUS, limits, 2)
    with double_precision():
        program = Program(truss, 2, feasible, GENEROUS)
        box = (np.zeros(2), np.ones(2))
        look_over(program, box, np.full((1, 2), 1e-5), 0)
        part = feasible_part(program, box, 0)
    assert part is not None
    assert np.all(part[1] - part[0] < 3 * RARE)
    assert np.all(part[0] <= program.archive.z.min(axis=0))
    assert np.all(part[1] >= program.archive.z.max(axis=0))


@pytest.mark.slow
def test_bounds_may_be_generous():
    solution = bf.minimize(truss, None, bounds=GENEROUS, constraints=limits)
    assert solution.result.reason is bf.Reason.CONVERGED
    volume = np.geomspace(2.001e-4, 0.01, 50)
    f = np.column_stack([volume, 4e-6 / volume])
    answers = solution.pareto_set(solution.pareto_set.t(f))
    np.testing.assert_allclose(answers, np.column_stack([volume, volume]) / 2, atol=1e-6 * 0.01)


def test_a_box_that_is_feasible_keeps_its_units():
    feasible = feasible_set((np.zeros(2), np.ones(2)), lambda x: jnp.sum(x) - 3, 2)
    with double_precision():
        program = Program(
            lambda x: jnp.array([x[0], (x[0] - 1e-3) ** 2 + x[1]]),
            2,
            feasible,
            (np.zeros(2), np.ones(2)),
        )
        box = (np.zeros(2), np.ones(2))
        look_over(program, box, np.zeros((1, 2)), 0)
        assert feasible_part(program, box, 0) is None


def test_a_survey_stops_at_its_budget_and_counts():
    feasible = feasible_set((np.full(2, -1.0), np.full(2, 2.0)), None, 2)
    settings = Settings(feasible, (np.full(2, -1.0), np.full(2, 2.0)), budget=700)

    def pair(x):
        return jnp.array([jnp.sum(x**2), jnp.sum((x - 1) ** 2)])

    with double_precision():
        found = survey(pair, 2, settings, np.zeros((1, 2)), 0, Evaluations(objective=100))
    assert 600 < found.evaluations.objective <= 700
    np.testing.assert_allclose(
        found.f, np.stack([(found.x**2).sum(axis=1), ((found.x - 1) ** 2).sum(axis=1)], axis=1)
    )
