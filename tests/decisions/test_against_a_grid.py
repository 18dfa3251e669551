"""Every question that minimizes something agrees with a dense grid that is refined around its best
point."""

import jax
import numpy as np
import pytest

import bezierflow as bf
from bezierflow import decisions
from bezierflow.precision import double_precision
from bezierflow.simplex import grid
from solved import solved

PROBLEMS = {
    "scaled-MED": (bf.problems.ScaledMED(), 5),
    "Fonseca, a concave front": (bf.problems.Fonseca(2), 6),
    "skew-3MED": (bf.problems.SkewMED(3), 3),
    "two quadratics": (bf.problems.Quadratic.random(2, 4, seed=3), 5),
    "three quadratics": (bf.problems.Quadratic.random(3, 20, seed=4), 4),
    "warped scaled-MED": (bf.problems.Warped(bf.problems.ScaledMED()), 5),
    "four quadratics": (bf.problems.Quadratic.random(4, 5, seed=1), 3),
}

COARSE = {2: 4000, 3: 120, 4: 30}
WINDOW = {2: 400, 3: 40, 4: 16}


@pytest.fixture(scope="module", params=PROBLEMS, ids=str)
def case(request):
    problem, degree = PROBLEMS[request.param]
    solution = solved(problem, degree)
    objectives = jax.jit(jax.vmap(problem))

    def front(t):
        """Objective values on the surface, computed apart from the code under test."""
        with double_precision():
            return np.asarray(objectives(np.asarray(solution.pareto_set(t))))

    return solution, front


def least(front, n_objectives, merit):
    """The least merit over a grid, then over ever smaller windows around its best point."""
    t = grid(n_objectives, COARSE[n_objectives])
    best = t[np.argmin(merit(front(t)))]
    window = grid(n_objectives, WINDOW[n_objectives]) - 1 / n_objectives
    size = 12.0 / COARSE[n_objectives]
    for _ in range(22):
        around = np.maximum(best + size * np.concatenate([window, -window]), 0)
        around = np.concatenate([best[None], around / around.sum(axis=1, keepdims=True)])
        best = around[np.argmin(merit(front(around)))]
        size *= 0.5
    return float(merit(front(best[None]))[0])


def near(expected, scale):
    """What a choice's value must equal: to a millionth of the objective's range, or of 1."""
    return pytest.approx(expected, rel=0, abs=1e-6 * max(1.0, scale))


def test_best_under_a_bound(case):
    solution, front = case
    span = decisions.ranges(solution)
    limit = span.ideal[1] + 0.4 * span.width[1]
    choice = decisions.best(solution, 0, {1: (None, limit)})
    assert choice.f[1] <= limit
    assert choice.feasible
    np.testing.assert_allclose(front(choice.t[None])[0], choice.f, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.asarray(choice.x), np.asarray(solution.pareto_set(choice.t)))
    expected = least(
        front, solution.n_objectives, lambda f: np.where(f[:, 1] <= limit, f[:, 0], np.inf)
    )
    assert choice.value == near(expected, span.width[0])


def test_compromise(case):
    solution, front = case
    prices = np.linspace(1.0, 2.0, solution.n_objectives)
    choice = decisions.compromise(solution, prices)
    expected = least(front, solution.n_objectives, lambda f: f @ prices)
    assert choice.value == near(expected, np.abs(choice.f).sum())


def test_nearest_to_an_aspiration(case):
    solution, front = case
    span = decisions.ranges(solution)
    aim = span.ideal + 0.2 * span.width
    choice = decisions.nearest(solution, aim)

    def achievement(f):
        shares = (f - aim) / span.width
        return shares.max(axis=1) + 1e-4 * shares.sum(axis=1)

    assert choice.value == near(least(front, solution.n_objectives, achievement), 1.0)


def test_ranges(case):
    solution, front = case
    span = decisions.ranges(solution)
    for m in range(solution.n_objectives):
        for sign, found in ((1, span.ideal[m]), (-1, -span.nadir[m])):
            expected = least(front, solution.n_objectives, lambda f, m=m, sign=sign: sign * f[:, m])
            assert abs(found - expected) <= 1e-6 * max(1.0, span.width[m])


def test_least_regret(case):
    solution, front = case
    n_objectives = solution.n_objectives
    choice = decisions.robust(solution, {0: (0.5, 2.0), 1: (1.0, 1.5)})
    corners = np.array(
        [[a, b, *[0.0] * (n_objectives - 2)] for a in (0.5, 2.0) for b in (1.0, 1.5)]
    )
    totals = np.array([least(front, n_objectives, lambda f, w=w: f @ w) for w in corners])
    expected = least(front, n_objectives, lambda f: (f @ corners.T - totals).max(axis=1))
    assert choice.value == near(expected, np.abs(choice.f).sum())
    inside = np.random.default_rng(0).uniform([0.5, 1.0], [2.0, 1.5], (20, 2))
    sampled = front(grid(n_objectives, 12))
    for a, b in inside:
        regret = a * choice.f[0] + b * choice.f[1] - (a * sampled[:, 0] + b * sampled[:, 1]).min()
        assert regret <= choice.value + 1e-6


def test_locate_front(case):
    solution, front = case
    span = decisions.ranges(solution)
    target = span.ideal + 0.3 * span.width
    found = decisions.locate_front(solution, target)
    scale = np.ptp(front(solution.set.sample_t), axis=0)
    expected = least(
        front, solution.n_objectives, lambda f: np.sum(((f - target) / scale) ** 2, axis=1)
    )
    assert abs(found.distance**2 - expected) <= 1e-6
