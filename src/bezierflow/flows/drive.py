"""The driver of every flow: iterations until the flow is done, with a progress bar, a callback, a
time limit and Ctrl-C on the way."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import PyTree

from ..answer import Reason, in_users_form
from ..bezier import BezierSimplex, Raveling
from ..evaluations import Evaluations
from ..interrupts import NO_LIMIT, BudgetSpentError, TimeLimit, raise_if_interrupted
from ..objectives import raise_failures
from ..runs import Part
from .contract import AbstractFlow, History, Info, Run, State, Surface
from .progress import progress_bar
from .schedule import SCHEDULE


@dataclass(frozen=True)
class Iteration:
    """What a callback gets after each iteration; it returns True to stop the run.

    Attributes:
        number: counts from 1.
        surface: the best surface so far, with values shaped like x0; an atlas where the set follows
            bounds, None of a search.
        evaluations: what the run has evaluated so far.
        info: what `solution.history` will hold of this iteration, by the same names.
    """

    number: int
    surface: Surface | None
    evaluations: Evaluations
    info: Info


Callback = Callable[[Iteration], bool | None]


def drive(  # noqa: PLR0913
    flow: AbstractFlow[State],
    objectives: PyTree,
    state: State,
    callback: Callback | None = None,
    progress: bool | None = False,
    raveling: Raveling | None = None,
    part: Part | None = None,
    time_limit: TimeLimit = NO_LIMIT,
    leaves: Callable[[BezierSimplex], str] | None = None,
    began: float | None = None,
) -> Run[State]:
    """Iterates from a state until the flow is done, its iterations are made, or something stops it.

    Without a callback the run pauses a few times per second, with one after every iteration. Ctrl-C
    ends the run with the state of the last pause.

    Args:
        flow: prepared for the problem; its `n_iterations` limits the run.
        objectives: what the flow works on.
        state: where to start.
        callback: the user's.
        progress: whether to show a progress bar; None for one that appears by itself.
        raveling: the form of x that the callback sees.
        part: the file that keeps the run; where it has a state already, the run goes on from there.
        time_limit: when to stop, at a pause or where a function is evaluated.
        leaves: says in words which bound a surface leaves, which ends the run; empty where it keeps
            them all.
        began: when the call began that this run is a part of, on the same clock.
    """
    kept, n_iterations = part or Part(), flow.n_iterations or flow.most_iterations
    # `run` is replaced as a whole: an interrupt at any moment finds parts that belong together.
    state, iterations, history = kept.restore(flow, objectives, state)
    run = Run(state, None, iterations, history)
    kept.keep(flow, objectives, run)
    # A run that had ended because it left its bounds ends there again when it is repeated.
    stopped, left = None, ""
    if run.iterations > 0:
        stopped, left = _look(flow, run, {}, None, leaves, raveling, time_limit)
    most = 1  # the first iteration shows how fast they are
    with progress_bar(progress, flow.n_iterations, flow.doing, began) as update:
        try:
            while stopped is None and not flow.done(run.state):
                stopped = _limit(run.iterations, n_iterations, time_limit)
                if stopped is not None:
                    break
                raise_if_interrupted()  # the first Ctrl-C waits for a pause like this one
                before = time.perf_counter()
                room = most if n_iterations is None else min(most, n_iterations - run.iterations)
                with time_limit.applied():
                    state, piece = flow.advance(objectives, run.state, room)
                # An exception of a function on the host was kept, for JAX would wrap it.
                raise_failures(objectives)
                made, info, history = _joined(run.history, piece)
                run = Run(state, None, run.iterations + made, history)
                # Before the callback, which may raise.
                if kept.is_due:
                    kept.keep(flow, objectives, run)
                note = ", ".join(f"{name} {info[name]:.2g}" for name in info)
                update(run.iterations, note, _share(flow, run, info, began, time_limit))
                stopped, left = _look(flow, run, info, callback, leaves, raveling, time_limit)
                seconds = max(time.perf_counter() - before, 1e-6)
                # at the speed of the last iterations, until the next pause
                group = min(made * SCHEDULE.pulse_seconds / seconds, SCHEDULE.largest_growth * made)
                most = 1 if callback is not None else max(1, int(group))
        except (KeyboardInterrupt, BudgetSpentError) as end:
            stopped = _interrupted(end, time_limit)
        finally:
            kept.keep(flow, objectives, run)
    return replace(run, stopped=stopped, left=left)


def _share(
    flow: AbstractFlow[State],
    run: Run[State],
    info: Info,
    began: float | None,
    time_limit: TimeLimit,
) -> float | None:
    """Which part of a run is done, by what comes first: its goal, its budget, its iterations or the
    time limit; None where nothing tells."""
    shares = [flow.share_done(info)]
    if flow.n_iterations:
        shares.append(run.iterations / flow.n_iterations)
    budget = getattr(flow, "budget", None)
    if budget:
        shares.append(int(flow.evaluations(run.state).objective) / budget)
    if np.isfinite(time_limit.deadline) and began is not None:
        shares.append((time.monotonic() - began) / max(time_limit.deadline - began, 1e-9))
    known = [share for share in shares if share is not None and np.isfinite(share)]
    return min(max(known), 1.0) if known else None


def _interrupted(end: BaseException, time_limit: TimeLimit) -> Reason:
    """Why an iteration ended halfway."""
    if isinstance(end, BudgetSpentError) and not time_limit.reached:
        raise end
    return Reason.INTERRUPTED if isinstance(end, KeyboardInterrupt) else Reason.TIME_LIMIT


def _limit(number: int, n_iterations: int | None, time_limit: TimeLimit) -> Reason | None:
    """Which limit is reached after so many iterations, if any."""
    if n_iterations is not None and number >= n_iterations:
        return Reason.ITERATION_LIMIT
    # The first iteration finds what there is to return.
    return Reason.TIME_LIMIT if number > 0 and time_limit.left == 0.0 else None


def _look(
    flow: AbstractFlow[State],
    run: Run[State],
    info: Info,
    callback: Callback | None,
    leaves: Callable[[BezierSimplex], str] | None,
    raveling: Raveling | None,
    time_limit: TimeLimit,
) -> tuple[Reason | None, str]:
    """Whether the callback stops the run, the time is up, or its surface leaves the bounds, and
    which one."""
    if time_limit.reached:
        return Reason.TIME_LIMIT, ""
    if callback is None and leaves is None:
        return None, ""
    surface, spent = flow.surface(run.state), flow.evaluations(run.state)
    seen = surface if raveling is None else in_users_form(surface, raveling)[0]
    iteration = Iteration(run.iterations, seen, spent, info)
    if callback is not None and info and callback(iteration):
        return Reason.STOPPED, ""
    left = "" if leaves is None else leaves(surface)
    return Reason.STOPPED if left else None, left


def _joined(history: History, piece: History) -> tuple[int, Info, History]:
    """How many iterations a piece has, the info of the last one, and the history with it."""
    made = len(next(iter(piece.values())))
    info = {name: values[-1].item() for name, values in piece.items()} if made else {}
    if not history:
        return made, info, piece
    return made, info, {name: np.concatenate([history[name], piece[name]]) for name in history}
