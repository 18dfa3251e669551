"""The driver of every flow: iterations until the flow is done, with a progress bar, a callback and Ctrl-C on the way."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import PyTree

from ..atlas import BezierAtlas
from ..bezier import BezierSimplex
from ..forms import raise_failures
from ..methods import Evaluations
from .contract import AbstractFlow, History, Info, Run, State
from .progress import progress_bar
from .raveling import Raveling
from .result import Reason

PULSE_SECONDS = 0.25
"""About how often a flow that makes many iterations at once is interrupted: to redraw the progress bar, to notice Ctrl-C."""

LARGEST_GROWTH = 100
"""The number of iterations made at once grows by at most this factor: the first ones may include compilation."""


@dataclass(frozen=True)
class Iteration:
    """What a callback gets after each iteration; it returns True to stop the run.

    Attributes:
        number: counts from 1.
        surface: the best surface so far, with values shaped like x0; an atlas where the set follows bounds.
        evaluations: what the run has evaluated so far.
        info: what `solution.history` will hold of this iteration, by the same names.
    """

    number: int
    surface: Any
    evaluations: Evaluations
    info: Info


Callback = Callable[[Iteration], bool | None]


def drive(
    flow: AbstractFlow[State],
    objectives: PyTree,
    state: State,
    n_iterations: int | None = None,
    callback: Callback | None = None,
    progress: bool = False,
    raveling: Raveling | None = None,
) -> Run[State]:
    """Iterates from a state until the flow is done, `n_iterations` were made, or somebody stops it.

    With a callback the run pauses after every iteration, without one about every `PULSE_SECONDS`. Ctrl-C ends the run with the
    state of the last pause.
    """
    pieces: list[History] = []
    stopped, number, most = None, 0, 1
    with progress_bar(progress, n_iterations, "flow") as update:
        try:
            while not flow.done(state):
                if number == n_iterations:
                    stopped = Reason.ITERATION_LIMIT
                    break
                began = time.perf_counter()
                left = most if n_iterations is None else min(most, n_iterations - number)
                state, piece = flow.advance(objectives, state, left)
                raise_failures(objectives)
                pieces.append(piece)
                made, info = _last(piece)
                number += made
                update(number, ", ".join(f"{name} {value:.2g}" for name, value in info.items()))
                if made and callback is not None:
                    if callback(Iteration(number, shaped(flow.surface(state), raveling), flow.evaluations(state), info)):
                        stopped = Reason.STOPPED
                        break
                else:
                    most = _next_group(made, time.perf_counter() - began)
        except KeyboardInterrupt:
            stopped = Reason.INTERRUPTED
    return Run(state, stopped, number, _joined(pieces))


def _last(piece: History) -> tuple[int, Info]:
    """How many iterations there are, and the info of the last one."""
    made = len(next(iter(piece.values())))
    return made, {name: values[-1].item() for name, values in piece.items()} if made else {}


def _joined(pieces: list[History]) -> History:
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]} if pieces else {}


def _next_group(made: int, seconds: float) -> int:
    """How many iterations to make until the next pause, at the speed of the last ones."""
    return max(1, min(int(made * PULSE_SECONDS / max(seconds, 1e-6)), LARGEST_GROWTH * made))


def shaped(surface: BezierSimplex | BezierAtlas, raveling: Raveling | None) -> Any:
    """A surface with flat values as one with values of the user's shape."""
    if raveling is None:
        return surface
    if isinstance(surface, BezierAtlas):
        return replace(surface, units=surface.units.times(raveling.units), raveling=raveling.plain)
    return BezierSimplex(raveling.unravel(surface.control_points), surface.n_objectives, surface.degree)
