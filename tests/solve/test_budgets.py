"""Every call of a function on the host is counted, and no budget is exceeded."""

import numpy as np
import pytest

import bezierflow as bf

BOX = (np.full(2, -0.5), np.array([0.7, 0.5]))


class Counter:
    """Counts its calls, so that it is called each time."""

    def __init__(self, function):
        self.function, self.n = function, 0

    def __call__(self, x):
        self.n += len(x) if np.ndim(x) == 2 else 1
        return self.function(x)


def pair(x):
    return np.array([np.sum((x - 1) ** 2), np.sum((x + 1) ** 2) + np.sum(x**4)])


FORMS = {
    "function": lambda counter: counter,
    "list": lambda counter: [lambda x: counter(x)[0], lambda x: pair(x)[1] + 0 * float(x[0])],
    "vectorized": lambda counter: bf.Objectives(
        lambda x: np.stack([counter(row) for row in x]), vectorized=True
    ),
}
ROUTES = {
    "free": (np.full(2, 0.2), {}),
    "bounds": (np.full(2, 0.2), {"bounds": BOX}),
    "constraints": (None, {"bounds": BOX, "constraints": lambda x: x[0] + x[1] - 0.3}),
    "weights": (np.full(2, 0.2), {"method": bf.WeightsFlow()}),
}


BUDGETS = {"function": (5, 40, 300, 3000, 20_000), "list": (5, 300), "vectorized": (5, 300)}
"""How calls are counted depends on the form, and what is done with a large budget does not."""


@pytest.mark.slow("function-20000-constraints", "function-20000-bounds")
@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
@pytest.mark.parametrize(
    ("form", "budget"), [(form, budget) for form in FORMS for budget in BUDGETS[form]]
)
def test_a_budget_is_kept_and_every_call_is_counted(form, route, budget):
    counter, (x0, options) = Counter(pair), route
    solution = bf.minimize(FORMS[form](counter), x0, budget=budget, **options)
    assert counter.n <= budget
    assert solution.stats.evaluations.objective == counter.n
    assert sum(part.objective for part in solution.stats.calls.made.values()) == counter.n
    assert np.isfinite(solution.pareto_set(np.eye(2))).all()


@pytest.mark.parametrize("bounds", [None, BOX], ids=["free", "bounds"])
@pytest.mark.parametrize("budget", [5, 10, 40])
def test_comparing_traced_code_with_itself_is_part_of_the_budget(budget, bounds):
    solution = bf.minimize(pair, np.full(2, 0.2), budget=budget, bounds=bounds)
    assert "differentiated exactly" in solution.made_by["objectives"]
    assert 0 < solution.stats.evaluations.objective <= budget


@pytest.mark.parametrize("objectives", [pair, Counter(pair)], ids=["traced", "called"])
@pytest.mark.parametrize("budget", [0, 1, 4])
def test_a_budget_that_does_not_suffice_to_look_is_refused(objectives, budget):
    with pytest.raises(ValueError, match=f"budget must be at least 5.*got {budget}"):
        bf.minimize(objectives, np.full(2, 0.2), budget=budget)


def test_later_questions_are_counted_apart():
    counter = Counter(pair)
    solution = bf.minimize(counter, np.full(2, 0.2))
    calls, before = solution.stats.calls, counter.n
    assert set(calls.made) == {"probes", "search", "estimate"}
    assert calls.total.objective == before == solution.stats.evaluations.objective
    solution.front(np.array([[0.123, 0.877], [0.877, 0.123]]))
    assert counter.n > before
    assert calls.made["questions"].objective == counter.n - before
    assert solution.stats.evaluations.objective == before


@pytest.mark.parametrize("budget", [5, 40])
def test_a_budget_that_finds_no_set_returns_the_best_that_was_seen(budget):
    counter = Counter(pair)
    solution = bf.minimize(counter, None, bounds=BOX, budget=budget)
    assert solution.result.reason is bf.Reason.SUSPECT
    assert "budget" in solution.result.message
    assert all(patch.label.dimension == 0 for patch in solution.pareto_set.patches)
    # no worse than the start, the center of the box, in each objective
    center = pair(np.mean(BOX, axis=0))
    best = np.asarray(solution.front(np.eye(2)))
    assert (np.diag(best) <= center).all()


def test_a_few_hundred_calls_give_a_set():
    solution = bf.minimize(Counter(pair), None, bounds=BOX, budget=300)
    assert any(patch.label.dimension == 1 for patch in solution.pareto_set.patches)
    assert solution.error.front < 0.01


def test_a_larger_budget_keeps_a_part_for_the_estimate():
    solution = bf.minimize(Counter(pair), np.full(2, 0.2), budget=3000)
    assert solution.result.success
    assert solution.stats.calls.made["estimate"].objective > 0
    assert np.isfinite(solution.error.max)
