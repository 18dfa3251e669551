"""The driver of every flow: iterations until the flow is done, with a progress bar, a callback and
Ctrl-C on the way."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Generic, Protocol, runtime_checkable

import numpy as np
from jaxtyping import PyTree

from ..answer import BezierAtlas, Reason
from ..bezier import BezierSimplex, Raveling
from ..evaluations import Evaluations
from ..interrupts import raise_if_interrupted
from ..objectives import raise_failures
from ..runs import Part
from .contract import AbstractFlow, History, Info, Run, State, Surface
from .progress import progress_bar

PULSE_SECONDS = 0.25
"""About how often a flow that makes many iterations at once is interrupted: to redraw the progress
bar, to notice Ctrl-C."""

LARGEST_GROWTH = 100
"""The number of iterations made at once grows by at most this factor: the first ones may include
compilation."""


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


@runtime_checkable
class Looks(Protocol):
    """A callback that decides by the surface alone, so that a run that goes on can ask it about
    where it was."""

    def look(self, surface: Surface) -> bool:
        """Whether to stop at this surface."""
        ...


def drive(  # noqa: PLR0913
    flow: AbstractFlow[State],
    objectives: PyTree,
    state: State,
    n_iterations: int | None = None,
    callback: Callback | None = None,
    progress: bool = False,
    raveling: Raveling | None = None,
    part: Part | None = None,
) -> Run[State]:
    """Iterates from a state until the flow is done, `n_iterations` were made, or somebody stops it.

    With a callback the run pauses after every iteration, without one about every `PULSE_SECONDS`.
    Ctrl-C ends the run with the state of the last pause, and so does the `part` of a checkpoint,
    whatever ends the run; where the part has a state already, the run goes on from there.
    """
    kept, limit = part or Part(), float("inf") if n_iterations is None else n_iterations
    state, iterations, history = kept.restore(flow, objectives, state)
    at = _Reached.begun(Run(state, None, iterations, history))
    kept.keep(flow, objectives, at.ended(None))
    stopped, most = None, 1
    if _is_stopped(callback, flow, at, raveling):
        return at.ended(Reason.STOPPED)
    with (
        progress_bar(progress, n_iterations, "flow") as update,
        _kept_at_the_end(kept, flow, objectives, lambda: at),
    ):
        try:
            while not flow.done(at.state):
                if at.number >= limit:
                    stopped = Reason.ITERATION_LIMIT
                    break
                raise_if_interrupted()
                began = time.perf_counter()
                state, piece = flow.advance(objectives, at.state, int(min(most, limit - at.number)))
                raise_failures(objectives)
                made, info = _last(piece)
                at = at.after(state, piece, made)
                if kept.is_due:
                    kept.keep(flow, objectives, at.ended(None))
                update(at.number, _words(info))
                if made and callback is not None:
                    if callback(
                        Iteration(
                            at.number,
                            shaped(flow.surface(state), raveling),
                            flow.evaluations(state),
                            info,
                        )
                    ):
                        stopped = Reason.STOPPED
                        break
                else:
                    most = _next_group(made, time.perf_counter() - began)
        except KeyboardInterrupt:
            stopped = Reason.INTERRUPTED
    return at.ended(stopped)


@dataclass(frozen=True)
class _Reached(Generic[State]):
    """How far a run is. It is replaced as a whole, so that whatever interrupts the run finds parts
    that belong together."""

    state: State
    number: int = 0
    pieces: tuple[History, ...] = ()

    @classmethod
    def begun(cls, run: Run[State]) -> "_Reached[State]":
        return cls(run.state, run.iterations, (run.history,) if run.history else ())

    def after(self, state: State, piece: History, made: int) -> "_Reached[State]":
        return _Reached(state, self.number + made, (*self.pieces, piece))

    def ended(self, stopped: Reason | None) -> Run[State]:
        return Run(self.state, stopped, self.number, _joined(self.pieces))


def _is_stopped(
    callback: Callback | None, flow: AbstractFlow, at: _Reached, raveling: Raveling | None
) -> bool:
    """Whether a run that goes on had been stopped where it is, by a callback that decides by the
    surface."""
    return (
        at.number > 0
        and isinstance(callback, Looks)
        and callback.look(shaped(flow.surface(at.state), raveling))
    )


def _words(info: Info) -> str:
    return ", ".join(f"{name} {value:.2g}" for name, value in info.items())


@contextmanager
def _kept_at_the_end(
    part: Part, flow: AbstractFlow, objectives: PyTree, reached: Callable[[], _Reached]
) -> Iterator[None]:
    """Whatever ends the block, the part keeps what was reached."""
    try:
        yield
    finally:
        part.keep(flow, objectives, reached().ended(None))


def _last(piece: History) -> tuple[int, Info]:
    """How many iterations there are, and the info of the last one."""
    made = len(next(iter(piece.values())))
    return made, {name: values[-1].item() for name, values in piece.items()} if made else {}


def _joined(pieces: tuple[History, ...]) -> History:
    return (
        {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
        if pieces
        else {}
    )


def _next_group(made: int, seconds: float) -> int:
    """How many iterations to make until the next pause, at the speed of the last ones."""
    return max(1, min(int(made * PULSE_SECONDS / max(seconds, 1e-6)), LARGEST_GROWTH * made))


def shaped(surface: Surface, raveling: Raveling | None) -> Surface:
    """A surface with flat values as one with values of the user's shape."""
    if raveling is None:
        return surface
    if isinstance(surface, BezierAtlas):
        return replace(surface, units=surface.units.times(raveling.units), raveling=raveling.plain)
    return BezierSimplex(
        raveling.unravel(surface.control_points), surface.n_objectives, surface.degree
    )
