"""The epigraph program: SLSQP ends where first-order conditions hold, and the multipliers are those
of the conditions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.answer import Epigraph, PolynomialMap, Program, first_order, solve
from bezierflow.simplex import multi_indices
from fronts import GivenFront


def bowls(n_objectives, degree=3, seed=0):
    """A front with a bowl for each objective, Σ_k a_mk (t_k − δ_mk)² roughly, a little warped."""
    rng = np.random.default_rng(seed)
    nodes = multi_indices(n_objectives, degree) / degree
    net = np.stack(
        [((nodes - e) ** 2 @ rng.uniform(0.5, 2, n_objectives)) for e in np.eye(n_objectives)],
        axis=1,
    )
    return GivenFront(
        PolynomialMap(net + 0.02 * rng.normal(size=net.shape), n_objectives, degree), n_objectives
    )


def asked(A, c=None, B=None, d=None):
    """A program from nested lists."""
    A = np.asarray(A, dtype=float)
    B = np.zeros((0, A.shape[1])) if B is None else np.asarray(B, dtype=float)
    c, d = (
        np.zeros(len(rows)) if side is None else np.asarray(side, dtype=float)
        for rows, side in ((A, c), (B, d))
    )
    return Program(A, c, B, d)


LINE = GivenFront(PolynomialMap(np.eye(2), 2, 1), 2)
"""f(t) = t for two objectives."""


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 4), st.integers(0, 2**31))
def test_first_order_conditions_hold_where_it_ends(n_objectives, seed):
    rng = np.random.default_rng(seed)
    terrain = bowls(n_objectives, seed=seed)
    limit = terrain.given.values(rng.dirichlet(np.ones(n_objectives), 1))[0, 0]
    A, c = rng.uniform(0.2, 1, (2, n_objectives)), rng.uniform(0, 0.2, 2)
    program = asked(A, c, np.eye(n_objectives)[:1], [limit])
    t = solve(terrain, program, rng.dirichlet(np.ones(n_objectives)))
    weights, residual = first_order(terrain, program, t)
    assert t.min() >= 0
    assert t.sum() == pytest.approx(1, abs=1e-14)
    assert program.violations(terrain.given.values(t[None]))[0] <= 1e-8
    assert residual <= 1e-6
    # Priced by the weights, no coordinate of t is worth moving: t_m is 0 unless the total's slope
    # along it is the least of all.
    gradient = terrain.given.slopes(t[None])[1][0] @ weights
    np.testing.assert_allclose(t * (gradient - gradient.min()), 0, atol=1e-5)
    assert (weights >= -1e-12).all()  # of nonnegative rows


def test_multipliers_of_programs_solved_by_hand():
    middle = asked(np.eye(2))  # the larger of t1 and t2
    np.testing.assert_allclose(solve(LINE, middle, np.array([0.9, 0.1])), [0.5, 0.5], atol=1e-9)
    weights, residual = first_order(LINE, middle, np.array([0.5, 0.5]))
    np.testing.assert_allclose(weights, [0.5, 0.5], atol=1e-12)
    assert residual < 1e-12
    # least t1 while t2 ≤ 0.3: the bound is worth one for one
    bounded = asked([[1.0, 0.0]], B=[[0.0, 1.0]], d=[0.3])
    np.testing.assert_allclose(solve(LINE, bounded, np.array([1.0, 0.0])), [0.7, 0.3], atol=1e-9)
    weights, residual = first_order(LINE, bounded, np.array([0.7, 0.3]))
    np.testing.assert_allclose(weights, [1.0, 1.0], atol=1e-12)
    assert residual < 1e-12
    # the same bound as the goal does not bind at its least
    idle = asked([[1.0, 0.0]], B=[[1.0, 0.0]], d=[0.3])
    np.testing.assert_allclose(
        first_order(LINE, idle, np.array([0.0, 1.0]))[0], [1.0, 0.0], atol=1e-12
    )


@pytest.mark.parametrize(
    ("t", "least"),
    # the goal falls along the simplex; its bound is broken by 0.3
    [([1.0, 0.0], 0.1), ([0.4, 0.6], 0.1)],
)
def test_a_residual_tells_what_is_wrong(t, least):
    assert first_order(LINE, asked([[1.0, 0.0]]), np.array(t))[1] > least
    broken = asked([[1.0, 0.0]], B=[[0.0, 1.0]], d=[t[1] - 0.3])
    assert first_order(LINE, broken, np.array(t))[1] >= 0.3 - 1e-12


def test_a_bound_with_room_has_no_multiplier_for_free():
    # with the bound's multiplier 1 all but its room would be met
    nearly = asked([[1.0, 0.0]], B=[[0.0, 1.0]], d=[0.3 + 5e-6])
    assert 1e-6 < first_order(LINE, nearly, np.array([0.7, 0.3]))[1] < 1e-5


def along_an_edge(seed):
    """On an edge of the simplex a goal and a bound that change along it alone, against each other:
    slopes say the same often."""
    rng = np.random.default_rng(seed)
    n_objectives = int(rng.integers(3, 7))
    ends = rng.permutation(n_objectives)[:2]
    along = np.zeros(n_objectives)
    along[ends] = [1.0, -1.0]
    net = np.stack([rng.uniform(0.3, 1) * along, -rng.uniform(0.3, 1) * along], axis=1)
    t = np.zeros(n_objectives)
    t[ends] = rng.dirichlet(np.ones(2))
    terrain = GivenFront(PolynomialMap(net, n_objectives, 1), n_objectives)
    return terrain, asked([[1.0, 0.0]], B=[[0.0, 1.0]], d=[t @ net[:, 1]]), t, net


def test_multipliers_where_constraints_say_the_same_several_times():
    for seed in range(300):
        terrain, program, t, net = along_an_edge(seed)
        weights, residual = first_order(terrain, program, t)
        assert residual < 1e-12
        price = -np.ptp(net[:, 0]) / np.ptp(net[:, 1])  # what the bound is worth in the goal
        np.testing.assert_allclose(weights, [1.0, -price], rtol=1e-9)


def test_slopes_of_the_epigraph_are_those_of_its_excess():
    terrain = bowls(4)
    program = asked(np.eye(4)[:2], [0.1, 0.2], np.eye(4)[2:], [0.5, 0.4])
    epigraph = Epigraph(terrain, program, np.array([0.4, 0.1, 0.3, 0.2]))
    z = np.array([0.03, -0.05, 0.02, 0.7])
    excess, slopes = epigraph(z)
    assert excess.shape == (2 + 2 + 4,)
    values = terrain.given.values(epigraph.t(z)[None])
    assert excess[:2].max() == pytest.approx(program.goals(values)[0] - z[-1], abs=1e-13)
    assert excess[2:4].max(initial=0) == pytest.approx(program.violations(values)[0], abs=1e-13)
    np.testing.assert_array_equal(excess[4:], -epigraph.t(z))
    for k, step in enumerate(1e-6 * np.eye(4)):
        np.testing.assert_allclose(
            slopes[:, k], (epigraph(z + step)[0] - epigraph(z - step)[0]) / 2e-6, atol=1e-8
        )
    assert epigraph.t(z).sum() == pytest.approx(1, abs=1e-15)


class Broken(PolynomialMap):
    """A front whose slopes are no numbers."""

    def slopes(self, t):
        values, slopes = super().slopes(t)
        return values, np.full_like(slopes, np.nan)


def test_where_slopes_are_no_numbers_the_start_is_the_end():
    terrain = GivenFront(Broken(np.eye(3), 3, 1), 3)
    np.testing.assert_array_equal(
        solve(terrain, asked(np.eye(3)), np.array([0.2, 0.3, 0.5])), [0.2, 0.3, 0.5]
    )
