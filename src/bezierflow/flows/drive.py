"""The driver of every flow: iterations until the flow is done, with a progress bar, a callback, a
time limit and Ctrl-C on the way."""

import html
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import PyTree

from ..answer import Reason, in_users_form
from ..bezier import BezierSimplex, Raveling
from ..evaluations import Evaluations
from ..interrupts import NO_LIMIT, BudgetSpentError, TimeLimit, raise_if_interrupted
from ..objectives import raise_failures
from ..runs import Part
from .contract import AbstractFlow, History, Info, Run, State, Surface
from .schedule import SCHEDULE

Draw = Callable[[float | None, str], None]
"""Draws the share that is done, None where that is not known, and a text beside the bar."""


@contextmanager
def progress_bar(
    show: bool | None, total: int | None, what: str, began: float | None = None
) -> Iterator[Callable[..., None]]:
    """A function `update(done, note, share=None)` for a bar on the terminal or in the notebook.

    Args:
        show: whether there is a bar; None for one that appears where a person watches, once the run
            has lasted for a few seconds, and that is gone after it.
        total: what `done` counts up to, where that is known: the share is done / total then.
        what: is being done, in words.
        began: when the run began, on the clock `time.monotonic`; now, if not given.
    """
    # A kernel whose output a browser shows, as against a terminal or a script.
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    in_notebook = shell is not None and hasattr(shell, "kernel")
    if show is False or (show is None and not (in_notebook or sys.stderr.isatty())):
        yield lambda done, note, share=None: None
        return
    opens = (time.monotonic() if began is None else began) + (0.0 if show else SCHEDULE.patience)
    make = _notebook_bar(what) if in_notebook else _terminal_bar(what, transient=show is None)
    bar = _Bar(make, total, opens, timed=not in_notebook)
    try:
        yield bar.update
    finally:
        bar.close()


class _Bar:
    """A bar that is opened once a run has lasted long enough: by a timer where output may come from
    any thread, since a single iteration may take minutes; else at the next update."""

    def __init__(
        self, make: AbstractContextManager[Draw], total: int | None, opens: float, timed: bool
    ):
        self.make, self.total, self.opens = make, total, opens
        self.lock, self.stack, self.draw = threading.RLock(), ExitStack(), None
        self.latest: tuple[float | None, str] = (None, "")
        self.start, self.closed = time.monotonic(), False
        self.timer = threading.Timer(max(opens - self.start, 0.0), self._open)
        self.timer.daemon = True
        if opens <= self.start:
            self._open()
        elif timed:
            self.timer.start()

    def _open(self) -> None:
        with self.lock:
            if self.draw is None and not self.closed:
                self.draw = self.stack.enter_context(self.make)
                self.draw(*self.latest)

    def update(self, done: int, note: str, share: float | None = None) -> None:
        """What was done so far, and which share of all there is to do, where that is known."""
        share = done / self.total if share is None and self.total else share
        count = f"{done:,}/{self.total:,}" if self.total else f"{done:,}"
        seconds = time.monotonic() - self.start
        rest = "" if share is None else _rest(seconds, share)
        with self.lock:
            self.latest = share, ", ".join(part for part in (count, note, rest) if part)
            if self.opens <= time.monotonic():
                self._open()
            if self.draw is not None:
                self.draw(*self.latest)

    def close(self) -> None:
        """Ends it."""
        self.timer.cancel()
        with self.lock:
            self.closed = True
            self.stack.close()


def _rest(seconds: float, share: float) -> str:
    """How long it will still take at the speed so far; nothing where it is too early to tell."""
    if not SCHEDULE.least_share <= share < 1:
        return ""
    left = seconds * (1 - share) / share
    for unit, size in (("h", 3600), ("min", 60)):
        if left >= 2 * size:
            return f"about {left / size:.0f} {unit} left"
    return f"about {max(left, 1):.0f} s left"


@contextmanager
def _terminal_bar(what: str, transient: bool) -> Iterator[Draw]:
    # On demand, since most runs show no bar.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}")
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=transient) as bar:
        task = bar.add_task(what, total=None, note="")

        def draw(share: float | None, note: str) -> None:
            total = None if share is None else 1.0
            bar.update(task, completed=share or 0.0, total=total, note=note)

        yield draw


@contextmanager
def _notebook_bar(what: str) -> Iterator[Draw]:
    """One output that is replaced as the run goes on. Widgets would draw it too, but are not
    installed everywhere."""
    from IPython.display import HTML, display  # type: ignore[import-not-found]  # only where a notebook runs

    handle: Any = display(HTML(_bar_html(None, what, "")), display_id=True)
    shown, last = -SCHEDULE.pulse_seconds, (None, "")

    def draw(share: float | None, note: str) -> None:
        nonlocal shown, last
        last = share, note
        if time.monotonic() - shown >= SCHEDULE.pulse_seconds:
            shown = time.monotonic()
            handle.update(HTML(_bar_html(share, what, note)))

    try:
        yield draw
    finally:
        handle.update(HTML(_bar_html(last[0] or 1.0, what, last[1])))


def _bar_html(share: float | None, what: str, note: str) -> str:
    """The browser's own progress bar, without an end where there is none to tell."""
    value = "" if share is None else f' value="{share:.4f}"'
    return f"<div>{html.escape(what)} <progress{value}></progress> {html.escape(note)}</div>"


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
            while stopped is None and not run.state.done:
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
