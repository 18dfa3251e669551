"""What cannot be met: the least largest violation first, then the question with bounds loosened by
it."""

import dataclasses

import numpy as np
import pytest

from bezierflow import decisions
from bezierflow.answer import FittedFront
from bezierflow.bezier import BezierSimplex
from bezierflow.decisions.asking import BROKEN, reach
from bezierflow.simplex import grid
from solved import distances_to_points


def with_front(net, degree):
    """A solution whose front is the polynomial with this net."""
    n_objectives = np.shape(net)[1]
    front = FittedFront(
        BezierSimplex(np.asarray(net, dtype=float), n_objectives, degree),
        *np.zeros((2, n_objectives)),
    )
    return dataclasses.replace(distances_to_points(n_objectives, 3), known_front=front)


FLAT = with_front([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], 1)
"""f(t) = t for three objectives: each is least on a whole edge."""

ROUND = distances_to_points(3, 3)
"""Squared distances to three points: each is least at one point alone."""


def test_bounds_that_can_be_met_are_not_loosened():
    bounds = np.array([[-np.inf, 0.4], [-np.inf, np.inf], [0.2, np.inf]])
    B, d, least = reach(FLAT, bounds)
    np.testing.assert_allclose(B, [[0, 0, -1], [1, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(d, [-0.2, 0.4], atol=1e-8)
    assert (d < [-0.2, 0.4]).all()  # kept by a margin
    assert least is None


def test_among_points_that_break_a_bound_alike_the_question_decides():
    choice = decisions.best(FLAT, 1, {0: (None, -0.2)})
    np.testing.assert_allclose(choice.t, [0.0, 0.0, 1.0], atol=1e-6)
    (relaxation,) = choice.relaxed
    assert relaxation.by == pytest.approx(0.2, abs=BROKEN)
    assert relaxation.asked == -0.2


def test_a_point_that_alone_breaks_the_bounds_least_is_the_answer_to_every_question():
    wish = {0: (None, -0.3), 1: (None, 0.0)}
    answers = [
        decisions.best(ROUND, 0, wish),
        decisions.best(ROUND, 2, wish),
        decisions.compromise(ROUND, [1.0, 2.0, 3.0], wish),
        decisions.robust(ROUND, {0: (1.0, 2.0), 2: (0.5, 4.0)}, wish),
    ]
    for choice in answers:
        assert not choice.feasible
        assert choice.confidence.residual < 1e-7
        np.testing.assert_allclose(choice.t, answers[0].t, atol=1e-4)
    violation = (answers[0].f[:2] - [-0.3, 0.0]) / ROUND.set.scale[:2]
    dense = (np.asarray(ROUND.front(grid(3, 150)))[:, :2] - [-0.3, 0.0]) / ROUND.set.scale[:2]
    assert violation.max() <= dense.max(axis=1).min() + 1e-9
    # both bounds give alike, in units of ranges
    assert violation[0] == pytest.approx(violation[1], abs=1e-8)
    # no other point is within reach, whatever the prices
    assert answers[3].value == pytest.approx(0.0, abs=1e-9)


def test_regret_counts_within_the_bounds_as_loosened():
    choice = decisions.robust(FLAT, {1: (1.0, 3.0), 2: (1.0, 2.0)}, {0: (None, -0.2)})
    f = np.asarray(FLAT.front(grid(3, 60)))
    f = f[f[:, 0] <= 1e-9]  # the edge that breaks the bound least
    prices = np.array([[0.0, b, c] for b in (1.0, 3.0) for c in (1.0, 2.0)])
    regrets = f @ prices.T - (f @ prices.T).min(axis=0)
    assert choice.f[0] == pytest.approx(0.0, abs=1e-8)
    assert choice.value <= regrets.max(axis=1).min() + 1e-8
    assert choice.value == pytest.approx(
        np.max(prices @ choice.f - (f @ prices.T).min(axis=0)), abs=1e-7
    )


def test_room_between_the_points_of_the_grid_is_found():
    choice = decisions.best(FLAT, 1, {0: (0.5001, 0.5003), 2: (0.2001, 0.2003)})
    assert choice.feasible
    assert 0.5001 <= choice.f[0] <= 0.5003
    assert 0.2001 <= choice.f[2] <= 0.2003
    assert choice.f[1] == pytest.approx(1 - 0.5003 - 0.2003, abs=1e-7)


def test_weights_price_a_bound_by_what_it_costs():
    """f = t²: least f1 with f2 ≤ ¼ is at t = (½, ½), where one unit of the bound costs one of the
    goal."""
    solution = with_front([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]], 2)
    choice = decisions.best(solution, 0, {1: (None, 0.25)})
    np.testing.assert_allclose(choice.weights, [1.0, 1.0], rtol=1e-6)
    looser = decisions.best(solution, 0, {1: (None, 0.2501)})
    assert (choice.f[0] - looser.f[0]) / 1e-4 == pytest.approx(
        choice.weights[1] / choice.weights[0], rel=1e-3
    )
