"""`minimize` with a `Surrogate`: what is evaluated, how often, and why it ends."""

import numpy as np
import pytest

import bezierflow as bf
from bezierflow.surrogate import Search

BOUNDS = ([-2.0, -1.0], [2.0, 3.0])


class Calls:
    """An objective function that remembers its designs; those with x1 > 1.5 fail on demand."""

    def __init__(self, values, fails=False):
        self.x, self.values, self.fails = [], values, fails

    def __call__(self, x):
        self.x.append(x)
        if self.fails and len(self.x) == 2:
            raise ZeroDivisionError("no flow")
        return self.values(x)


@pytest.fixture
def ready(monkeypatch, solved):
    """A surface that is there already: what it is like is tested with `Search`."""
    told = []

    def solution(search, raveling=None):
        told.append((*search.evaluated, raveling))
        return solved

    monkeypatch.setattr(Search, "solution", solution)
    return told


def minimize(f, x0=None, budget=5, method=None, **settings):
    return bf.minimize(f, x0, method or bf.Surrogate(), bounds=BOUNDS, budget=budget, **settings)


def test_the_budget_is_kept_and_its_end_is_said(problem, ready):
    f = Calls(problem.values)
    solution = minimize(f, maximize=[1])
    assert len(f.x) == 5
    assert solution.result.reason is bf.Reason.COMPLETED
    assert solution.result.message.startswith("the budget was spent. ")
    (x, y, _), *others = ready
    assert not others
    np.testing.assert_array_equal(x, f.x)
    np.testing.assert_array_equal(y, problem.values(f.x))
    # the same designs as of a search
    np.testing.assert_array_equal(x, problem.new(seed=0, budget=5).ask(5))


def test_with_a_tolerance_the_end_of_the_budget_says_that_it_was_not_met(problem, ready):
    result = minimize(Calls(problem.values), tol=1e-6).result
    assert result.reason is bf.Reason.NOT_AT_TOLERANCE


def test_a_callback_can_stop_it(problem, ready):
    f = Calls(problem.values)
    result = minimize(f, budget=50, callback=lambda now: True).result
    assert result.reason is bf.Reason.STOPPED
    assert result.message.startswith("stopped before the budget was spent. ")
    assert len(f.x) == 4


@pytest.mark.parametrize(
    ("x0", "first"),
    [
        ([0.5, 0.5], [[0.5, 0.5]]),
        ([[0.5, 0.5], [1.0, 1.0]], [[0.5, 0.5], [1.0, 1.0]]),
        ([9.0, 0.0], [[2.0, 0.0]]),
    ],
)
def test_designs_given_are_evaluated_first_within_the_bounds(problem, ready, x0, first):
    f = Calls(problem.values)
    minimize(f, np.array(x0))
    np.testing.assert_array_equal(f.x[: len(first)], first)
    assert len(f.x) == 5


def test_known_values_are_told_and_do_not_count_towards_the_budget(problem, ready, solved):
    x = np.random.default_rng(0).uniform(*BOUNDS, (3, 2))
    for x0 in ((x, problem.values(x)), solved.evaluated, solved):
        f = Calls(problem.values)
        minimize(f, x0, budget=2)
        assert len(f.x) == 2
        known = x if isinstance(x0, tuple) and x0[0] is x else solved.evaluated.X
        np.testing.assert_array_equal(ready[-1][0], [*known, *f.x])


def test_designs_have_the_form_of_the_bounds(ready):
    seen = []

    def nested(x):
        seen.append(x)
        return [x["a"][0] ** 2 + x["b"], (x["a"][1] - 1) ** 2 - x["b"]]

    bounds = {"a": np.zeros(2), "b": np.array(0.0)}, {"a": np.ones(2), "b": np.array(2.0)}
    first = {"a": np.array([0.1, 0.2]), "b": np.array(0.3)}
    bf.minimize(nested, first, bf.Surrogate(), bounds=bounds, budget=3)
    assert [np.shape(x["a"]) for x in seen] == [(2,)] * 3
    np.testing.assert_array_equal(seen[0]["a"], first["a"])
    assert ready[0][2].unravel(np.arange(3.0))["b"] == 2.0


def test_evaluations_that_failed_are_named_and_tried_again_only_where_asked_for(problem, ready):
    f = Calls(problem.values, fails=True)
    minimize(f, budget=3, method=bf.Surrogate(retries=1))
    assert len(f.x) == 4  # once more, with values
    f = Calls(problem.values, fails=True)
    solution = minimize(f, budget=3)
    assert len(f.x) == 3
    (failed,) = solution.made_by["failed"]
    assert "1 evaluations failed and were left out, the first at x = " in solution.result.message
    assert "no flow" in failed["failure"]
    assert failed["x"] == list(f.x[1])
    assert len(ready[-1][0]) == 2


def test_what_a_problem_says_about_itself_is_read(ready):
    class Plant:
        bounds = BOUNDS
        n_variables, n_objectives = 2, 2
        names = bf.Names(("cost", "gain"), ("flow", "heat"))
        maximize = ("gain",)

        def __call__(self, x):
            return [x[0], x[1]]

    searches = []
    keep = Search.__init__

    def noted(self, *args, **kwargs):
        keep(self, *args, **kwargs)
        searches.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Search, "__init__", noted)
        bf.minimize(Plant(), None, bf.Surrogate(worst={"gain": 0.5}), budget=3)
    assert searches[-1].domain.names.variables == ("flow", "heat")
    assert searches[-1].domain.names.directions == ("minimize", "maximize")
    assert searches[-1].worst == [None, 0.5]


@pytest.mark.slow
def test_minimize_keeps_the_budget_takes_known_values_and_says_that_an_objective_is_constant(
    problem,
):
    f = Calls(lambda x: [problem.values(x)[0], 5.0])
    known = np.random.default_rng(0).uniform(*BOUNDS, (10, 2))
    F = np.column_stack([problem.values(known)[:, 0], np.full(10, 5.0)])
    method = bf.Surrogate(batch=2)
    solution = minimize(f, (known, F), 2, method, maximize=[1], tol=1e-9)
    assert len(f.x) == 2
    assert len(solution.evaluated.F) == 12
    assert solution.result.reason is bf.Reason.SUSPECT
    assert "f2 was 5 in all 12 evaluations" in solution.result.message


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"budget": None}, "budget must be given"),
        ({"bounds": None}, "bounds must be given with a Surrogate"),
        ({"x0": np.zeros(3)}, "x0 must have 2 numbers for each design, got shape"),
        ({"x0": (np.zeros((3, 2)), np.zeros(3))}, "x0 must hold a row of values for each of 3"),
        ({"method": bf.Surrogate(worst={"cost": 1})}, "they are f1, f2"),
        ({"method": bf.Surrogate(noise="loud")}, "noise must be one of"),
    ],
)
def test_misuse_is_said_at_the_door(problem, settings, says):
    arguments = {"x0": None, "method": bf.Surrogate(), "bounds": BOUNDS, "budget": 9, **settings}
    with pytest.raises((TypeError, ValueError), match=says):
        bf.minimize(problem.values, **arguments)


@pytest.mark.slow
def test_texts_and_whole_numbers():
    shift = {"a": 0.0, "b": 0.5}
    seen = []

    def f(x):
        seen.append(x)
        return [x["w"] ** 2 + shift[x["kind"]] + 0.1 * x["n"], (1 - x["w"]) ** 2 / x["n"]]

    variables = {"kind": bf.Choice("a", "b"), "n": bf.Integer(1, 2), "w": (0.0, 1.0)}
    found = bf.minimize(f, method=bf.Surrogate(), budget=24, variables=variables)
    assert len(seen) == 24
    assert all(isinstance(x["n"], int) and x["kind"] in shift for x in seen)
    points = found.spread(9)
    assert set(points.X["kind"]) == {"a"}  # the other one costs more, and does nothing
    designs = zip(points.X["kind"], points.X["n"], points.X["w"], strict=True)
    truth = [f({"kind": str(k), "n": int(n), "w": float(w)}) for k, n, w in designs]
    assert np.abs(points.F - truth).max() < 0.05
    assert found.surrogate is not None
    assert np.isfinite(found.front_std(points.t)).all()
