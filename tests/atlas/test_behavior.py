"""Bounds, constraints and sets of any shape, as a user meets them: problems whose fronts are known in
closed form, asked through `minimize` and the public solution alone.

Nothing here knows how the set is found or represented, or what t means on it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import LinearConstraint

import bezierflow as bf
from bezierflow.precision import double_precision
from clipped_means import CENTERS, atlas_in_the_box, clipped_means, distances

EXACT = 1e-5
"""By how much of the objectives' ranges an answer may differ from the truth."""

AT_ENDS = 1e-4
"""The same for an objective at the far end of the front, where another one is at its best and flat:
an error ε there is one of √ε here."""

KEPT = 1e-6
"""By how much an answer may violate a constraint."""

W = np.linspace(0, 1, 1001)
"""Weights of a first objective, or places along a set of one dimension."""


@dataclass(frozen=True)
class Case:
    """A problem, and designs that lie densely on its true Pareto set."""

    objectives: Callable[[Any], Any]
    lower: np.ndarray
    upper: np.ndarray
    truth: np.ndarray
    constraints: Any = None
    violation: Callable[[np.ndarray], np.ndarray] | None = None
    """By how much designs violate the constraints."""

    maximize: tuple[int, ...] = ()

    @cached_property
    def values(self) -> Callable[[np.ndarray], np.ndarray]:
        """The objectives of many designs."""
        compiled = jax.jit(jax.vmap(self.objectives))

        def values(x: np.ndarray) -> np.ndarray:
            with double_precision():
                return np.asarray(compiled(x))

        return values

    @cached_property
    def front(self) -> np.ndarray:
        return self.values(self.truth)

    @cached_property
    def span(self) -> np.ndarray:
        return np.ptp(self.front, axis=0)

    @cached_property
    def signs(self) -> np.ndarray:
        """−1 for objectives that are maximized: signs times values are minimized."""
        return np.where(np.isin(np.arange(len(self.span)), self.maximize), -1.0, 1.0)

    def solve(self, **arguments: Any) -> bf.Solution:
        return bf.minimize(
            self.objectives,
            None,
            bounds=(self.lower, self.upper),
            constraints=self.constraints,
            maximize=list(self.maximize) or None,
            **arguments,
        )


def in_the_box(n_objectives: int) -> Case:
    """Squared distances: the minimizer of a weighted sum is the clipped mean of the centers."""
    inside = np.random.default_rng(0).dirichlet(np.full(n_objectives, 0.6), 2000)
    edges = []
    for m, k in combinations(range(n_objectives), 2):
        # where the mean crosses a bound the set has a corner, which may be the worst of something
        crossings = (np.array([[0.0], [1.0]]) - CENTERS[k]) / (CENTERS[m] - CENTERS[k])
        w = np.clip(np.concatenate([W, crossings.ravel()]), 0, 1)
        edges.append(
            np.outer(w, np.eye(n_objectives)[m]) + np.outer(1 - w, np.eye(n_objectives)[k])
        )
    return Case(
        lambda x: distances(x)[:n_objectives],
        np.zeros(3),
        np.ones(3),
        clipped_means(np.vstack([inside, *edges])),
    )


def in_a_ball() -> Case:
    """The same with |x|² ≤ 1/2: the mean is brought to the ball along its radius."""
    x = np.column_stack([W, 1 - W]) @ CENTERS[:2]
    x *= np.minimum(1, np.sqrt(0.5) / np.linalg.norm(x, axis=1))[:, None]
    return Case(
        lambda x: jnp.sum((x - CENTERS[:2]) ** 2, axis=1),
        np.full(3, -2.0),
        np.full(3, 2.0),
        x,
        constraints=[lambda x: jnp.sum(x**2) - 0.5],
        violation=lambda x: np.maximum(np.sum(x**2, axis=1) - 0.5, 0),
    )


def zdt(number: int) -> Case:
    """ZDT1 to ZDT3 with three variables: on the front all but the first are 0."""

    def objectives(x: Any) -> Any:
        g = 1 + 9 * (x[1] + x[2]) / 2
        ratio = x[0] / g
        # the slope of the root at 0 is infinite, and 0 times it no number
        root = jnp.sqrt(jnp.maximum(ratio, 1e-300))
        bend = [root, ratio**2, root + ratio * jnp.sin(10 * jnp.pi * x[0])][number - 1]
        return jnp.stack([x[0], g * (1 - bend)])

    case = Case(objectives, np.zeros(3), np.ones(3), np.outer(np.linspace(0, 1, 20_001), [1, 0, 0]))
    return Case(objectives, case.lower, case.upper, case.truth[new_lows(case.front)])


def new_lows(f: np.ndarray) -> np.ndarray:
    """Which of many points in the order of their first objective are nondominated."""
    return np.r_[True, f[1:, 1] < np.minimum.accumulate(f[:-1, 1])]


def in_pieces() -> Case:
    """A wave that falls: the front is where it reaches a new low."""

    def objectives(x: Any) -> Any:
        wave = 1 - x[0] - 0.2 * jnp.sin(6 * jnp.pi * x[0])
        return jnp.stack([x[0], wave + (x[1] - 0.5) ** 2])

    line = np.column_stack([np.linspace(0, 1, 20_001), np.full(20_001, 0.5)])
    case = Case(objectives, np.zeros(2), np.ones(2), line)
    return Case(objectives, case.lower, case.upper, line[new_lows(case.front)])


def with_an_isolated_point() -> Case:
    """Two bowls, and far away a place where both objectives have the same local minimizer."""

    def objectives(x: Any) -> Any:
        bowls = jnp.stack([x[0] ** 2, (x[0] - 1) ** 2]) + x[1] ** 2
        well = jnp.array([-0.5, 2.0]) + (x[0] - 3) ** 2 + x[1] ** 2
        # a smooth minimum, which differs from one of the two by less than rounding at the set
        return -jax.nn.logsumexp(-30 * jnp.stack([bowls, well]), axis=0) / 30

    segment = np.column_stack([W, np.zeros_like(W)])
    return Case(
        objectives, np.array([-1.0, -1]), np.array([4.0, 1]), np.vstack([segment, [[3.0, 0.0]]])
    )


MEANS, RISKS = np.array([0.02, 0.05, 0.09, 0.12]), np.array([0.10, 0.12, 0.25, 0.45])


def linear_portfolio() -> Case:
    """Return and risk are linear: the set are edges of the simplex, along the hull of its corners."""
    # risk is a convex function of the mean along the four corners: each is on the hull
    edges = [np.outer(1 - W, a) + np.outer(W, b) for a, b in pairwise(np.eye(4))]
    return portfolio(lambda x: jnp.stack([MEANS @ x, RISKS @ x]), np.vstack(edges))


def quadratic_portfolio() -> Case:
    """Independent risks: x_i = max(0, λ mean_i + ν) / risk_i², with ν such that Σ x = 1."""
    slopes = np.concatenate([[0], np.geomspace(1e-3, 1e3, 2000)])
    low, high = np.full(len(slopes), -1e3), np.ones(len(slopes))
    for _ in range(200):
        middle = (low + high) / 2
        x = np.maximum(np.outer(slopes, MEANS) + middle[:, None], 0) / RISKS**2
        less = x.sum(axis=1) < 1
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    x = x / x.sum(axis=1, keepdims=True)
    return portfolio(lambda x: jnp.stack([MEANS @ x, jnp.sum((RISKS * x) ** 2)]), x)


def portfolio(objectives: Callable, truth: np.ndarray) -> Case:
    return Case(
        objectives,
        np.zeros(4),
        np.ones(4),
        truth,
        constraints=LinearConstraint(np.ones(4), 1, 1),
        violation=lambda x: np.abs(x.sum(axis=1) - 1),
        maximize=(0,),
    )


def maximized() -> Case:
    """A yield that is maximized and a cost, within bounds that cut the set at both ends."""
    ends = np.array([[1.0, 0.5], [-1.0, 0.0]])
    return Case(
        lambda x: jnp.stack([90 - jnp.sum((x - ends[0]) ** 2), jnp.sum((x - ends[1]) ** 2)]),
        np.array([-0.5, -1]),
        np.array([0.8, 1]),
        np.clip(np.column_stack([W, 1 - W]) @ ends, [-0.5, -1], [0.8, 1]),
        maximize=(0,),
    )


CASES: dict[str, Callable[[], Case]] = {
    "two quadratics in a box": lambda: in_the_box(2),
    "three quadratics in a box": lambda: in_the_box(3),
    "quadratics in a ball": in_a_ball,
    "ZDT1": lambda: zdt(1),
    "ZDT2": lambda: zdt(2),
    "ZDT3": lambda: zdt(3),
    "in pieces": in_pieces,
    "with an isolated point": with_an_isolated_point,
    "linear portfolio": linear_portfolio,
    "quadratic portfolio": quadratic_portfolio,
    "maximized": maximized,
}
SLOW = ("ZDT1", "ZDT3", "in pieces", "quadratics in a ball")


@pytest.fixture(
    scope="module",  # so that pytest runs all tests of a case in a row, and solves it once
    params=[pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CASES],
)
def solved(request) -> tuple[Case, bf.Solution]:
    case = CASES[request.param]()
    shared = request.param == "three quadratics in a box"
    return case, atlas_in_the_box() if shared else case.solve()


def test_it_converges(solved):
    _, solution = solved
    assert solution.result.reason is bf.Reason.CONVERGED
    assert solution.success
    assert solution.error.front < EXACT


def test_bounds_hold_exactly_and_constraints_nearly(solved):
    case, solution = solved
    assert (case.lower <= solution.X).all()
    assert (case.upper >= solution.X).all()
    if case.violation is not None:
        assert case.violation(solution.X).max() < KEPT


def test_no_answer_is_dominated_by_another(solved):
    """Not even weakly: as good in all objectives, and better in one."""
    case, solution = solved
    f = case.signs * solution.spread(100).F / case.span
    as_good = (f[:, None] <= f + 1e-9).all(axis=2)
    better = (f[:, None] < f - EXACT).any(axis=2)
    assert not (as_good & better).any()


def test_no_answer_is_beaten_by_the_truth(solved):
    case, solution = solved
    excess = case.signs * (solution.F[:, None] - case.front) / case.span
    assert excess.min(axis=2).max() < EXACT


def test_every_true_point_is_an_answer(solved):
    """A point of the front as an aspiration is met, and cannot be surpassed."""
    case, solution = solved
    wanted = case.front[:: len(case.front) // 25]
    met = case.values(np.stack([solution.at(aspiration=f) for f in wanted]))
    excess = case.signs * (met - wanted) / case.span
    assert excess.max() < EXACT
    assert excess.min() > -AT_ENDS


def test_values_are_the_objectives_of_the_designs(solved, tmp_path):
    """Those of a file, which has no objectives, are as exact as the set."""
    case, solution = solved
    np.testing.assert_allclose(solution.F, case.values(solution.X), rtol=1e-12, atol=1e-14)
    solution.save(tmp_path / "set.bez")
    kept = bf.load(tmp_path / "set.bez")
    off = np.abs((kept.F - case.values(kept.X)) / case.span).max()
    assert off < EXACT if solution.error.patches is None else off < 2 * kept.error.front


@pytest.mark.slow("three quadratics in a box")
def test_the_ideal_and_the_nadir_are_those_of_the_truth(solved):
    case, solution = solved
    found, f = bf.decisions.ranges(solution), case.signs * case.front
    assert np.abs((case.signs * found.ideal - f.min(axis=0)) / case.span).max() < EXACT
    assert np.abs((case.signs * found.nadir - f.max(axis=0)) / case.span).max() < AT_ENDS


def test_weights_lead_to_the_least_weighted_sum(solved):
    case, solution = solved
    weights = np.random.default_rng(1).dirichlet(np.ones(len(case.span)), 3) / case.span
    found = case.values(np.stack([solution.at(weights=w) for w in weights]))
    totals = np.sum(weights * case.signs * found, axis=1)
    assert (totals <= (weights @ (case.signs * case.front).T).min(axis=1) + EXACT).all()


def test_a_seed_repeats_bit_for_bit():
    case = maximized()
    one, other = case.solve(seed=3), case.solve(seed=3)
    assert (one.X == other.X).all()
    assert (one.F == other.F).all()
    assert one.stats.evaluations == other.stats.evaluations


@pytest.mark.parametrize("budget", [0, 50, 200])
def test_a_budget_is_kept(budget):
    """What there is comes back, within the bounds; that it is not all is said. For quadratics a
    hundred evaluations are enough."""
    case = in_the_box(2)
    solution = case.solve(budget=budget)
    assert solution.nfev <= budget
    assert solution.success == (budget == 200)
    assert (case.lower <= solution.X).all()
    assert (case.upper >= solution.X).all()
