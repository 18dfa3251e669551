"""A problem with maximized objectives answers as the same problem negated by hand, with the signs
flipped back."""

from pathlib import Path

import numpy as np
import pytest

import bezierflow as bf
from bezierflow import decisions
from solved import distances_to_points, turned

SIGNS = np.array([1.0, -1.0, 1.0])
"""The second objective is maximized."""


@pytest.fixture(scope="module", params=["file", "objectives", "atlas"])
def pair(request):
    """By hand, and with the second objective maximized."""
    if request.param == "atlas":
        by_hand = bf.load(Path(__file__).parent.parent / "explorer" / "atlases" / "3.bez")
    else:
        by_hand = distances_to_points(3, 3, objectives=request.param == "objectives")
    return by_hand, turned(by_hand, 1)


@pytest.fixture(scope="module")
def middle(pair):
    """Bounds that cut the front, from its ranges by hand; and the same for the maximized
    objective's own sign."""
    span = decisions.ranges(pair[0])
    limit = span.ideal + 0.4 * span.width
    return {0: (None, limit[0]), 1: (None, limit[1])}, {0: (None, limit[0]), 1: (-limit[1], None)}


def test_one_number_is_a_least_value_where_an_objective_is_maximized(pair, middle):
    _, shown = pair
    limit = middle[1][1][0]
    plain = decisions.best(shown, minimize=0, subject_to={1: limit})
    np.testing.assert_array_equal(
        plain.t, decisions.best(shown, minimize=0, subject_to={1: (limit, None)}).t
    )


def test_the_best_ratio_is_that_of_a_fine_grid():
    """Largest where the upper objective is maximized, least where it is minimized, with and without
    bounds."""
    f = {"gain": lambda x: 3 - (x[0] - 2) ** 2 - x[1] ** 2, "risk": lambda x: 1 + x @ x}
    solution = bf.minimize(f, np.ones(2), maximize="gain")
    t = np.linspace(0, 1, 4001)
    gain, risk = np.asarray(solution.front(np.column_stack([t, 1 - t]))).T
    sharpe = decisions.best_ratio(solution, "gain", "risk", above=-2.0)
    np.testing.assert_allclose(sharpe.value, ((gain + 2) / risk).max(), rtol=1e-6)
    np.testing.assert_allclose(sharpe.value, (sharpe.f[0] + 2) / sharpe.f[1], rtol=1e-12)
    assert sharpe.question == "largest (gain + 2) per risk"
    price = decisions.best_ratio(solution, "risk", "gain", subject_to={"gain": 2.5})
    inside = gain >= 2.5
    assert price.value <= (risk[inside] / gain[inside]).min() <= price.value + 1e-3
    assert price.f[0] >= 2.5 - 1e-6
    with pytest.raises(
        ValueError, match=r"per='gain' must be positive all over the front, but gain is -1"
    ):
        decisions.best_ratio(solution, "risk", "gain")


def same(by_hand, shown):
    np.testing.assert_allclose(shown.t, by_hand.t, atol=1e-9)
    np.testing.assert_allclose(shown.f, SIGNS * by_hand.f, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(shown.x, by_hand.x, rtol=1e-9, atol=1e-9)


def test_the_front_and_points_of_it(pair):
    by_hand, shown = pair
    t = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(shown.front(t), SIGNS * np.asarray(by_hand.front(t)))
    np.testing.assert_allclose(
        shown.at(weights=[1, 2, 3]), by_hand.at(weights=[1, 2, 3]), atol=1e-9
    )
    hope = np.asarray(by_hand.front(t[0])) - 0.1
    np.testing.assert_allclose(
        shown.at(aspiration=SIGNS * hope), by_hand.at(aspiration=hope), atol=1e-9
    )
    np.testing.assert_allclose(shown.spread(9).F, SIGNS * by_hand.spread(9).F)


@pytest.mark.slow("atlas")
def test_every_question(pair, middle):
    by_hand, shown = pair
    same(
        decisions.best(by_hand, 1, middle[0]),
        decisions.best(shown, maximize=1, subject_to=middle[1]),
    )
    same(decisions.best(by_hand, 2, middle[0]), decisions.best(shown, 2, middle[1]))
    hope = decisions.ranges(by_hand).ideal + 0.1
    same(decisions.nearest(by_hand, hope), decisions.nearest(shown, SIGNS * hope))
    same(decisions.nearest(by_hand, {0: hope[0]}), decisions.nearest(shown, {0: hope[0]}))
    same(decisions.knee(by_hand), decisions.knee(shown))
    same(decisions.compromise(by_hand, {0: 1, 1: 3}), decisions.compromise(shown, {0: 1, 1: 3}))
    prices = {0: (1, 2), 1: (1, 3)}
    same(decisions.robust(by_hand, prices), decisions.robust(shown, prices))
    same(
        decisions.knee(decisions.keep(by_hand, middle[0])),
        decisions.knee(decisions.keep(shown, middle[1])),
    )


def test_values_have_the_sign_of_what_was_asked(pair, middle):
    by_hand, shown = pair
    choice = decisions.best(shown, maximize=1, subject_to=middle[1])
    assert choice.value == pytest.approx(choice.f[1])
    assert choice.value == pytest.approx(-decisions.best(by_hand, 1, middle[0]).value)
    assert decisions.compromise(shown, [1, 2, 3]).value == pytest.approx(
        decisions.compromise(by_hand, [1, 2, 3]).value
    )
    np.testing.assert_allclose(
        choice.weights, decisions.best(by_hand, 1, middle[0]).weights, rtol=1e-6, atol=1e-9
    )


def test_what_had_to_give(pair):
    by_hand, shown = pair
    low = decisions.ranges(by_hand).ideal + 1e-3
    asked = decisions.best(by_hand, 2, {0: (None, low[0]), 1: (None, low[1])})
    other = decisions.best(shown, 2, {0: (None, low[0]), 1: (-low[1], None)})
    same(asked, other)
    assert [one.by for one in other.relaxed] == pytest.approx([one.by for one in asked.relaxed])
    assert "f2: asked for at least" in str(
        next(one for one in other.relaxed if one.objective == "f2")
    )


@pytest.mark.slow("atlas")
def test_ranges_rates_and_locations(pair, middle):
    by_hand, shown = pair
    for args in ((), ("bounds",)):
        one, other = (
            decisions.ranges(s, m) if args else decisions.ranges(s)
            for s, m in zip(pair, middle, strict=True)
        )
        np.testing.assert_allclose(other.ideal, SIGNS * one.ideal, atol=1e-9)
        np.testing.assert_allclose(other.nadir, SIGNS * one.nadir, atol=1e-9)
        np.testing.assert_allclose(other.width, one.width)
    t = decisions.knee(by_hand).t
    one, other = decisions.rates(by_hand, t), decisions.rates(shown, t)
    np.testing.assert_allclose(
        other.matrix, one.matrix * SIGNS[:, None] * SIGNS[None, :], rtol=1e-9
    )
    np.testing.assert_allclose(other.weights, one.weights, rtol=1e-9)
    f = np.asarray(by_hand.front(t)) + 0.05
    same(decisions.locate_front(by_hand, f), decisions.locate_front(shown, SIGNS * f))
    x = decisions.knee(by_hand).x + 0.05
    same(decisions.locate(by_hand, x), decisions.locate(shown, x))


def test_regions_know_what_is_in_them(pair, middle):
    regions = [decisions.keep(s, m) for s, m in zip(pair, middle, strict=True)]
    t = np.random.default_rng(0).dirichlet(np.ones(3), 50)
    inside = [region.contains(t) for region in regions]
    np.testing.assert_array_equal(*inside)


def test_polish_and_zoom():
    by_hand = distances_to_points(3, 3, objectives=True)
    shown = turned(by_hand, 1)
    same(*(decisions.polish(s, decisions.knee(s)) for s in (by_hand, shown)))
    corners = np.array([[1, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5]])
    t = np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(
        np.asarray(decisions.zoom(shown, corners).front(t)),
        SIGNS * np.asarray(decisions.zoom(by_hand, corners).front(t)),
    )


def test_the_wrong_direction_is_told():
    shown = turned(distances_to_points(3, 3), 1)
    with pytest.raises(
        ValueError, match=r"this objective is maximized: write best\(solution, maximize='f2'\)"
    ):
        decisions.best(shown, "f2")
    with pytest.raises(ValueError, match="this objective is minimized"):
        decisions.best(shown, maximize=0)
    with pytest.raises(ValueError, match="one of minimize"):
        decisions.best(shown)
