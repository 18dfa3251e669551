"""Bounds in every form a user may give, and the messages for those that mean nothing."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import Bounds

from bezierflow.bezier import Raveling
from bezierflow.objectives import feasible_set, raveling_of_bounds

INF = np.inf

FORMS = {
    "none": (None, 3, [-INF] * 3, [INF] * 3),
    "two numbers": ((0, 1), 3, [0, 0, 0], [1, 1, 1]),
    "two arrays": ((np.zeros(3), np.array([1, 2, 3])), 3, [0, 0, 0], [1, 2, 3]),
    "JAX arrays": ((jnp.zeros(3), jnp.ones(3)), 3, [0, 0, 0], [1, 1, 1]),
    "two lists": (([0, 0, -1], [1, 2, 3]), 3, [0, 0, -1], [1, 2, 3]),
    "a matrix of two rows": (np.array([[0, 0, 0], [1, 2, 3]]), 3, [0, 0, 0], [1, 2, 3]),
    "one side": ((0, None), 2, [0, 0], [INF, INF]),
    "None in a side": (([0, None, 1], 5), 3, [0, -INF, 1], [5, 5, 5]),
    "SciPy's": (Bounds([0, -INF, 1], [1, 2, INF]), 3, [0, -INF, 1], [1, 2, INF]),
    "SciPy's numbers": (Bounds(0, 1), 2, [0, 0], [1, 1]),
    "pairs": ([(0, 1), (None, 2), (3, None)], 3, [0, -INF, 3], [1, 2, INF]),
    "a matrix of pairs": (np.array([[0, 1], [0, 2], [0, 3]]), 3, [0, 0, 0], [1, 2, 3]),
    "one pair": ([(0, 1)], 1, [0], [1]),
    "two arrays of two": ((np.array([0, 1]), np.array([2, 3])), 2, [0, 1], [2, 3]),
    "SciPy's of two": (Bounds([0, 1], [2, 3]), 2, [0, 1], [2, 3]),
    "sides would fix a variable": (([0, 1], [0, 2]), 2, [0, 0], [1, 2]),
    "pairs would fix a variable": (((0, 0), (2, 3)), 2, [0, 0], [2, 3]),
    "two lists that can only be pairs": ([[0, 5], [-1, 1]], 2, [0, -1], [5, 1]),
    "a matrix that can only be pairs": (np.array([[0, 5], [-1, 1]]), 2, [0, -1], [5, 1]),
    "a tuple of two lists is lower and upper": (([0, 1], [2, 3]), 2, [0, 1], [2, 3]),
    "a tuple of two pairs": (((0, 5), (-1, 1)), 2, [0, -1], [5, 1]),
    "equal rows are pairs": (((0, 1), (0, 1)), 2, [0, 0], [1, 1]),
    "sides with None": (([0, 0], [None, 1]), 2, [0, 0], [INF, 1]),
    "a list of two pairs": ([(0, 5), (-1, 1)], 2, [0, -1], [5, 1]),
    "a list of two equal pairs": ([(0, 1), (0, 1)], 2, [0, 0], [1, 1]),
    "a list of two sides": ([(1, 0), (2, 2)], 2, [1, 0], [2, 2]),
    "two pairs with None": ([(0, None), (2, 3)], 2, [0, 2], [INF, 3]),
    "a fixed variable": ((np.array([0, 1]), np.array([0, 2])), 2, [0, 1], [0, 2]),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_bounds(form):
    bounds, n_variables, lower, upper = FORMS[form]
    found = feasible_set(bounds, None, n_variables)
    assert found.lower.dtype == found.upper.dtype == np.float64
    np.testing.assert_array_equal(found.lower, lower)
    np.testing.assert_array_equal(found.upper, upper)


TREE = {"a": np.zeros(()), "b": np.zeros((2, 2))}


def test_a_pytree_like_x_and_numbers_in_it():
    found = feasible_set(
        ({"a": -1.0, "b": np.arange(4.0).reshape(2, 2)}, {"a": None, "b": 9}),
        None,
        Raveling.of(TREE),
    )
    np.testing.assert_array_equal(found.lower, [-1, 0, 1, 2, 3])
    np.testing.assert_array_equal(found.upper, [INF, 9, 9, 9, 9])


def test_flat_bounds_of_a_pytree():
    found = feasible_set([(i, i + 1) for i in range(5)], None, Raveling.of(TREE))
    np.testing.assert_array_equal(found.lower, np.arange(5))


def test_a_pytree_that_is_a_pair_itself():
    x = (np.zeros(2), np.zeros(1))
    found = feasible_set(
        ((np.zeros(2), np.ones(1)), (np.full(2, 5.0), np.full(1, 6.0))), None, Raveling.of(x)
    )
    np.testing.assert_array_equal(found.lower, [0, 0, 1])
    np.testing.assert_array_equal(found.upper, [5, 5, 6])


MISTAKES = {
    "exchanged": (
        (np.array([0, 2]), np.array([1, 1])),
        2,
        ValueError,
        "lower 2 and upper 1 for x2",
    ),
    "exchanged, three variables": (
        ([0, 2, 0], 1),
        3,
        ValueError,
        "got lower 2 and upper 1 for x2; exchange them",
    ),
    "all fixed": ((1, 1), 3, ValueError, "fix every variable"),
    "nan": (([0, np.nan], 1), 2, ValueError, "got lower nan for x2"),
    "lower infinite": ((INF, None), 2, ValueError, "lower inf"),
    "too short": (
        (np.zeros(3), 1),
        4,
        ValueError,
        r"lower bounds must hold 4 numbers.* got shape \(3,\)",
    ),
    "too few pairs": ([(0, 1)] * 3, 4, ValueError, "for each of the 4 variables, got 3 entries"),
    "not a pair": ([(0, 1), (0, 1, 2), (0, 1)], 3, ValueError, r"got \(0, 1, 2\) for variable 2"),
    "a number": (3.0, 2, TypeError, "got 3.0; give"),
    "a dict": ({"x": (0, 1)}, 2, TypeError, "bounds must hold lower and upper"),
    "texts": (("a", "b"), 2, TypeError, "lower bounds must be numbers, got 'a'"),
    "another tree": (
        ({"c": 0.0}, {"c": 1.0}),
        2,
        ValueError,
        "lower bounds must be a pytree like x",
    ),
    "leaves": (
        ({"a": 0.0, "b": np.zeros(3)}, 1),
        Raveling.of(TREE),
        ValueError,
        r"leaves like x, .* got shapes",
    ),
}


@pytest.mark.parametrize(
    "container",
    [
        lambda rows: [list(row) for row in rows],
        lambda rows: [tuple(row) for row in rows],
        lambda rows: tuple(tuple(row) for row in rows),
        np.array,
        jnp.array,
    ],
    ids=["lists", "list of tuples", "tuples", "matrix", "JAX matrix"],
)
@pytest.mark.parametrize("rows", [[[0, 1], [2, 3]], [[-3, 1], [2, 4]]])
def test_two_pairs_or_two_sides_are_refused_in_every_container(container, rows):
    with pytest.raises(ValueError, match=r"may be read as two pairs .* or as lower and upper"):
        feasible_set(container(rows), None, 2)


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.usefixtures("unchecked")
def test_a_mistake_is_one_readable_line(name):
    bounds, raveling, error, words = MISTAKES[name]
    with pytest.raises(error, match=words) as caught:
        feasible_set(bounds, None, raveling)
    assert "\n" not in str(caught.value)


def test_names_of_variables_are_in_messages():
    with pytest.raises(ValueError, match="upper 1 for width"):
        feasible_set(([0, 0, 2], 1), None, 3, ["a", "b", "width"])


def test_bounds_tell_the_form_of_x():
    assert raveling_of_bounds((0, 1), None) is None
    assert raveling_of_bounds((0, 1), 4).n_variables == 4
    assert raveling_of_bounds((0, np.ones(3)), None).n_variables == 3
    assert raveling_of_bounds([(0, 1)] * 5, None).is_vector
    assert raveling_of_bounds(Bounds(np.zeros(3), np.ones(3)), None).n_variables == 3
    assert raveling_of_bounds(({"a": 0.0, "b": np.zeros((2, 2))}, 1), None) == Raveling.of(TREE)
