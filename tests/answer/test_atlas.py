"""What patches say at chart points: who answers, and how much a known point is worth elsewhere."""

import numpy as np
import pytest

from bezierflow.answer import (
    SCHEDULE,
    BezierAtlas,
    Label,
    Patch,
    Units,
    ask_patch,
    ask_patches,
    best_levels,
)
from bezierflow.bezier import Raveling

BOX = (np.zeros(1), np.ones(1))
PLACE = np.array([[0.1, -0.1]])


def constant(level, z):
    """A patch of one variable and two objectives that says the same everywhere; it holds by what z
    lies within [0, 1]."""
    label = Label(np.ones(2, dtype=bool), np.zeros(0, dtype=bool), np.zeros(1, dtype=int), 0)
    return Patch(
        label,
        np.array([[-2.0], [2.0]]),
        0,
        np.array([[z, level, 0.5, 0.5]]),
        np.array([[1.0, 9.0], [-1.0, 9.0]]),
        0.0,
    )


def answer(*patches):
    return int(ask_patches(patches, PLACE, BOX).number[0])


def test_of_those_that_hold_the_lowest_answers():
    assert answer(constant(0.7, 0.5), constant(0.3, 0.5), constant(0.4, 0.5)) == 1


def test_one_that_does_not_hold_is_not_asked_however_low():
    assert answer(constant(0.7, 0.5), constant(0.3, -10 * SCHEDULE.nearly)) == 0


def test_one_that_nearly_holds_answers_where_it_is_clearly_lower():
    assert answer(constant(0.7, 0.5), constant(0.3, -0.1 * SCHEDULE.nearly)) == 1
    assert (
        answer(constant(0.7, 0.5), constant(0.7 - 0.5 * SCHEDULE.lead, -0.1 * SCHEDULE.nearly)) == 0
    )


def test_in_a_sliver_between_neighbors_no_patch_of_another_basin_answers():
    """Neighbors miss each other by their errors; another basin holds there, with a level that is
    higher by a little only."""
    assert answer(constant(0.7, 0.5), constant(0.6995, -2e-7), constant(0.6995, -1e-7)) == 2


def test_where_none_holds_the_nearest_to_holding_answers():
    claims = ask_patches([constant(0.1, -0.3), constant(0.9, -0.2)], PLACE, BOX)
    assert claims.number[0] == 1
    assert claims.sign[0] == -0.2
    assert ask_patches([], PLACE, BOX).number[0] == -1


@pytest.mark.parametrize("n_objectives", [2, 3])
@pytest.mark.parametrize("tie", [0.0, 0.3])
def test_best_levels_are_those_of_all_points(n_objectives, tie):
    rng = np.random.default_rng(0)
    f, a = rng.random((50, n_objectives)), rng.random((200, n_objectives))
    level, where = best_levels(f, a, tie)
    every = np.array([[max(point - place) + tie * point.sum() for point in f] for place in a])
    np.testing.assert_allclose(level, every.min(axis=1))
    np.testing.assert_array_equal(where, every.argmin(axis=1))
    assert np.all(best_levels(np.zeros((0, n_objectives)), a)[0] == np.inf)


def test_known_points_without_values_are_the_best_of_none():
    rng = np.random.default_rng(1)
    f, a = rng.random((30, 2)), rng.random((100, 2))
    f[::3, 0], f[1::7, 1] = np.inf, np.nan
    usable = np.flatnonzero(np.isfinite(f).all(axis=1))
    level, where = best_levels(f, a)
    np.testing.assert_array_equal(where, usable[best_levels(f[usable], a)[1]])
    np.testing.assert_allclose(level, (f[where] - a).max(axis=1))
    assert not np.isfinite(best_levels(f[::3], a)[0]).any()


def test_many_curves_say_together_what_each_says_alone():
    """Curves of several labels and degrees, whose domains overlap and leave gaps."""
    rng, patches = np.random.default_rng(2), []
    for k in range(60):
        begin = rng.uniform(-1, 1)
        end = begin + rng.uniform(0.01, 0.3)
        side = np.array([0, (-1, 0, 1)[k % 3]])
        label = Label(np.ones(2, dtype=bool), np.zeros(0, dtype=bool), side, 0)
        degree = 1 + k % 4
        y = rng.uniform(0.1, 0.9, (degree + 1, 5))
        domain = np.array([[1.0, end], [-1.0, -begin]])
        patches.append(Patch(label, np.array([[begin], [end]]), degree, y, domain, 0.0))
    box = np.zeros(2), np.ones(2)
    c = rng.uniform(-1.2, 1.2, 400)
    a = np.stack([c, -c], axis=1) / np.sqrt(2)
    level, values = np.full((len(a), 60), np.inf), np.zeros((len(a), 60, 5))
    for k, patch in enumerate(patches):
        y, sign, rows = ask_patch(patch, a, box)
        assert (sign > 0).all()  # everything holds, so that the lowest one answers
        level[rows, k], values[rows, k] = y[:, 2], y
    claims = ask_patches(patches, a, box)
    found = np.isfinite(level).any(axis=1)
    assert 0.1 < found.mean() < 1
    np.testing.assert_array_equal(claims.number, np.where(found, level.argmin(axis=1), -1))
    np.testing.assert_allclose(claims.y[found], values[found, claims.number[found]], atol=1e-12)


def test_a_single_point_answers_only_where_no_known_point_is_lower():
    """Between (0.6, 0.9999) and (0, 1) there is a gap, in which the second one is a little better:
    by less than curves may be off."""
    first, none = np.array([True, False]), np.zeros(0, dtype=bool)

    def point(z, f, trimmed):
        label = Label(first, none, np.zeros(1, dtype=int), 0, trimmed=trimmed)
        return Patch(label, np.zeros((1, 0)), 0, np.array([[z, *f, f[1]]]), np.zeros((0, 1)), 0.0)

    zero, one = np.zeros(2), np.ones(2)
    units = Units(zero, one, zero[:1], one[:1], zero[:1], one[:1])
    patches = point(0.6, (0.6, 0.9999), True), point(0.0, (0.0, 1.0), False)
    atlas = BezierAtlas(patches, units, Raveling.of(zero[:1]), 1.0)
    gap = np.array([[-0.2003, 0.2003], [-0.3, 0.3], [-0.45, 0.45]])
    np.testing.assert_array_equal(atlas.mapped(gap).z, np.zeros((3, 1)))


def test_where_no_patch_holds_the_point_with_the_least_level_answers():
    """A corner (0, 1) claims the level of its first objective everywhere; its second one is far
    above that at (0.6, 0)."""
    corner = Label(np.array([True, False]), np.zeros(0, dtype=bool), np.zeros(1, dtype=int), 0)
    point = Patch(
        corner, np.zeros((1, 0)), 0, np.array([[0.2, 0.0, 1.0, 1.0]]), np.zeros((0, 1)), 0.0
    )
    middle = constant(0.5, 0.5)
    middle = Patch(
        middle.label,
        middle.corners,
        0,
        middle.control_points,
        np.array([[1.0, 0.1], [-1.0, 0.1]]),
        0.0,
    )
    zero, one = np.zeros(2), np.ones(2)
    units = Units(zero, one, zero[:1], one[:1], zero[:1], one[:1])
    atlas = BezierAtlas((point, middle), units, Raveling.of(zero[:1]), 1.0)
    t, a = np.array([0.2, 0.8]), np.array([0.3, -0.3])
    np.testing.assert_allclose(atlas.place(t), a[None], rtol=2e-5)
    assert atlas.flat(t)[0] == 0.5
    level = np.max(atlas.front(t) - a)
    np.testing.assert_allclose(level, best_levels(atlas.points.f, a[None])[0][0], atol=1e-9)
    assert not atlas.holds(t)
