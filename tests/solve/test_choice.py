"""What method="auto" chooses, by form, budget, time per call and noise, and what it says of it."""

import time

import numpy as np
import pytest

import bezierflow as bf

BOX = np.zeros(2), np.ones(2)


def traced(x):
    return np.array([np.sum(x**2), np.sum((x - 1) ** 2)])


def called(x):
    a, b = float(x[0]), float(x[1])
    return [a**2 + b, (a - 1) ** 2 + (b - 0.5) ** 2]


class Slow:
    """Takes 20 ms per call, and counts them."""

    def __init__(self, function=called):
        self.n, self.function = 0, function

    def __call__(self, x):
        self.n += 1
        time.sleep(0.02)
        return self.function(x)


def noisy(x):
    return [value * (1 + 0.02 * np.sin(1e12 * float(x[0] + 3 * x[1]))) for value in called(x)]


CASES = {
    "traced": (traced, {}, "by derivatives, since the objectives are a NumPy function"),
    "no budget": (called, {}, "by finite differences"),
    "a budget": (called, {"budget": 2000}, "by values alone"),
    "few fast calls": (called, {"budget": 60}, "by values alone"),
    "few slow calls": (Slow(), {"budget": 60}, "by a surrogate, since 60 calls of "),
    "many slow calls": (Slow(), {"budget": 2000}, "by values alone"),
    "slow, no bounds": (
        Slow(),
        {"budget": 60, "bounds": None, "x0": [0.2, 0.2]},
        "by values alone",
    ),
    "noise": (noisy, {"budget": 150}, "by a surrogate, since values have a relative noise of"),
}


@pytest.mark.parametrize(("objectives", "options", "words"), CASES.values(), ids=CASES)
def test_a_check_says_what_will_be_chosen(objectives, options, words):
    report = bf.check(objectives, **{"bounds": BOX, **options})
    assert words in report.plan
    assert words in str(report)


@pytest.mark.slow
def test_a_surrogate_that_was_chosen_keeps_the_budget_and_what_is_known():
    slow = Slow()
    solution = bf.minimize(slow, bounds=(0.0, 1.0), x0=np.full(2, 0.3), budget=8)
    assert slow.n == solution.stats.evaluations.objective <= 8
    assert sum(part.objective for part in solution.stats.calls.made.values()) == slow.n
    words = "by a surrogate, since 8 calls of 0.0"
    assert solution.made_by["chosen"].startswith(words)
    assert words in solution.result.message
    X, F = solution.evaluated.X, solution.evaluated.F
    np.testing.assert_array_equal(X[0], [0.3, 0.3])
    np.testing.assert_array_equal(F, [called(x) for x in X])


class Delayed(Slow):
    """Waits in its first calls only, as on a busy machine."""

    def __call__(self, x):
        self.n += 1
        time.sleep(0.02 * (self.n <= 2))
        return self.function(x)


def test_a_call_that_waited_for_a_busy_machine_is_not_a_slow_one():
    found = bf.minimize(Delayed(), bounds=BOX, budget=60)
    assert found.made_by["chosen"].startswith("by values alone")


def test_a_run_says_why(tmp_path):
    assert bf.minimize(traced, np.zeros(2)).made_by["chosen"].startswith("by derivatives")
    options = {"bounds": BOX, "budget": 30, "checkpoint": tmp_path / "run"}
    # What a folder holds must not depend on how long a call took.
    kept = bf.minimize(Slow(), **options)
    assert kept.made_by["flow"] == "AtlasFlow"
