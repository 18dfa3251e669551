"""Every public argument, misused: each time one line that names the argument and the value, before
anything is computed."""

import inspect
import signal

import jax.numpy as jnp
import numpy as np
import optax
import pytest

import bezierflow as bf
from solved import distances_to_points

pytestmark = pytest.mark.usefixtures("unchecked")

SURFACE = bf.BezierSimplex(np.arange(6.0).reshape(3, 2), 2, 2)
SOLUTION = distances_to_points(2, 2)
T, X, F = (
    np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]),
    np.arange(6.0).reshape(3, 2),
    np.array([[0.0, 2], [1, 1], [2, 0]]),
)
MANY = np.linspace(0, 1, 20)
CLOUD = np.column_stack([MANY, 1 - MANY])


def f(x):
    return jnp.array([jnp.sum((x - 1) ** 2), jnp.sum((x + 1) ** 2)])


class Odd(Exception):
    """An exception whose constructor takes something else than a message."""

    def __init__(self, code, *, where):
        super().__init__(code)
        self.code, self.where = code, where


def odd(x):
    raise Odd(7, where="here")


def minimize(**settings):
    return lambda: bf.minimize(**{"objectives": f, "x0": np.zeros(3), **settings})


NOT_COUNTS = ("3", 2.5, -1, np.nan, None.__class__, [3], True)
NOT_NUMBERS = ("1e-3", np.nan, -1.0, [1.0], 1j, True)
NOT_SEEDS = (-1, 1.5, 2**70, "0", None, np.nan)

RUNS = {
    "x0": (
        "zero",
        {},
        np.zeros(0),
        np.array([1j, 0]),
        [np.nan, 0],
        [np.inf],
        object(),
        [],
        np.array(["a"]),
        {"a": "b"},
    ),
    "objectives": (
        3,
        None,
        "f",
        [],
        [f, 3],
        (lambda x: x[0]),
        (lambda x: jnp.zeros((2, 2))),
        (lambda x: "text"),
        (lambda: 1),
    ),
    "method": ("newton", 3, None, f, bf.Newton),
    "bounds": (
        3,
        "0:1",
        (1, 0),
        (np.nan, 1),
        (0, 1, 2),
        (np.zeros(2), np.ones(2)),
        ([0, 0, 0], [1, 1]),
        (1, 1),
        {"x": (0, 1)},
    ),
    "constraints": (3, "x<1", [3], {"type": "ineq"}, (lambda x: "no"), (lambda: 0)),
    "maximize": ("f9", 7, -1, [True], {"f1"}, 1.5, [0.5, 0.5]),
    "transforms": ({"x9": "log"}, {"x1": "sqrt"}, {9: "log"}, "log", 3, ["log10"]),
    "variables": (3, {}, [3], {"x9": bf.Integer(0, 2)}, {0: "whole"}, {0: bf.Choice()}),
    "tol": NOT_NUMBERS,
    "budget": NOT_COUNTS[:4] + NOT_COUNTS[5:],
    "seed": NOT_SEEDS,
    "callback": (3, "stop", [print]),
    "time_limit": ("1", 0, -1.0, np.nan, np.inf, [1.0], True),
    "progress": ("yes", 3, 0.5),
    "checkpoint": (3, ["run"], True),
}
"""Arguments of `minimize`, and of `check` where it has them, with values that none of them
takes."""

CALLS = {
    "control_points": [
        lambda: bf.BezierSimplex([], 2, 1),
        lambda: bf.BezierSimplex(np.zeros((2, 1)), 2, 2),
        lambda: bf.BezierSimplex("p", 2, 1),
    ],
    "n_objectives": (
        [lambda v=v: bf.BezierSimplex(np.zeros((2, 1)), v, 1) for v in (0, -1, 2.5, "2", 10**6)]
        + [lambda v=v: bf.fit_points(CLOUD, v, 2) for v in (0, "2", 2.5, -1)]
    ),
    "degree": (
        [lambda v=v: bf.BezierSimplex(np.zeros((2, 1)), 2, v) for v in (-1, 1.5, "1", 10**6)]
        + [lambda v=v: SURFACE.elevate(v) for v in (1, 10**6, 2.5, "3", np.nan)]
        + [lambda v=v: bf.fit(T, X, v) for v in (-1, 1.5, "1", None)]
        + [lambda v=v: bf.fit_points(CLOUD, 2, v) for v in (-1, 1.5, "1", None)]
        + [lambda v=v: bf.lift(bf.Newton(), v) for v in (0, 2.5, "3", None, True)]
        + [
            lambda v=v: bf.NormalFlow(degree=v)
            for v in ("3", 2.5, -1, 0, np.nan, None, [3], True, 10**9)
        ]
    ),
    "n_iterations": [
        lambda v=v, make=make: make(v)
        for v in ("3", 2.5, -1, 0, np.nan, [3], True)
        for make in (
            lambda v: bf.NormalFlow(n_iterations=v),
            lambda v: bf.WeightsFlow(n_iterations=v),
            lambda v: bf.lift(bf.Newton(), n_iterations=v),
            lambda v: bf.train(f, np.zeros(3), bf.Optax(optax.sgd(0.1)), n_iterations=v),
        )
    ],
    "x_scale": [
        minimize(method=bf.NormalFlow(x_scale=v))
        for v in ("big", -1.0, 0.0, np.nan, np.ones(5), {"a": "b"})
    ],
    "jac": [lambda v=v: bf.Objectives(f, jac=v) for v in (3, "2-point", [3])],
    "hess": [lambda v=v: bf.Objectives(f, hess=v) for v in (3, "2-point", (lambda x: x))],
    "executor": [
        minimize(objectives=bf.Objectives(f, executor=v)) for v in (0, -1, 2.5, "4", True, [2])
    ],
    "every": [lambda v=v: bf.Checkpoint("run", v) for v in ("1", -1, np.nan, None, True)],
    "t": [
        lambda v=v, call=call: call(v)
        for v in (
            [0.5, 0.6],
            [-0.5, 1.5],
            [np.nan, 1.0],
            [1.0],
            [[1.0, 0, 0]],
            "t",
            [1e308, 1e308],
        )
        for call in (
            SURFACE,
            SURFACE.derivative,
            SOLUTION.front,
            SOLUTION.design,
            lambda t: bf.decisions.rates(SOLUTION, t),
        )
    ]
    + [lambda v=v: bf.fit(v, X, 1) for v in (T * 2, T[:, :1], "t", T[0], T * np.nan)],
    "x": (
        [lambda v=v: bf.fit(T, v, 1) for v in (X[:2], X * np.nan, X * 1j, "x", [])]
        + [lambda v=v: bf.fit_points(v, 2, 1) for v in (X * np.inf, "x", [], 3.0)]
        + [
            lambda v=v: bf.decisions.locate(SOLUTION, v)
            for v in (np.zeros(3), [np.nan, 0], "x", None)
        ]
    ),
    "vertices": [lambda v=v: SURFACE.subdivide(v) for v in ([1.0, 0.0], [[2.0, 0.0]], "v")],
    "face": [lambda v=v: SURFACE.restrict(v) for v in ((), (0, 0), (5,), (-1,), "a", (0.5,))],
    "m": [lambda v=v: SURFACE.vertex(v) for v in (-1, 2, 0.5, "0", None)],
    "weights": (
        [
            lambda v=v: bf.fit(T, X, 1, weights=v)
            for v in (np.zeros(3), -np.ones(3), np.ones(2), "w", np.full(3, np.nan))
        ]
        + [
            lambda v=v: SOLUTION.at(weights=v)
            for v in ([-1, 2], [0, 0], [1, 1, 1], "w", [np.nan, 1])
        ]
        + [
            lambda v=v: bf.decisions.compromise(SOLUTION, v)
            for v in ([-1, 2], [0, 0], [1], "w", {"f9": 1}, [np.nan, 1], 3)
        ]
    ),
    "aspiration": (
        [lambda v=v: SOLUTION.at(aspiration=v) for v in ([1], [np.nan, 1], "a", [np.inf, 0])]
        + [
            lambda v=v: bf.decisions.nearest(SOLUTION, v)
            for v in ([1], [np.nan, 1], "a", {"f9": 1}, 3)
        ]
    ),
    "subject_to": [
        lambda v=v: bf.decisions.knee(SOLUTION, subject_to=v)
        for v in (
            3,
            {"f9": (0, 1)},
            {"f1": (1, 0)},
            {"f1": (np.nan, 1)},
            {5: (0, 1)},
            {"f1": ("a", "b")},
        )
    ],
    "minimize": [lambda v=v: bf.decisions.best(SOLUTION, v) for v in ("f9", 5, -1, 0.5, [0])],
    "ridge": [lambda v=v: bf.fit(T, X, 1, ridge=v) for v in (-1.0, np.nan, "r", np.inf)],
    "frozen": [
        lambda v=v: bf.fit(T, X, 1, frozen=v) for v in ({5: X[0]}, {(9, 9): X[0]}, {0: [1.0]}, 3)
    ],
    "n": (
        [lambda v=v: SOLUTION.spread(v) for v in (1, 0, -1, 10**9, 2.5, "10", None, np.nan)]
        + [
            lambda v=v, kind=kind: kind(v)
            for v in (0, -1, 2.5, "10", None, np.nan)
            for kind in (bf.Uniform, bf.LowDiscrepancy, bf.Leverage)
        ]
    ),
    "nodes": [lambda v=v: bf.Fixed(v) for v in ([1.0, 0.0], [[0.5, 0.6]], "n", [[np.nan, 1.0]])],
    "step_size": [
        lambda v=v, kind=kind: kind(v)
        for v in (0, -1, np.nan, "1/k", None, np.inf)
        for kind in (bf.GradientDescent, bf.Newton, bf.ProximalGradient)
    ],
    "floor": [lambda v=v: bf.Newton(floor=v) for v in (-1.0, np.nan, "f")],
    "n_steps": [lambda v=v: bf.SciPy(n_steps=v) for v in (0, 2.5, "3", None)],
    "method": (
        [lambda v=v: bf.lift(v) for v in (3, "newton", f, None)]
        + [lambda v=v: bf.SciPy(v) for v in (3, "SGD")]
    ),
    "sampler": [lambda v=v: bf.lift(bf.Newton(), 3, v) for v in (100, "uniform")],
    "scalarization": [lambda v=v: bf.lift(bf.Newton(), 3, None, v) for v in (100, "sum")],
    "refit": [lambda v=v: bf.lift(bf.Newton(), 3, None, None, v) for v in (100, "fit")],
    "smoothing": [lambda v=v: bf.SmoothTchebycheff(v) for v in (0, -1, np.nan, "s")],
    "power": [lambda v=v: bf.WeightedPower(v) for v in (0.5, np.nan, "p", np.inf)],
    "max_degree": [
        lambda v=v: bf.NormalFlow(max_degree=v) for v in ("3", 2.5, -1, 0, np.nan, [3], True)
    ],
    "tol": [lambda v=v: bf.NormalFlow(tol=v) for v in (0, -1, np.nan, "t")],
    "budget": [lambda v=v: bf.NormalFlow(budget=v) for v in (-1, 2.5, "3")],
    "F": [
        lambda v=v: bf.from_points(CLOUD, v)
        for v in (CLOUD[:3], CLOUD[:, :1], CLOUD * np.nan, "F", [["a", "b"]] * 20)
    ],
    "X": [
        lambda v=v: bf.from_points(v, CLOUD)
        for v in (CLOUD * np.nan, "X", [["a", "b"]] * 20, [], {"a": 3.0})
    ],
    "names": [lambda v=v: bf.from_points(CLOUD, CLOUD, names=v) for v in (3, {"colors": ["a"]})],
    "objectives": [
        lambda v=v: bf.from_points(CLOUD, CLOUD, names={"objectives": v})
        for v in (["a"], ["a", 3], "ab", ["a", "a"], ["a", "\x1b"])
    ],
    "path": (
        [lambda v=v: SURFACE.save(v) for v in ("a.txt", "a", "")]
        + [lambda v=v: SOLUTION.save(v) for v in ("a.csv", "a")]
        + [lambda v=v: bf.load(v) for v in ("a.txt", "a", "")]
    ),
    "reference": [lambda v=v: bf.metrics.hypervolume(F, v) for v in ([1.0], [np.nan, 1], "r")],
    "built-in": [lambda v=v: bf.problems.by_name(v) for v in ("nothing", "skew-med", 3)],
    "solution": [
        lambda v=v, call=call: call(v)
        for v in (3, None, SURFACE)
        for call in (bf.decisions.knee, bf.plots.front, lambda s: bf.explore(s, "a.html"))
    ],
}
"""Other doors, by the argument that is wrong."""

TABLE = [
    *(
        (f"minimize-{name}-{k}", name, minimize(**{name: value}))
        for name, values in RUNS.items()
        for k, value in enumerate(values)
    ),
    *((f"{name}-{k}", name, call) for name, calls in CALLS.items() for k, call in enumerate(calls)),
]


@pytest.fixture(autouse=True)
def no_hang():
    """Ends a call that computes instead of refusing."""

    def late(*_):
        raise AssertionError("this misuse was not refused within seconds")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, 5.0)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize(
    ("name", "call"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_misuse_is_one_line_that_names_the_argument(name, call):
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    message = str(raised.value)
    assert "\n" not in message, message
    assert (
        name in message
        or (name == "jac" and "hess" in message)
        or (name == "hess" and "jac" in message)
    ), message
    assert 20 < len(message) < 500, message
    assert type(raised.value) in (TypeError, ValueError) or name == "objectives", type(raised.value)


def test_every_argument_of_minimize_is_misused():
    assert list(inspect.signature(bf.minimize).parameters) == [
        *("objectives", "x0", "method", "bounds", "constraints", "maximize", "transforms"),
        *("variables", "tol", "budget", "time_limit", "seed", "callback", "progress", "checkpoint"),
    ]
    assert set(inspect.signature(bf.minimize).parameters) == RUNS.keys()


def test_the_table_is_long():
    assert len(TABLE) >= 200


def test_whole_numbers_of_numpy_and_floats_will_do():
    assert bf.NormalFlow(degree=np.int64(3), max_degree=np.int32(5), budget=np.int64(7)).budget == 7
    assert bf.Uniform(np.int64(5)).n == 5
    assert bf.lift(bf.Newton(), np.int64(2)).degree == 2


def test_an_exception_of_the_users_own_stays_what_it_is():
    with pytest.raises(Odd) as raised:
        bf.minimize(odd, np.zeros(2))
    assert (raised.value.code, raised.value.where) == (7, "here")
