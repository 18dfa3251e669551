"""How method="auto" answers a problem, and why: by derivatives, by values alone, or by a surrogate
for objectives of which only a few, slow or noisy values can be had."""

import re
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..answer import Solution
from ..evaluations import Evaluations, total
from ..names import decode
from ..objectives import Bridge, Problem
from ..simplex import kronecker
from .attempts import values_alone
from .call import Call
from .first_look import region
from .schedule import SCHEDULE

_OFFERED: list[Callable[[], Any]] = []
"""What was offered last, if anything."""


def offer_search(make: Callable[[], Any]) -> None:
    """Takes what makes a method with a `search`, for objectives that are expensive; a room above
    this one has it, which `make` may import."""
    _OFFERED[:] = [make]


class Choice(NamedTuple):
    """A way to an answer, and the reason for it in one sentence."""

    searches: bool
    """Whether a surrogate searches."""
    why: str


def choose(problem: Problem, budget: int | None, open_choice: bool = True) -> Choice:
    """By the form of the objectives, the budget, the time that a call takes, and noise; a surrogate
    only where that is open."""
    bridge, form = problem.form.flat, re.split(r", as it is|[:;]", problem.form.found)[0]
    if not isinstance(bridge, Bridge) or bridge.order:
        return Choice(False, f"by derivatives, since the objectives are {form}")
    L = problem.start.n_variables
    if open_choice and _OFFERED and _can_search(problem, budget):
        noise = bridge.differences.noise
        if noise > SCHEDULE.most_noise:
            return Choice(
                True, f"by a surrogate, since values have a relative noise of {noise:.0e}"
            )
        if (seconds := _seconds(problem)) >= SCHEDULE.slow_call:
            return Choice(
                True,
                f"by a surrogate, since {budget} calls of {seconds:.1g} s each are fewer than the"
                f" {_enough(problem)} or so that values alone take for {L} variables",
            )
    if values_alone(problem, budget):
        return Choice(
            False,
            f"by values alone, since the objectives are {form}, called as it is, and a Hessian of"
            f" {L} variables would take {L * L + L + 1} calls",
        )
    return Choice(False, f"by finite differences, since the objectives are {form}, called as it is")


def _can_search(problem: Problem, budget: int | None) -> bool:
    """Whether there are so few calls, within finite bounds alone, that a surrogate goes further."""
    feasible = problem.feasible
    if feasible is None or budget is None or problem.start.n_objectives == 1:
        return False
    few = budget <= min(_enough(problem), SCHEDULE.most_searched)
    return few and feasible.has_finite_box and not feasible.has_constraints


def _enough(problem: Problem) -> int:
    return SCHEDULE.calls_per_variable * (problem.start.n_variables + 1)


def _seconds(problem: Problem) -> float:
    """Of a call: of the fastest of some where the first was slow, which may have imported something
    or waited for a busy machine."""
    calls, bridge = problem.calls, problem.form.flat
    assert isinstance(bridge, Bridge)
    low, high, _ = region(problem)
    # What is known already takes no time: points after those of earlier looks.
    known, more = len(bridge.archive()[0]), SCHEDULE.timed_calls
    for point in kronecker(known + more, len(low))[known:]:
        if calls.seconds < SCHEDULE.slow_call or calls.left < 1:
            break
        began = time.monotonic()
        x = (low + (high - low) * point)[None]
        bridge.know(np.asarray(decode(x, problem.names.transforms)), 0)
        calls.seconds = min(calls.seconds, time.monotonic() - began)
    return calls.seconds


def search(problem: Problem, call: Call, why: str) -> Solution:
    """The answer of a search, which knows what was evaluated so far and may make the calls that are
    left."""
    bridge, feasible, calls = problem.form.flat, problem.feasible, problem.calls
    assert isinstance(bridge, Bridge)
    assert feasible is not None
    assert call.budget is not None
    kinds, unravel = problem.names.transforms, problem.raveling.unravel
    low, high = (np.asarray(decode(side, kinds)) for side in (feasible.lower, feasible.upper))
    x, f = bridge.archive()
    if calls.first is not None:
        x, f = np.vstack([calls.first[0], x]), np.vstack([calls.first[1], *f])
    # Points of differences lie too near to each other to say anything.
    apart, near = np.zeros(0, dtype=int), SCHEDULE.clear * (high - low)
    for k, point in enumerate(x):
        if not (np.abs(x[apart] - point) < near).all(axis=1).any():
            apart = np.append(apart, k)
    method = _OFFERED[-1]()
    task = replace(
        call,
        objectives=call.form,
        x0=(unravel(x[apart]), f[apart]),
        method=method,
        bounds=(unravel(low), unravel(high)),
        budget=call.budget - int(calls.total.objective),
    )
    found = method.search(task)
    fresh = int(found.stats.evaluations.objective) - len(apart)
    calls.made["search"] = total(calls.made.get("search", Evaluations()), Evaluations(fresh))
    stats = replace(found.stats, evaluations=calls.total, calls=calls)
    return replace(
        found,
        stats=stats,
        result=found.result.noted(why),
        made_by={**found.made_by, "chosen": why},
    )
