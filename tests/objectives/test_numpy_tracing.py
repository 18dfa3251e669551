"""NumPy code traced by JAX: values, derivatives, and what stands in the way."""

import numpy as np
import pytest

import numpy_functions
from bezierflow.bezier import Raveling
from bezierflow.objectives import JaxEvaluator, Objectives, read_function, read_objectives
from numpy_functions import FUNCTIONS

TRACED = [name for name, (*_, way) in FUNCTIONS.items() if not way]
LONG_LOOPS = {"predator_prey", "pid_by_euler"}
"""Traced, but too long to compile."""


def read(function, lower, upper, share=0.37):
    lower, upper = np.array(lower, float), np.array(upper, float)
    # uneven, so that no two entries are equal: that is where min and sort have kinks
    x = lower + (share + 0.1 * np.sin(1 + np.arange(len(lower)))) * (upper - lower)
    return read_function(function, Raveling.of(x), x, "objectives", (lower, upper)), x


def in_numpy(function, x):
    values = [one(x) for one in function] if isinstance(function, list) else function(x)
    return np.array([np.asarray(value).reshape(()) for value in values], float)


@pytest.mark.parametrize("name", [name for name in TRACED if name not in LONG_LOOPS])
def test_functions_as_people_write_them_have_exact_derivatives(name):
    function, lower, upper, _ = FUNCTIONS[name]
    form, x = read(function, lower, upper)
    assert form.is_exact, form.found
    assert form.found in (
        "a NumPy function, differentiated exactly by JAX",
        "a function that JAX traces",
    )
    found = JaxEvaluator(form.flat, form.n_rows, len(x)).hessians(x[None])
    np.testing.assert_allclose(found.values[0], in_numpy(function, x), rtol=1e-9, atol=1e-12)
    h = 1e-6 * (upper - lower)
    for i in range(len(x)):
        step = h * np.eye(len(x))[i]
        slope = (in_numpy(function, x + step) - in_numpy(function, x - step)) / (2 * h[i])
        size = np.abs(slope) + np.abs(found.values[0]) / (upper - lower)[i] + 1e-12
        assert (np.abs(found.gradients[0, :, i] - slope) <= 1e-4 * size).all()
    assert np.isfinite(found.hessians).all()


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in TRACED])
def test_what_stands_in_the_way_is_named_with_its_line(name):
    function, lower, upper, way = FUNCTIONS[name]
    calls = len(numpy_functions.CALLS)
    form, x = read(function, lower, upper)
    assert not form.is_exact
    assert form.found.startswith("a NumPy function, as it is: ")
    assert way in form.found
    found = JaxEvaluator(form.flat, form.n_rows, len(x)).values(x[None])
    np.testing.assert_array_equal(found[0], in_numpy(function, x))
    if name == "with_an_archive":
        # its own archive holds arrays of NumPy's alone
        assert all(type(one) is np.ndarray for one in numpy_functions.CALLS[calls:])


@pytest.mark.parametrize("name", sorted(LONG_LOOPS))
def test_loops_that_take_too_long_to_compile_are_named(name):
    form, _ = read(*FUNCTIONS[name][:3])
    assert "operations in a row, too many to compile" in form.found


def test_at_least_85_of_100_functions_are_traced():
    assert len(FUNCTIONS) >= 60
    assert len(TRACED) - len(LONG_LOOPS) >= 0.85 * len(FUNCTIONS)


BOX = ([-1.0, -1.0], [2.0, 2.0])


def counted_by_a_global(x):
    global N_CALLS
    N_CALLS += 1
    return [x[0] ** 2, (x[1] - 1) ** 2 + x[0]]


N_CALLS = 0


def counters():
    numbers, cells, array = [0], 0, np.zeros(1)

    def by_list(x):
        numbers[0] += 1
        return np.array([x @ x, (x - 1) @ (x - 1)])

    def by_cell(x):
        nonlocal cells
        cells += 1
        return [x @ x, (x - 1) @ (x - 1)]

    def by_array(x):
        array[0] += 1
        return np.array([x @ x, (x - 1) @ (x - 1)])

    def by_attribute(x):
        by_attribute.calls += 1
        return np.array([x @ x, (x - 1) @ (x - 1)])

    by_attribute.calls = 0

    class Counter:
        calls = 0

        def __call__(self, x):
            self.calls += 1
            return np.array([x @ x, (x - 1) @ (x - 1)])

    class Meter:
        calls = 0

        def __call__(self, x):
            Meter.calls += 1
            return np.array([x @ x, (x - 1) @ (x - 1)])

    def with_print(x):
        print("x is", x)
        return [x @ x, (x - 1) @ (x - 1)]

    return [
        counted_by_a_global,
        by_list,
        by_cell,
        by_array,
        by_attribute,
        Counter(),
        Meter(),
        with_print,
    ]


@pytest.mark.parametrize("function", counters(), ids=lambda f: getattr(f, "__name__", "object"))
def test_a_function_that_counts_its_calls_is_called_each_time(function):
    """Even where JAX alone would trace it, and the count would stand still."""
    form, _ = read(function, *BOX)
    assert not form.is_exact
    assert "outlives the call" in form.found or "does more than to compute" in form.found


def test_tracing_changes_nothing_of_the_users():
    buffer, history = np.zeros(2), []
    settings = {"scale": 2.0, "log": history}

    def function(x):
        buffer[:] = x * settings["scale"]
        return np.array([buffer @ buffer, np.sum((buffer - 1) ** 2)])

    before = function.__globals__["np"], function.__closure__
    form, _ = read(function, *BOX)
    assert form.is_exact
    assert (function.__globals__["np"], function.__closure__) == before
    assert settings == {"scale": 2.0, "log": []}
    assert settings["log"] is history
    assert buffer.dtype == float


def test_random_values_are_noticed():
    rng = np.random.default_rng(0)
    form, _ = read(lambda x: np.array([x @ x + rng.normal(), np.sum(np.abs(x))]), *BOX)
    assert "two calls at the same x differ" in form.found


def test_code_that_numpy_and_jax_read_differently_is_left_as_it_is():
    def function(x):
        y = np.reshape(x, (2, 1))
        y[0] = 3.0  # writes to x, which a copy of JAX's does not
        return np.array([x[0] + x[1] ** 2, x[1]])

    form, _ = read(function, *BOX)
    assert "values differ" in form.found


def test_vectorized_functions_are_traced():
    def rows(X):
        g = 1 + 9 * X[:, 1:].mean(axis=1)
        return np.column_stack([X[:, 0], g * (1 - np.sqrt(X[:, 0] / g))])

    form, x = read(Objectives(rows, vectorized=True), [0.0] * 4, [1.0] * 4)
    assert form.is_exact
    np.testing.assert_allclose(form.flat(x), rows(x[None])[0], rtol=1e-12)


def test_views_are_written_through_and_numbers_are_copies():
    def function(x):
        y = np.zeros(4)
        half, first = y[2:], y[0]
        half[:] = x
        y[0] = 5.0
        half[0] += 1
        return np.array([y @ y + first, half.sum()])

    form, x = read(function, *BOX)
    assert form.is_exact
    np.testing.assert_allclose(form.flat(x), function(x), rtol=1e-12)


QUICK = ["zdt1", "bnh", "osy", "dtlz2", "mw3", "ctp1", "welded_beam"]
PYMOO = [
    *(
        [
            "bnh",
            "tnk",
            "osy",
            "kursawe",
            "zdt1",
            "zdt2",
            "zdt3",
            "zdt4",
            "zdt6",
            "truss2d",
            "welded_beam",
            "carside",
        ]
    ),
    *(f"ctp{k}" for k in range(1, 9)),
    *(f"mw{k}" for k in range(1, 15)),
    *(f"dtlz{k}" for k in range(1, 8)),
    *(f"dascmop{k}" for k in range(1, 10)),
]


@pytest.mark.slow(*(name for name in PYMOO if name not in QUICK))
@pytest.mark.parametrize("name", PYMOO)
def test_pymoo_problems_are_traced_with_their_constraints(name):
    pytest.importorskip("pymoo")
    from pymoo.problems import get_problem

    given = get_problem(name, 5) if name.startswith("dascmop") else get_problem(name)
    problem = read_objectives(given)
    form, x = read(problem, *given.bounds())
    assert form.is_exact, form.found
    expected = given.evaluate(x[None], return_as_dictionary=True)
    np.testing.assert_allclose(form.flat(x), expected["F"][0], rtol=1e-9)
    if problem.constraints:
        form, _ = read(problem.constraints[0].fun, *given.bounds())
        assert form.is_exact, form.found
        np.testing.assert_allclose(form.flat(x), expected["G"][0], rtol=1e-9)
