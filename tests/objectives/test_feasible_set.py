"""Feasible sets: constraints as rows of a flat vector, clipping, violations, and repair."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint
from scipy.sparse import csr_array

from bezierflow.bezier import Raveling
from bezierflow.objectives import SCHEDULE, Manifold, feasible_set
from bezierflow.precision import double_precision

TOLERANCE = SCHEDULE.tolerance
DISC = lambda x: jnp.sum(x**2) - 1.0
X = np.array([3.0, 4.0])


def rows(feasible, x):
    return np.asarray(feasible.inequalities(jnp.asarray(x))), np.asarray(
        feasible.equalities(jnp.asarray(x))
    )


def test_sides_become_inequalities_and_equalities():
    linear = LinearConstraint(
        [[1, 0], [0, 1], [1, 1], [1, -1]], [0, -np.inf, 5, -np.inf], [2, 3, 5, np.inf]
    )
    feasible = feasible_set(None, [linear, DISC], 2)
    assert (feasible.n_inequalities, feasible.n_equalities) == (4, 1)
    g, h = rows(feasible, X)
    np.testing.assert_allclose(g, [3 - 2, 4 - 3, 0 - 3, 24])
    np.testing.assert_allclose(h, [2])
    assert feasible.texts[4:] == (
        "constraint 1, row 1 <= 2",
        "constraint 1, row 2 <= 3",
        "constraint 1, row 1 >= 0",
        "constraint 2 <= 0",
        "constraint 1, row 3 = 5",
    )


def test_sparse_matrices_and_scipys_nonlinear_constraints():
    sparse = feasible_set(None, LinearConstraint(csr_array([[1.0, 2.0]]), -np.inf, 1.0), 2)
    np.testing.assert_allclose(rows(sparse, X)[0], [10])
    ring = feasible_set(None, NonlinearConstraint(lambda x: jnp.sum(x**2), 1.0, 4.0), 2)
    np.testing.assert_allclose(rows(ring, X)[0], [21, -24])
    assert ring.texts[4:] == ("constraint 1 <= 4", "constraint 1 >= 1")


def test_constraints_get_x_in_its_own_form():
    tree = {"a": np.zeros(()), "b": np.zeros((2, 2))}
    feasible = feasible_set(None, lambda x: x["a"] + jnp.sum(x["b"], axis=0), Raveling.of(tree))
    np.testing.assert_allclose(rows(feasible, np.arange(5.0))[0], [0 + 1 + 3, 0 + 2 + 4])


def test_a_feasible_set_is_a_pytree_and_new_numbers_compile_nothing():
    made = [
        feasible_set((0, high), NonlinearConstraint(DISC, -np.inf, high), 2) for high in (1.0, 2.0)
    ]
    seen = []

    @eqx.filter_jit
    def evaluate(feasible, x):
        seen.append(1)
        return feasible.clip(x), feasible.inequalities(x)

    results = [evaluate(feasible, jnp.array([3.0, -1.0])) for feasible in made]
    assert len(seen) == 1
    np.testing.assert_allclose(results[0][0], [1, 0])
    np.testing.assert_allclose(results[1][0], [2, 0])
    np.testing.assert_allclose(results[1][1], [10 - 1 - 2.0])
    leaves, structure = jax.tree.flatten(made[0])
    np.testing.assert_array_equal(jax.tree.unflatten(structure, leaves).upper, made[0].upper)


def test_what_a_set_says_of_itself():
    free, half, box, disc = (
        feasible_set(b, c, 2)
        for b, c in ((None, None), ((0, None), None), ((0, 1), None), (None, DISC))
    )
    assert [s.unbounded for s in (free, half, box, disc)] == [True, False, False, True]
    assert [s.has_finite_box for s in (free, half, box, disc)] == [False, False, True, False]
    assert [s.has_constraints for s in (free, half, box, disc)] == [False, False, False, True]
    assert half.texts[:2] == ("x1 >= 0", "x2 >= 0")


def test_clip_is_exact_and_keeps_the_kind_of_array():
    box = feasible_set(([0.1, -np.inf], [0.3, 7.0]), None, 2)
    x = np.array([[0.2, 8.0], [-1.0, -1e30], [0.1 - 1e-16, 7.0]])
    clipped = box.clip(x)
    assert isinstance(clipped, np.ndarray)
    np.testing.assert_array_equal(clipped, [[0.2, 7.0], [0.1, -1e30], [0.1, 7.0]])
    assert isinstance(jax.jit(lambda x: box.clip(x))(jnp.asarray(x)), jax.Array)
    np.testing.assert_array_equal(box.center(), [0.2, 0.0])
    np.testing.assert_array_equal(
        feasible_set(([2.0, -np.inf], [np.inf, -3.0]), None, 2).center(), [2, -3]
    )


def test_of_no_designs_there_are_no_violations():
    feasible = feasible_set(None, DISC, 2)
    assert feasible.violations(np.zeros((0, 2))).shape == (0, len(feasible.texts))
    assert feasible.violation(np.zeros((0, 2))).shape == (0,)


def test_violation_of_a_batch_and_what_it_belongs_to():
    feasible = feasible_set((0, None), [DISC, LinearConstraint([1, 1], 1, 1)], 2)
    points = np.array([[[0.6, 0.4], [-0.5, 1.5]], [[3.0, 4.0], [1.0, 1.0]]])
    np.testing.assert_allclose(feasible.violation(points), [[0, 1.5], [24, 1]])
    assert feasible.worst(points) == (24.0, "constraint 1 <= 0")
    assert feasible.worst(points[0, 1] * [1, 0]) == (1.5, "constraint 2 = 1")
    assert feasible_set((0, 1), None, 2).worst(np.array([0.5, 1.25])) == (0.25, "x2 <= 1")


def test_a_constraint_that_is_not_a_number_is_violated():
    feasible = feasible_set(None, lambda x: jnp.log(x[0]), 1)
    assert feasible.violation(np.array([-1.0])) == np.inf
    assert not feasible.contains(np.array([-1.0]))


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_a_constraint_times_a_number_says_the_same(scale):
    feasible = feasible_set(None, lambda x: scale * DISC(x), 2)
    assert feasible.contains(np.array([1.0 + 0.1 * TOLERANCE, 0.0]))
    assert not feasible.contains(np.array([1.0 + 10 * TOLERANCE, 0.0]))
    np.testing.assert_allclose(feasible.repair(X), X / 5, atol=1e-6)


REPAIRS = {
    "feasible already": (None, DISC, [0.3, 0.4], [0.3, 0.4]),
    "a disc": (None, DISC, X, X / 5),
    "a linear equality": (None, LinearConstraint([1, 2], 3, 3), [0.0, 0.0], [0.6, 1.2]),
    "a box": ((0, 1), None, [2.0, -1.0], [1.0, 0.0]),
    "an equality in a box": ((0, 1), LinearConstraint([1, 2], 3, 3), [0.0, 0.0], [1.0, 1.0]),
    "a circle": (None, NonlinearConstraint(lambda x: jnp.sum(x**2), 4, 4), [0.3, 0.4], [1.2, 1.6]),
    "a circle, from its center": (
        None,
        NonlinearConstraint(lambda x: jnp.sum(x**2), 4, 4),
        [0.0, 0.0],
        None,
    ),
    "a fixed variable": (([0.5, -9], [0.5, 9]), DISC, [0.0, 5.0], [0.5, np.sqrt(0.75)]),
    "far away": (None, DISC, [3e6, 4e6], [0.6, 0.8]),
}


@pytest.mark.parametrize("case", REPAIRS)
def test_repair_finds_the_nearest_feasible_point(case):
    bounds, constraints, x, expected = REPAIRS[case]
    feasible = feasible_set(bounds, constraints, 2)
    repaired = feasible.repair(np.asarray(x))
    assert feasible.contains(repaired)
    assert repaired.dtype == np.float64
    assert feasible.violation(repaired) < 1e-8
    if expected is not None:
        np.testing.assert_allclose(repaired, expected, atol=1e-6)


EMPTY = {
    "two half-planes": (
        None,
        [lambda x: x[0] + 1.0, lambda x: 0.5 - x[0]],
        "least violation is 0.75, of constraint [12]",
    ),
    "a disc outside of the box": ((2, 3), DISC, "least violation is 7, of constraint 1 <= 0"),
    "an imaginary circle": (
        None,
        NonlinearConstraint(lambda x: jnp.sum(x**2), -1, -1),
        "violation is 1, of constraint 1 = -1",
    ),
    "a hair's breadth": (None, lambda x: jnp.sum(x**2) + 1e-6, "violation is 1e-06"),
    "all fixed but one": (([5, 5], [5, 6]), DISC, "violation is 49"),
}


@pytest.mark.slow("an imaginary circle", "two half-planes")
@pytest.mark.parametrize("case", EMPTY)
def test_an_empty_set_is_detected(case):
    bounds, constraints, words = EMPTY[case]
    with pytest.raises(ValueError, match=words) as caught:
        feasible_set(bounds, constraints, 2).repair(np.zeros(2))
    assert "no feasible point" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_repair_looks_elsewhere_where_the_way_from_x_is_blocked():
    """g has a local minimum above 0 near x = 3 and is negative near x = −3 only."""
    feasible = feasible_set((-5, 5), lambda x: 0.1 * (x[0] ** 2 - 9) ** 2 + x[0] + 2.0, 1)
    repaired = feasible.repair(np.array([3.0]))
    assert repaired[0] < 0
    assert feasible.contains(repaired)


def test_repair_works_in_double_precision_for_users_in_single():
    assert not jax.config.jax_enable_x64
    assert feasible_set(None, DISC, 2).violation(np.array([1.0 + 1e-12, 0.0])) > 0


MISTAKES = {
    "a matrix": (lambda x: jnp.ones((2, 2)), ValueError, r"got shape \(2, 2\)"),
    "integers": (lambda x: jnp.array([1]), TypeError, "got dtype int"),
    "fails": ([DISC, lambda x: x @ jnp.ones(5)], TypeError, "constraint 2 failed for x"),
    "columns": (
        LinearConstraint([1, 2, 3], 0, 1),
        ValueError,
        r"must have 2 columns, got shape \(1, 3\)",
    ),
    "sides": (NonlinearConstraint(DISC, 2, 1), ValueError, "lb 2 and ub 1 in row 1"),
    "nan": (NonlinearConstraint(DISC, np.nan, 1), ValueError, "lb of constraint 1 must not be nan"),
    "too many sides": (
        NonlinearConstraint(DISC, [0, 0], 1),
        ValueError,
        r"lb of constraint 1 must hold 1 numbers, got",
    ),
    "a dict": ({"type": "ineq", "fun": DISC}, TypeError, r"fun\(x\) >= 0"),
    "a number": (3.0, TypeError, "constraint 1 is 3.0; give"),
}


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.usefixtures("unchecked")
def test_a_mistake_is_one_readable_line(name):
    constraints, error, words = MISTAKES[name]
    with pytest.raises(error, match=words) as caught:
        feasible_set(None, constraints, 2)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("rows", [DISC, lambda x: jnp.stack([DISC(x), x[0] - 0.9])])
def test_designs_are_moved_to_where_inequalities_hold_and_stay_there(rows):
    feasible = feasible_set((-2, 2), rows, 2)
    x = np.array([[0.3, 0.1], [1.5, 1.5], [-2.0, 1.0]])
    with double_precision():
        moved = Manifold(feasible).project(x, inside=True)
    assert feasible.violation(moved).max() == 0
    np.testing.assert_allclose(moved[0], x[0], atol=1e-12)
