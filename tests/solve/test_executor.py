"""`minimize` with an executor: the same answer, the same counts, the same errors."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import bezierflow as bf

pytest.importorskip("loky")

BOX = np.zeros(2), np.ones(2)
T = np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])


def spread(objectives, executor):
    """The same objectives, evaluated elsewhere."""
    if isinstance(objectives, bf.Objectives):
        return replace(objectives, executor=executor)
    return bf.Objectives(objectives, executor=executor)


def pair(x):
    a, b = float(x[0]), float(x[1])  # so that it is not traced
    return [a**2 + b, (a - 1) ** 2 + (b - 0.5) ** 2 + 0.1 * abs(a * b)]


def slopes(x):
    a, b = float(x[0]), float(x[1])
    return [[2 * a, 1.0], [2 * (a - 1) + 0.1 * abs(b), 2 * (b - 0.5) + 0.1 * abs(a)]]


class TwoReasonsError(Exception):
    """Exceptions like this one cannot be unpickled."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


CASES = {
    "function": (pair, {"budget": 200}),
    "list": ([lambda x: pair(x)[0], lambda x: pair(x)[1]], {"budget": 200}),
    "jac": (bf.Objectives(pair, jac=slopes), {"budget": 100}),
    "constraint": (pair, {"budget": 200, "constraints": lambda x: 0.3 - float(x[0]) - float(x[1])}),
    "dictionary": (
        lambda x: pair([x["a"], x["b"][0]]),
        {"budget": 200, "bounds": tuple({"a": v, "b": np.full(1, v)} for v in (0.0, 1.0))},
    ),
    "not a number": (
        lambda x: [np.nan if x[0] > 0.8 else float(x[0]), 1 / (1 - int(x[1] > 0.9)) - x[0] + x[1]],
        {"budget": 200},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_answer_does_not_depend_on_the_executor(case):
    objectives, options = case
    options = {"bounds": BOX, **options}
    found = []
    processes = [2] if objectives is pair else []
    for executor in (None, ThreadPoolExecutor(3), *processes):
        solution = bf.minimize(spread(objectives, executor), **options)
        made = dict(solution.stats.calls.made)
        found.append((np.asarray(solution.front(T)).tobytes(), made, str(solution.result)))
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize("executor", [None, 2])
def test_exceptions_of_a_function_are_the_users_to_see(executor):
    def raising(x):
        if float(x[0]) > 0.9:
            raise TwoReasonsError("here", "there") if executor is None else OSError(2, "no file")
        return [float(x[0]), 1 - float(x[0]) + float(x[1]) ** 2]

    kind, words = (TwoReasonsError, "here and there") if executor is None else (OSError, "no file")
    with pytest.raises(kind, match=words):
        bf.minimize(spread(raising, executor), bounds=BOX, budget=300)


def test_an_exception_that_cannot_travel_is_told_in_words():
    def raising(x):
        if float(x[0]) > 0.9:
            raise TwoReasonsError("here", "there")
        return [float(x[0]), 1 - float(x[0]) + float(x[1]) ** 2]

    with pytest.raises(RuntimeError, match="TwoReasonsError: here and there"):
        bf.minimize(spread(raising, 2), bounds=BOX, budget=300)


@pytest.mark.slow
def test_designs_that_end_their_worker_have_no_values():
    def deadly(x):
        if float(x[0]) > 0.97:
            os._exit(1)
        return pair(x)

    solution = bf.minimize(spread(deadly, 2), [0.2, 0.2], bounds=BOX, budget=60)
    assert np.asarray(solution.design(np.eye(2)))[:, 0].max() <= 0.97
    assert solution.stats.evaluations.objective <= 60


def test_an_executor_is_left_to_its_user_who_may_shut_it_down():
    with ThreadPoolExecutor(2) as threads:
        solution = bf.minimize(spread(pair, threads), bounds=BOX, budget=250)
        assert threads.submit(int, "3").result() == 3
    before = solution.stats.calls.total.objective
    assert np.isfinite(np.asarray(solution.front(T))).all()
    assert solution.stats.calls.total.objective >= before


def test_functions_of_all_points_at_once_are_refused():
    both = bf.Objectives(lambda x: np.array([pair(row) for row in x]), vectorized=True)
    with pytest.raises(ValueError, match="executor does not go with objectives that take all"):
        bf.minimize(spread(both, 2), bounds=BOX, budget=100)


@pytest.mark.slow
def test_a_surrogate_takes_the_same_objectives():
    options = {"bounds": BOX, "budget": 4}
    alone, apart = (
        bf.minimize(spread(pair, executor), None, bf.Surrogate(), **options)
        for executor in (None, ThreadPoolExecutor(2))
    )
    np.testing.assert_array_equal(alone.evaluated[0], apart.evaluated[0])


class Counted(ThreadPoolExecutor):
    """Threads that count the tasks that they get."""

    n = 0

    def submit(self, *task, **options):
        self.n += 1
        return super().submit(*task, **options)


def test_whole_numbers_are_evaluated_elsewhere_too():
    def bolts(x):
        n, width = float(x["n"]), float(x["width"])
        return [n + width**2, (n - 3) ** 2 + (width - 1) ** 2]

    kinds = (
        {"n": bf.Integer(0, 3), "width": bf.Steps(0.5, 0.0, 1.0)},
        {"n": bf.Integer(1, 2), "width": (0.0, 1.0)},
    )
    for variables in kinds:
        found, counts = [], []
        for threads in (None, Counted(2)):
            solution = bf.minimize(spread(bolts, threads), variables=variables, budget=400)
            counts.append(solution.stats.evaluations)
            found.append(np.asarray(solution.front(T)).tobytes())
        assert found[0] == found[1]
        assert counts[0] == counts[1]
        assert threads.n > 10
        threads.shutdown()  # answers to questions come from this process
        assert np.isfinite(np.asarray(solution.front(T))).all()


def test_a_run_goes_on_wherever_its_objectives_are_evaluated(tmp_path):
    first = bf.minimize(spread(pair, 2), bounds=BOX, budget=250, checkpoint=tmp_path)
    with Counted(2) as threads:
        again = bf.resume(tmp_path, spread(pair, threads))
        assert threads.n > 0
    assert np.asarray(first.front(T)).tobytes() == np.asarray(again.front(T)).tobytes()


def test_functions_by_name_and_problems_are_evaluated_elsewhere_too():
    named = {"area": lambda x: pair(x)[0], "load": lambda x: pair(x)[1]}
    forms = (
        lambda executor: spread(named, executor),
        lambda executor: bf.Objectives(
            named, jac=[lambda x: slopes(x)[0], lambda x: slopes(x)[1]], executor=executor
        ),
        lambda executor: bf.problems.Problem(spread(pair, executor), objective_names=["a", "b"]),
    )
    for form in forms:
        found = []
        for threads in (None, Counted(2)):
            solution = bf.minimize(form(threads), bounds=BOX, budget=250)
            found.append((np.asarray(solution.front(T)).tobytes(), solution.names.objectives))
        assert found[0] == found[1]
        assert threads.n > 10


def test_a_constraint_has_no_executor_of_its_own():
    alone = spread(lambda x: 0.3 - float(x[0]), 2)
    with pytest.raises(ValueError, match="constraint 1 has an executor; leave it out"):
        bf.minimize(pair, bounds=BOX, budget=100, constraints=alone)
