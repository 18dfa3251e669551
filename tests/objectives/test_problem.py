"""What the user gave, read once: its form, its bounds, its units, its start."""

import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
from bezierflow.bezier import BezierSimplex, Raveling
from bezierflow.objectives import JaxEvaluator, read_bounds, read_problem
from bezierflow.precision import double_precision


def squares(x):
    return jnp.stack([jnp.sum((x - 1) ** 2), jnp.sum(x**2)])


def stretched(x):
    """Variables that matter over lengths of 1000 and 0.001."""
    return squares(x * np.array([1e-3, 1e3]))


class Counted:
    """A bound that counts how often it is read as numbers."""

    ndim, size, shape = 1, 2, (2,)

    def __init__(self, values):
        self.values, self.n_read = values, 0

    def __array__(self, dtype=None, copy=None):
        self.n_read += 1
        return np.array(self.values, dtype=dtype)


def first_look(objectives, x0=None, method="auto", **arguments):
    """A run that is stopped after its first iteration."""
    return bf.minimize(objectives, x0, method, callback=lambda iteration: True, **arguments)


VERBS = {
    "minimize": lambda bounds: first_look(squares, np.zeros(2), bounds=bounds),
    "without x0": lambda bounds: first_look(squares, bounds=bounds),
    "scaled": lambda bounds: read_problem(stretched, np.zeros(2), bounds=bounds),
    "x_scale": lambda bounds: first_look(
        squares, np.zeros(2), bf.NormalFlow(x_scale=2.0), bounds=bounds
    ),
    "differences": lambda bounds: first_look(
        lambda x: np.array([np.sum((x - 1) ** 2), np.sum(x**2)]), np.zeros(2), bounds=bounds
    ),
    "lifted": lambda bounds: first_look(
        squares, np.zeros(2), bf.GradientDescent(0.1), bounds=bounds
    ),
    "of a problem": lambda bounds: first_look(bf.problems.Problem(squares, 2, 2, bounds=bounds)),
    "check": lambda bounds: bf.check(squares, np.zeros(2), bounds=bounds),
    "search": lambda bounds: bf.surrogate.Search(bounds, 2),
    "from_points": lambda bounds: bf.from_points(
        np.linspace(0, 1, 9)[:, None] * np.ones(2), np.linspace([1, 0], [0, 1], 9), bounds=bounds
    ),
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_bounds_are_read_once(verb):
    lower, upper = Counted([-9, -9]), Counted([9, 9])
    verb((lower, upper))
    assert (lower.n_read, upper.n_read) == (1, 1)


def test_bounds_that_were_read_stay_as_they_are():
    bounds = read_bounds(([0, None], [1, 2]))
    assert read_bounds(bounds) is bounds
    assert bounds.raveling == Raveling.of(np.zeros(2))
    with pytest.raises(ValueError, match="do not tell how many variables"):
        read_bounds((0, 1))


def test_names_of_the_problem_are_in_messages_about_its_bounds():
    problem = bf.problems.Problem(squares, variable_names=["width", "length"])
    with pytest.raises(ValueError, match="upper -1 for length"):
        read_problem(problem, np.zeros(2), bounds=([0, 0], [1, -1]))


def test_the_solver_sees_units_signs_and_logarithms_and_people_do_not():
    def objectives(x):
        return jnp.stack([jnp.log10(x["rate"]) ** 2 + x["size"][0], -(x["size"][0] ** 2)])

    problem = read_problem(
        objectives,
        {"rate": np.array(100.0), "size": np.array([0.5])},
        bounds=({"rate": 0.0, "size": 0.0}, {"rate": 1e4, "size": 1.0}),
        constraints=lambda x: x["rate"] + x["size"][0] - 1e3,
        maximize=[False, True],
        transforms={0: "log10"},
    )
    np.testing.assert_allclose(problem.start.control_points, [[2.0, 0.5]])
    assert problem.feasible is not None
    np.testing.assert_array_equal(problem.feasible.lower, [-np.inf, 0.0])
    np.testing.assert_allclose(problem.feasible.upper, [4.0, 1.0])
    z = jnp.array([1.0, 0.25])
    with double_precision():
        np.testing.assert_allclose(problem.flat(z), [1.25, 0.0625], rtol=1e-6)
        np.testing.assert_allclose(problem.feasible.inequalities(z), [10.25 - 1e3], rtol=1e-6)
    assert problem.feasible.variables == ("log10 x1", "x2")


def test_variables_of_very_different_scale_are_measured_in_units_of_their_own():
    problem = read_problem(stretched, np.zeros(2))
    scale = np.array(problem.raveling.scale)
    assert np.all(np.log2(scale) == np.round(np.log2(scale)))
    assert 1e5 < scale[0] / scale[1] < 1e7
    found = JaxEvaluator(problem.flat, 2, 2).hessians(np.zeros((1, 2))).hessians[0]
    curvatures = np.abs(np.diagonal(found, axis1=1, axis2=2))
    assert curvatures.max() < 4.1 * curvatures.min()
    assert read_problem(stretched, np.zeros(2), automatic=False).raveling.scale is None
    assert read_problem(squares, np.zeros(2)).raveling.scale is None
    given = read_problem(squares, np.zeros(2), x_scale=[2.0, 3.0])
    assert given.raveling.scale == (2.0, 3.0)


def test_the_start_is_feasible_and_the_center_without_x0():
    disc = lambda x: jnp.sum(x**2) - 1.0
    moved = read_problem(squares, np.array([3.0, 4.0]), constraints=disc).start
    np.testing.assert_allclose(moved.control_points, [[0.6, 0.8]], atol=1e-6)
    middle = read_problem(squares, bounds=(np.array([0, 1]), np.array([2, 5]))).start
    np.testing.assert_array_equal(middle.control_points, [[1.0, 3.0]])
    assert read_problem(squares, np.zeros(2), bounds=(None, None)).feasible is None


def test_a_surface_is_a_start_as_it_is():
    surface = BezierSimplex(np.array([[1.0, 1.0], [0.0, 0.0]]), 2, 1)
    start = read_problem(squares, surface).start
    np.testing.assert_array_equal(start.control_points, surface.control_points)
    with pytest.raises(ValueError, match="surface over 2 objectives, but objectives returns 1"):
        read_problem(lambda x: x[:1], surface)


MISTAKES = {
    "no x0": ((squares,), {}, "x0 must be given where there are no bounds"),
    "no size": ((squares,), {"bounds": (0, 1)}, "do not tell how many variables"),
    "infinite": ((squares,), {"bounds": ([0, 0], [1, None])}, "infinite, here one of x2"),
    "other sizes": (
        (bf.problems.Problem(squares, 2, 3), np.zeros(2)),
        {},
        "x0 must have 3 variables for Problem, got 2",
    ),
    "more objectives": (
        (bf.problems.Problem(squares, 3, 2), np.zeros(2)),
        {},
        "objectives must have 3 objectives for Problem, got 2",
    ),
    "units of logarithms": (
        (squares, np.ones(2)),
        {"x_scale": 2.0, "transforms": {0: "log"}},
        "x_scale and transforms do not go together",
    ),
    "x_scale": ((squares, np.ones(2)), {"x_scale": [1.0, -1.0]}, "x_scale must be a positive"),
    "logarithm of 0": (
        (squares, np.zeros(2)),
        {"transforms": {"x2": "log"}},
        "x0 must have a positive x2, whose logarithm is taken, got 0.0",
    ),
    "bounds of a logarithm": (
        (squares, np.ones(2)),
        {"transforms": {0: "log"}, "bounds": (np.array([-2, 0]), np.array([-1, 1]))},
        "bounds must allow positive values of x1",
    ),
    "maximize": ((squares, np.ones(2)), {"maximize": "cost"}, "'cost' is no objective"),
    "flags": ((squares, np.ones(2)), {"maximize": [True]}, "a bool for each of the 2 objectives"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_readable_line(name):
    positional, keywords, words = MISTAKES[name]
    with pytest.raises(ValueError, match=words) as caught:
        read_problem(*positional, **keywords)
    assert "\n" not in str(caught.value)
