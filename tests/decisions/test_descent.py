"""The search from starting points: first-order conditions hold where it ends, basins are told apart, nothing below is missed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bezierflow.decisions.basins import Starts, is_strict, leads_to
from bezierflow.decisions.descent import TOL, descend
from bezierflow.decisions.front_map import PolynomialMap, ScaledMap
from bezierflow.decisions.minimax import FEASIBLE, Programs
from bezierflow.decisions.searching import search
from bezierflow.decisions.terrain import MOST_STARTS, Terrain
from bezierflow.decisions.view import _neighbors
from bezierflow.simplex import grid, multi_indices, tangent_basis


def bowls(n_objectives, degree=3, seed=0):
    """A front with a bowl for each objective, (t − e_m)ᵀ A_m (t − e_m) raised to a degree, a little warped."""
    rng = np.random.default_rng(seed)
    at = multi_indices(n_objectives, degree) / degree
    net = np.stack([((at - e) ** 2 @ rng.uniform(0.5, 2, n_objectives)) for e in np.eye(n_objectives)], axis=1)
    return PolynomialMap(net + 0.02 * rng.normal(size=net.shape), n_objectives, degree)


def asked(A, c=None, B=None, d=None):
    """Programs from nested lists."""
    A = np.asarray(A, dtype=float)
    c = np.zeros(A.shape[:2]) if c is None else np.asarray(c, dtype=float)
    B = np.zeros((0, A.shape[2])) if B is None else np.asarray(B, dtype=float)
    return Programs(A, c, B, np.zeros(len(B)) if d is None else np.asarray(d, dtype=float))


def stationarity(front, programs, number, end):
    """The gradient of the Lagrangian along the simplex, by the front's own Jacobian."""
    _, jacobian, _ = front.derivatives(end.t[None])
    n_goals, n_rows = programs.c.shape[1], programs.n_rows
    weights = end.dual[:n_goals] @ programs.A[number] + end.dual[n_goals:n_rows] @ programs.B
    np.testing.assert_allclose(programs.weights(np.array([number]), end.dual[None])[0], weights, atol=1e-15)
    return weights @ jacobian[0] - end.dual[n_rows:] @ tangent_basis(len(end.t))


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 4), st.integers(0, 2**31))
def test_first_order_conditions_hold_at_every_end(n_objectives, seed):
    rng = np.random.default_rng(seed)
    front = bowls(n_objectives, seed=seed)
    limit = front.values(rng.dirichlet(np.ones(n_objectives), 1))[0, 0]
    programs = asked(rng.uniform(0.2, 1, (2, 2, n_objectives)), rng.uniform(0, 0.2, (2, 2)), np.eye(n_objectives)[:1], [limit])
    starts = rng.dirichlet(np.ones(n_objectives), 6)
    which = np.arange(6) % 2
    for number, end in zip(which, descend(front, programs, which, starts), strict=True):
        values = front.values(end.t[None])
        assert end.t.min() >= 0
        assert end.t.sum() == pytest.approx(1, abs=1e-14)
        assert end.goal == pytest.approx((programs.A[number] @ values[0] - programs.c[number]).max(), abs=1e-13)
        assert end.violation == pytest.approx(max(0.0, *(programs.B @ values[0] - programs.d)), abs=1e-13)
        assert end.violation <= FEASIBLE
        assert end.residual <= TOL
        assert (end.dual >= 0).all()
        np.testing.assert_allclose(stationarity(front, programs, number, end), 0, atol=2 * TOL)
        assert end.dual[:2].sum() == pytest.approx(1, abs=TOL)
        assert end.dual[3:] @ end.t == pytest.approx(0, abs=1e-9)


def test_searches_do_not_disturb_one_another():
    front = bowls(3)
    programs = asked([[[1.0, 0, 0]], [[0.2, 1, 0.4]], [[0, 0.5, 1]]], B=[[0, 1.0, 0]], d=[0.9])
    starts = np.random.default_rng(0).dirichlet(np.ones(3), 9)
    which = np.arange(9) % 3
    for number, start, end in zip(which, starts, descend(front, programs, which, starts), strict=True):
        (alone,) = descend(front, programs, np.array([number]), start[None])
        np.testing.assert_allclose(end.t, alone.t, atol=1e-9)
        assert end.goal == pytest.approx(alone.goal, abs=1e-12)
    assert descend(front, programs, which[:0], starts[:0]) == []


def test_of_bounds_that_exclude_each_other_the_worst_is_broken_as_little_as_can_be():
    front = bowls(3)
    programs = asked([[[0.0, 0, 1]]], B=np.eye(3)[:2], d=[0.05, 0.05])
    (end,) = descend(front, programs, np.array([0]), np.full((1, 3), 1 / 3))
    dense = front.values(grid(3, 300)) @ programs.B.T - programs.d
    assert end.violation == pytest.approx(dense.max(axis=1).min(), abs=2e-3)
    assert end.violation > 0.1


def two_basins():
    """One value over a segment with a deep basin at one end and a shallow one at the other, and a second value that falls."""
    along = np.linspace(0, 1, 7)
    return PolynomialMap(np.stack([np.array([0.0, 1.0, 1.5, 2.0, 1.5, 0.8, 0.3]), 1 - along], axis=1), 2, 6)


def leading_to_the_deep_one(near):
    """For points between two basins: where they are, how high, and which lead to the deep basin's end."""
    front, programs, t = two_basins(), asked([[[1.0, 0.0]]]), grid(2, 40)
    (end,) = descend(front, programs, np.array([0]), t[:1])
    starts = Starts(np.zeros(len(t), dtype=int), np.arange(len(t)), t, front.values(t))
    return t, end, starts.values[:, 0], leads_to(front, programs, starts, [end] * len(t), tol=TOL, near=near)


def test_a_basin_of_its_own_does_not_lead_to_another():
    _, _, heights, leads = leading_to_the_deep_one(near=0.0)
    top = int(np.argmax(heights))
    assert leads[: top + 1].all()
    assert not leads[top + 2 :].any()


def test_nothing_leads_to_an_end_that_breaks_a_bound():
    front, programs = bowls(2), asked([[[1.0, 0.0]]], B=[[0.0, 1.0], [1.0, 0.0]], d=[0.0, 0.0])
    (end,) = descend(front, programs, np.array([0]), np.array([[0.5, 0.5]]))
    assert end.violation > FEASIBLE
    t = np.array([[0.4, 0.6]])
    assert not leads_to(front, programs, Starts(np.array([0]), np.array([-1]), t, front.values(t)), [end], tol=TOL, near=1.0)[0]


def test_a_flat_bottom_is_not_strict():
    flat = PolynomialMap(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0], [1.0, 3.0]]) @ np.diag([0.0, 1.0]), 2, 3)
    for front, strict in ((bowls(2), True), (flat, False)):
        programs = asked([[[1.0, 0.0]]] if not strict else [[[0.5, 0.5]]])
        (end,) = descend(front, programs, np.array([0]), np.array([[0.5, 0.5]]))
        assert is_strict(front, programs, 0, end) is strict


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 4), st.integers(0, 2**31))
def test_no_goal_that_keeps_the_bounds_is_below_the_lagrangian(n_objectives, seed):
    rng = np.random.default_rng(seed)
    front, t = bowls(n_objectives, seed=seed), grid(n_objectives, 12)
    values = front.values(t)
    programs = asked(rng.uniform(0.1, 1, (1, 2, n_objectives)), B=np.eye(n_objectives)[:1], d=[np.median(values[:, 0])])
    (end,) = descend(front, programs, np.array([0]), t[:1])
    allowed = programs.violation(values) <= 0
    places = np.concatenate([values, front.values(end.t[None])])
    *heights, at_end = programs.lagrangians(np.array([0]), end.dual[None], places[None])[0]
    assert (np.array(heights)[allowed] <= programs.goals(values)[0, allowed] + 1e-12).all()
    assert at_end == pytest.approx(end.goal, abs=2 * TOL)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 4), st.integers(1, 5), st.integers(0, 2**31))
def test_starts_are_the_lowest_minima_of_the_grid(n_objectives, n_programs, seed):
    resolution = {2: 60, 3: 15, 4: 9}[n_objectives]
    t, neighbors = grid(n_objectives, resolution), _neighbors(n_objectives, resolution)
    rank = np.random.default_rng(seed).normal(size=(n_programs, len(t)))
    front = bowls(n_objectives)
    which, where = Terrain(front, front, t, front.values(t), neighbors).starts(rank)
    for number in range(n_programs):
        own, beside = rank[number], rank[number][neighbors]
        lowest = np.flatnonzero((own <= beside.min(axis=1)) & (2 * own - beside.max(axis=1) <= own.min()))
        lowest = lowest[np.argsort(own[lowest])][:MOST_STARTS]
        np.testing.assert_array_equal(where[which == number], lowest)


@pytest.mark.parametrize("n_objectives", [2, 3, 4])
def test_the_first_two_neighbors_are_on_opposite_sides(n_objectives):
    t, neighbors = grid(n_objectives, 6), _neighbors(n_objectives, 6)
    one, other = t[neighbors[:, 0]], t[neighbors[:, 1]]
    inside = (np.abs(one - t).max(axis=1) > 0) & (np.abs(other - t).max(axis=1) > 0)
    assert inside.any()
    np.testing.assert_allclose(((one + other) / 2)[inside], t[inside], atol=1e-12)
    far = np.abs(t[neighbors] - t[:, None]).sum(axis=2) * 6 / 2
    assert set(np.unique(far.round(9))) <= {0.0, 1.0}


class Counting(PolynomialMap):
    """A front that counts how many places were looked at."""

    looks = 0

    def expansions(self, t):
        self.looks += len(t)
        return super().expansions(t)


class Kinked(Counting):
    """A front with a kink at its first corner: it rises there steeply, and its derivatives say that it does not rise at all."""

    def expansions(self, t):
        every = super().expansions(t)
        every[t[:, 0] == 1, :, 1] = 0.0
        return every


@pytest.mark.parametrize("trust", [np.inf, 0.1])
def test_a_search_at_a_kink_comes_to_an_end_there(trust):
    front = Kinked(np.array([[0.0], [1.0], [0.5], [1.0]]), 2, 3)  # from the corner it rises, then falls a little
    programs = asked([[[1.0]]])
    (end,) = descend(front, programs, np.array([0]), np.array([[1.0, 0.0]]), np.array([[1.0, 0.0, 2.0]]), trust=trust)
    np.testing.assert_array_equal(end.t, [1.0, 0.0])
    assert end.goal == 0
    assert front.looks == 1 if trust < 1 else front.looks < 20


def test_a_start_seen_before_is_searched_from_like_any_other_and_not_looked_at():
    plain, programs = bowls(3, seed=5), asked([[[0.2, 0.3, 0.5]], [[1.0, 0.1, 0.1]]], B=[[0.0, 1.0, 0.0]], d=[0.4])
    front, which, starts = Counting(plain.points, 3, plain.degree), np.array([0, 1, 1]), grid(3, 4)[[4, 7, 11]]
    looked = descend(front, programs, which, starts)
    all_looks, front.looks = front.looks, 0
    seen = descend(front, programs, which, starts, expansions=plain.expansions(starts))
    assert front.looks == all_looks - len(starts)
    for one, other in zip(looked, seen, strict=True):
        np.testing.assert_array_equal(one.t, other.t)


def test_what_is_near_an_end_leads_there():
    t, end, heights, leads = leading_to_the_deep_one(near=0.9)
    near = np.abs(t - end.t).max(axis=1) <= 0.9
    assert near[int(np.argmax(heights)) + 2]  # some of them from beyond the top
    assert leads[near].all()
    assert not leads[-1]


@pytest.mark.parametrize("guide", ["true", "known on the grid", "unknown"])
def test_values_of_a_guide_on_the_grid(guide):
    true, other, t = bowls(3), bowls(3, seed=1), grid(3, 6)
    guide = {"true": true, "known on the grid": other, "unknown": ScaledMap(other, np.ones(3), np.full(3, 2.0))}[guide]
    terrain = Terrain(true, guide, t, true.values(t), np.zeros((len(t), 2), dtype=int))
    where = np.array([[3, 5], [0, 7]])
    np.testing.assert_allclose(terrain.guide_values(where), guide.values(t[where.ravel()]).reshape(2, 2, 3), atol=1e-14)
    assert terrain.guide_values(where[:0]).shape == (0, 2, 3)
    known = terrain.expansions(where[0])
    assert (known is None) == isinstance(guide, ScaledMap)
    if known is not None:
        np.testing.assert_allclose(known, guide.expansions(t[where[0]]), atol=1e-14)


def test_every_question_has_an_answer_where_no_point_is_allowed():
    front, t = bowls(2), grid(2, 20)
    terrain = Terrain(front, front, t, front.values(t), _neighbors(2, 20))
    programs = asked([[[1.0, 0.0]], [[1.0, 0.1]]], B=[[1.0, 0.0]], d=[-10.0])  # the lowest point is the first of the grid
    found = search(terrain, programs)
    assert len(found) == 2
    for one in found:
        np.testing.assert_allclose(one.end.t, [1.0, 0.0], atol=1e-6)
        assert one.end.violation > 9
