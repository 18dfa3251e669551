"""A time limit ends a run after the call at hand, wherever the run is, with the best so far."""

import time

import jax.numpy as jnp
import numpy as np
import pytest

import bezierflow as bf
import bezierflow.solve


class Clock:
    """A clock that goes on by a second with each call of the objectives, and else stands still."""

    def __init__(self, monkeypatch):
        self.now, self.calls = 0.0, 0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)

    def objectives(self, x):
        x = np.array([float(value) for value in x])  # here tracing ends
        self.now, self.calls = self.now + 1.0, self.calls + 1
        return [x[0] + np.sum(x[1:] ** 2), 1 - np.sqrt(x[0]) + np.sum((x[1:] - 0.2) ** 2)]


@pytest.mark.parametrize("limit", [7.5, 300.5])
@pytest.mark.parametrize("options", [{}, {"budget": 5000}, {"method": bf.WeightsFlow()}])
def test_no_call_is_made_when_the_time_is_up(monkeypatch, limit, options):
    clock, box = Clock(monkeypatch), (np.full(3, 1e-3), np.ones(3))
    bounds = None if "method" in options else box
    solution = bf.minimize(
        clock.objectives, np.full(3, 0.4), bounds=bounds, time_limit=limit, **options
    )
    assert clock.calls <= limit + 1
    assert solution.stats.evaluations.objective == clock.calls
    assert solution.result.reason is bf.Reason.TIME_LIMIT
    assert "time_limit" in solution.result.message
    assert np.isfinite(np.asarray(solution.design(np.eye(2)))).all()


def test_the_best_designs_so_far_are_returned_rather_than_the_start(monkeypatch):
    clock, box = Clock(monkeypatch), (np.full(3, 1e-3), np.ones(3))
    solution = bf.minimize(clock.objectives, bounds=box, time_limit=40.5, budget=5000)
    start = np.asarray(clock.objectives(np.mean(box, axis=0)))
    best = np.asarray(solution.front(np.eye(2)))
    assert (np.diag(best) < start).all()


def test_traced_objectives_end_between_two_batches(monkeypatch):
    """The clock goes on whenever it is asked, so that a round of many batches is cut short."""
    now = iter(range(10**9))
    f = lambda x: jnp.array([x[0] + jnp.sum(x[1:] ** 2), 2 - x[0] + jnp.sum((x[1:] - 0.2) ** 2)])
    bounds = (np.zeros(3), np.ones(3))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(now)))
    solution = bf.minimize(f, bounds=bounds, time_limit=60.0)
    assert solution.result.reason is bf.Reason.TIME_LIMIT
    assert np.isfinite(np.asarray(solution.design(np.eye(2)))).all()
