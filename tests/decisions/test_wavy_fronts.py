"""Fronts with many basins, which no optimizer would return: the search must still find the lowest
one."""

import dataclasses
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow import decisions
from bezierflow.answer import FittedFront, PolynomialMap
from bezierflow.bezier import BezierSimplex
from bezierflow.simplex import grid, n_controls
from solved import distances_to_points

DENSE = {2: grid(2, 3000), 3: grid(3, 110), 4: grid(4, 28)}
SOLUTIONS = {n_objectives: distances_to_points(n_objectives, 3) for n_objectives in DENSE}


def wavy(rng, n_objectives, degree):
    """A solution whose front is a random polynomial in units of its own for each objective, and
    that polynomial."""
    net = rng.normal(size=(n_controls(n_objectives, degree), n_objectives)) * 10.0 ** rng.integers(
        -3, 4, size=n_objectives
    )
    front = FittedFront(
        BezierSimplex(net, n_objectives, degree), np.zeros(n_objectives), np.zeros(n_objectives)
    )
    return dataclasses.replace(SOLUTIONS[n_objectives], known_front=front), PolynomialMap(
        net, n_objectives, degree
    )


# in the last two the lowest rank of the grid is in a basin outside
@pytest.mark.parametrize("seed", [*range(12), 14, 258])
def test_ranges_of_a_part_are_no_narrower_than_on_a_dense_grid(seed):
    rng = np.random.default_rng(seed)
    n_objectives, degree = int(rng.integers(2, 5)), int(rng.integers(2, 6))
    solution, front = wavy(rng, n_objectives, degree)
    whole = decisions.ranges(solution)
    limit = whole.ideal[0] + rng.uniform(0.05, 0.9) * whole.width[0]
    part = decisions.ranges(solution, {0: (None, limit)})
    f = front.values(DENSE[n_objectives])
    f = f[f[:, 0] <= limit]
    assert part.feasible
    assert (part.ideal <= f.min(axis=0) + 1e-6 * whole.width).all()
    assert (part.nadir >= f.max(axis=0) - 1e-6 * whole.width).all()
    assert part.nadir[0] <= limit


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 4), st.integers(2, 5), st.integers(0, 2**31))
def test_no_answer_is_worse_than_a_dense_grid(n_objectives, degree, seed):
    rng = np.random.default_rng(seed)
    solution, front = wavy(rng, n_objectives, degree)
    f = front.values(DENSE[n_objectives])
    low, width = f.min(axis=0), np.ptp(f, axis=0)

    limit = low[1] + rng.uniform(0.05, 0.9) * width[1]
    floor = low[0] + rng.uniform(0, 0.5) * width[0]
    choice = decisions.best(solution, 0, {1: (None, limit), 0: (floor, None)})
    allowed = (f[:, 1] <= limit) & (f[:, 0] >= floor)
    if allowed.any():
        assert choice.feasible
        assert choice.f[0] <= f[allowed, 0].min() + 1e-6 * width[0]

    prices = rng.uniform(0, 1, n_objectives) / width
    assert decisions.compromise(solution, prices).value <= (f @ prices).min() + 1e-6

    target = low + rng.uniform(0, 1, n_objectives) * width
    scale = solution.set.scale
    nearest = np.linalg.norm((f - target) / scale, axis=1).min()
    assert decisions.locate_front(solution, target).distance <= nearest + 1e-6


@pytest.mark.parametrize("seed", range(12))
def test_no_corner_of_the_weights_has_a_larger_regret_than_was_said(seed):
    rng = np.random.default_rng(seed)
    n_objectives = 2 + seed % 2
    solution, front = wavy(rng, n_objectives, 3)
    f = front.values(DENSE[n_objectives])
    low = rng.uniform(0, 1, n_objectives) / np.ptp(f, axis=0)
    high = low * rng.uniform(1.5, 6, n_objectives)
    choice = decisions.robust(solution, {m: (low[m], high[m]) for m in range(n_objectives)})
    corners = np.array(list(product(*zip(low, high, strict=True))))
    regrets = corners @ choice.f - (f @ corners.T).min(axis=0)
    assert choice.value >= regrets.max() - 1e-6
