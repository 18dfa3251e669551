"""What patches say at chart points: who answers, and how much a known point is worth elsewhere."""

import numpy as np

from bezierflow.atlas.asking import LEAD, SIGN, ask_patches, best_levels
from bezierflow.atlas.patches import Label, Patch

BOX = (np.zeros(1), np.ones(1))
PLACE = np.array([[0.1, -0.1]])


def constant(level, z):
    """A patch of one variable and two objectives that says the same everywhere; it holds by what z lies within [0, 1]."""
    label = Label(np.ones(2, dtype=bool), np.zeros(0, dtype=bool), np.zeros(1, dtype=int), 0)
    return Patch(label, np.array([[-2.0], [2.0]]), 0, np.array([[z, level, 0.5, 0.5]]), np.array([[1.0, 9.0], [-1.0, 9.0]]), 0.0)


def answer(*patches):
    return int(ask_patches(patches, PLACE, BOX).number[0])


def test_of_those_that_hold_the_lowest_answers():
    assert answer(constant(0.7, 0.5), constant(0.3, 0.5), constant(0.4, 0.5)) == 1


def test_one_that_does_not_hold_is_not_asked_however_low():
    assert answer(constant(0.7, 0.5), constant(0.3, -10 * SIGN)) == 0


def test_one_that_nearly_holds_answers_where_it_is_clearly_lower():
    assert answer(constant(0.7, 0.5), constant(0.3, -0.1 * SIGN)) == 1
    assert answer(constant(0.7, 0.5), constant(0.7 - 0.5 * LEAD, -0.1 * SIGN)) == 0


def test_where_none_holds_the_nearest_to_holding_answers():
    claims = ask_patches([constant(0.1, -0.3), constant(0.9, -0.2)], PLACE, BOX)
    assert claims.number[0] == 1
    assert claims.sign[0] == -0.2
    assert ask_patches([], PLACE, BOX).number[0] == -1


def test_best_levels_are_those_of_all_points():
    rng = np.random.default_rng(0)
    f, a = rng.random((50, 3)), rng.random((200, 3))
    level, where = best_levels(f, a)
    every = np.array([[max(point - place) for point in f] for place in a])
    np.testing.assert_allclose(level, every.min(axis=1))
    np.testing.assert_array_equal(where, every.argmin(axis=1))
    assert np.all(best_levels(np.zeros((0, 3)), a)[0] == np.inf)
