"""The first look: what samples and a population run find, and the units that follow from it."""

import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.atlas import Settings, survey
from bezierflow.evaluations import Evaluations
from bezierflow.objectives import feasible_set
from bezierflow.precision import double_precision

GENEROUS = np.full(2, 1e-6), np.full(2, 100.0)


def truss(x):
    """Volume and compliance of two bars: they are equal on the whole front, with f2 = 4e-6 / f1."""
    return jnp.array([x[0] + x[1], 1e-6 / x[0] + 1e-6 / x[1]])


def limits(x):
    return jnp.array([x[0] + x[1] - 0.01, 1e-4 - x[0], 1e-4 - x[1]])


@pytest.mark.slow
def test_bounds_may_be_generous():
    solution = bf.minimize(truss, None, bounds=GENEROUS, constraints=limits)
    assert solution.result.reason is bf.Reason.CONVERGED
    volume = np.geomspace(2.001e-4, 0.01, 50)
    f = np.column_stack([volume, 4e-6 / volume])
    answers = solution.pareto_set(solution.pareto_set.t(f))
    np.testing.assert_allclose(answers, np.column_stack([volume, volume]) / 2, atol=1e-6 * 0.01)


def test_a_survey_stops_at_its_budget_and_counts():
    feasible = feasible_set((np.full(2, -1.0), np.full(2, 2.0)), None, 2)
    settings = Settings(feasible, (np.full(2, -1.0), np.full(2, 2.0)), budget=700)

    def pair(x):
        return jnp.array([jnp.sum(x**2), jnp.sum((x - 1) ** 2)])

    with double_precision():
        spent = Evaluations(objective=100)
        found = survey(pair, 2, settings, np.zeros((1, 2)), 0, spent, lambda found: True)
    assert found.spent
    assert 600 < found.evaluations.objective <= 700
    np.testing.assert_allclose(
        found.f, np.stack([(found.x**2).sum(axis=1), ((found.x - 1) ** 2).sum(axis=1)], axis=1)
    )
