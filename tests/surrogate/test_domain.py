"""Designs and the unit cube; worst values of use, as they are given and as they are minimized."""

import json

import numpy as np
import pytest

from bezierflow.surrogate import Search

BOX = ([0.01, 2.0, -1.0, 1e-3], [10.0, 2.0, 3.0, 1e3])
"""The second variable is fixed."""


def search(**settings):
    return Search(BOX, 3, transforms={0: "log10", 3: "log"}, **settings)


def test_the_cube_and_the_box_are_mapped_onto_each_other():
    domain, u = search().domain, np.random.default_rng(0).random((50, 3))
    x = domain.from_cube(u)
    np.testing.assert_allclose(domain.to_cube(x), u, atol=1e-12)
    assert (x[:, 1] == 2.0).all()
    middle = domain.from_cube(np.full((1, 3), 0.5))[0]
    np.testing.assert_allclose(middle, [np.sqrt(0.1), 2.0, 1.0, 1.0])


def test_designs_keep_their_bounds_to_the_last_bit():
    """Powers of logarithms miss them by rounding."""
    rng = np.random.default_rng(0)
    lower = 10 ** rng.uniform(-5, 0, 30)
    one = Search(
        (lower, lower * rng.uniform(1, 9, 30)), 2, transforms=dict.fromkeys(range(30), "log10")
    )
    for corner in (0.0, 1.0):
        x = one.domain.from_cube(np.full((1, 30), corner))[0]
        assert (one.domain.lower <= x).all()
        assert (x <= one.domain.upper).all()


def test_fixed_variables_are_no_dimensions_of_the_search():
    one = search()
    assert one.domain.free.tolist() == [0, 2, 3]
    assert one.n_initial == 8
    assert search(budget=5).n_initial == 5
    assert (one.ask(3)[:, 1] == 2.0).all()


@pytest.mark.parametrize(
    ("worst", "expected"),
    [
        (None, None),
        ({}, None),
        ([None, None, None], None),
        ({"cost": 2.0}, [2.0, None, None]),
        ({"cost": 2.0, 2: -1}, [2.0, None, -1.0]),
        ([1.0, None, 3.0], [1.0, None, 3.0]),
        (np.array([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]),
    ],
)
def test_worst_values_are_read_by_name_by_number_or_in_order(worst, expected):
    """They keep their signs, also where an objective is maximized, and go through JSON."""
    one = search(worst=worst, names={"objectives": ["cost", "mass", "gain"]}, maximize=["gain"])
    assert one.worst == expected
    settings = json.loads(json.dumps(one.settings))
    assert Search.restore(settings).settings == one.settings


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("worst", "says"),
    [
        ({"cost": 1.0}, "worst: 'cost' is no objective; there are 'f1', 'f2'"),
        (
            {1.0: 1.0},
            "worst must give each objective by name, or by its number from 0 to 1, got 1.0",
        ),
        ({0: 1.0, "f1": 2.0}, "worst has two values for 'f1'"),
        ([1.0], "worst must have a value for each of 2 objectives"),
        ([1.0, np.nan], r"worst\[1\] must be a finite number, got nan; leave an objective out"),
        (b"ab", "worst must be a dict such as"),
        (np.array(3.0), "worst must be a dict such as"),
    ],
)
def test_worst_values_that_cannot_be_read_are_named(worst, says):
    with pytest.raises((TypeError, ValueError), match=says):
        Search(([0.0, 0.0], [1.0, 1.0]), 2, worst=worst)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((([0, 0], [1, np.inf]), 2), "bounds must be finite"),
        ((([0, 0], [1, 1]), 1), "n_objectives must be a whole number of at least 2"),
        ((([0, 0], [1, 1]), True), "n_objectives must be a whole number of at least 2"),
        (((0.0, 1.0), 2), "do not tell how many variables there are"),
    ],
)
def test_bounds_and_objectives_that_cannot_be_searched_are_named(arguments, says):
    with pytest.raises((TypeError, ValueError), match=says):
        Search(*arguments)


@pytest.mark.usefixtures("unchecked")
def test_names_and_transforms_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match="bounds must be positive for x1"):
        Search(([0.0, 1.0], [1.0, 2.0]), 2, transforms={0: "log10"})
    with pytest.raises(TypeError, match="names must be given by kind"):
        Search(([0.0, 1.0], [1.0, 2.0]), 2, names=["cost", "mass"])


def test_designs_are_rounded_to_multiples_of_steps_within_the_bounds():
    steps = {"x1": 0.5, 1: 0.1, "x3": 2.0, "x4": 5.0}
    box = ([0.3, 0.0, 1.0, 7.0], [2.2, 1.0, 100.0, 7.0])
    domain = Search(box, 2, transforms={2: "log10"}, steps=steps).domain
    x = domain.rounded(domain.from_cube(np.random.default_rng(0).random((200, 3))))
    assert set(x[:, 0]) == {0.5, 1.0, 1.5, 2.0}
    assert set(x[:, 1]) == {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0}
    assert set(x[:, 2]) <= set(range(2, 102, 2))
    assert set(x[:, 3]) == {7.0}
    u = domain.to_cube(x)
    np.testing.assert_allclose(domain.on_steps(u), u, atol=1e-12)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ({"x9": 1.0}, "steps"),
        ({"x1": 0.0}, r"steps\['x1'\] must be a finite number above 0, got 0.0"),
        ({"x1": 5.0}, r"two multiples at least within the bounds \(0, 1\), got 5"),
        ([0.1], "steps must be a dict such as"),
    ],
)
def test_steps_that_make_no_sense_are_refused(steps, says):
    with pytest.raises((TypeError, ValueError), match=says):
        Search(([0.0], [1.0]), 2, steps=steps)


LISTS = {"values": ((), (1.0, 2.5, 7.0), ("a", "b", "c"))}
"""Of three variables: any value, a list of numbers, three texts."""


def test_each_text_has_a_coordinate_of_its_own():
    domain = Search(([0.0, 1.0, 0.0], [1.0, 7.0, 2.0]), 2, **LISTS).domain
    assert domain.free.tolist() == [0, 1, 2, 2, 2]
    x = np.array([[0.25, 2.5, 1.0], [1.0, 7.0, 2.0]])
    u = domain.to_cube(x)
    np.testing.assert_array_equal(u[:, 2:], [[0, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(domain.from_cube(u), x)
    settable = domain.on_steps(np.random.default_rng(0).random((50, 5)))
    designs = domain.from_cube(settable)
    assert set(designs[:, 1]) == {1.0, 2.5, 7.0}
    assert set(designs[:, 2]) == {0.0, 1.0, 2.0}
    np.testing.assert_allclose(domain.on_steps(settable), settable)


@pytest.mark.slow
def test_designs_that_are_asked_for_can_be_set():
    one = Search(([0.0, 1.0, 0.0], [1.0, 7.0, 2.0]), 2, seed=1, **LISTS)
    for _ in range(4):
        x = one.ask(4)
        assert np.isin(x[:, 1], [1.0, 2.5, 7.0]).all()
        assert np.isin(x[:, 2], [0.0, 1.0, 2.0]).all()
        one.tell(x, np.column_stack([x[:, 0] + x[:, 2], (1 - x[:, 0]) * x[:, 1]]))
    again = Search.restore(json.loads(json.dumps(one.settings)))
    assert again.domain.values == one.domain.values
