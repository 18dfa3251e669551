"""Which part of a Pareto set weighted sums reach."""

import jax
import numpy as np
import pytest
from experiments.reach import cut, largest_jump, multipliers, reached
from scipy.optimize import minimize

from bezierflow.precision import double_precision
from bezierflow.problems import by_name


def share(problem, resolution):
    cells = cut(problem, resolution)
    return np.sum(cells.areas[reached(problem, cells)]) / np.sum(cells.areas)


def test_weighted_sums_reach_all_of_a_convex_problem_and_do_not_jump():
    problem = by_name("scaled-med")
    assert share(problem, 20) == 1
    coarse, fine = (largest_jump(problem, cut(problem, n)) for n in (20, 40))
    assert fine < coarse < 0.3
    t = np.random.default_rng(0).dirichlet(np.ones(3), 20)
    np.testing.assert_allclose(
        multipliers(problem, np.asarray(problem.pareto_map(t))), t, atol=1e-9
    )


@pytest.mark.parametrize(
    ("name", "least", "most", "jump"),
    [("skew-3med", 0.9, 0.96, 0.6), ("skew-3mmd", 0.42, 0.52, 1.4)],
)
def test_weighted_sums_miss_a_part_of_the_skew_sets_and_jump_over_it(name, least, most, jump):
    problem = by_name(name)
    assert least < share(problem, 30) < most
    assert largest_jump(problem, cut(problem, 30)) > jump


def test_what_is_called_missed_has_a_lower_point_and_what_is_called_reached_has_none():
    problem = by_name("skew-3mmd")
    cells = cut(problem, 30)
    found = reached(problem, cells)
    rng = np.random.default_rng(0)
    total = jax.jit(lambda x, weights: weights @ problem(x))
    for expected in (True, False):
        for cell in rng.choice(np.flatnonzero(found == expected), 4, replace=False):
            weights = multipliers(problem, cells.centers[cell : cell + 1])[0]
            with double_precision():
                own = float(total(cells.centers[cell], weights))
                starts = [*np.eye(3), *rng.dirichlet(np.ones(3), 5)]
                others = [
                    minimize(lambda x, w=weights: float(total(x, w)), x, method="Nelder-Mead").fun
                    for x in starts
                ]
                lowest = min(*others, *(float(total(x, weights)) for x in np.eye(3)))
            assert (lowest < own - 1e-6 * abs(own)) == (not expected)
