"""The contract of a flow: what moves a surface towards the Pareto set, one iteration at a time, and
explains its end."""

import abc
import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..answer import BezierAtlas, ErrorEstimate, Reason, Result, describe, judge
from ..arguments import or_none, read_count
from ..bezier import BezierSimplex
from ..evaluations import Evaluations
from ..names import Names
from ..objectives import FlatObjectives

Info = dict[str, Any]
"""What a person reads about an iteration: numbers by name. Every iteration has the same names."""

History = dict[str, np.ndarray]
"""The infos of several iterations: an array for each name."""

State = TypeVar("State")

Surface = BezierSimplex | BezierAtlas
"""What a flow moves."""

Estimate = Callable[[FlatObjectives, BezierSimplex, int], ErrorEstimate]
"""The error of a surface at held-out t: objectives, surface and seed."""


@dataclasses.dataclass(frozen=True)
class Run(Generic[State]):
    """A run that has ended.

    Attributes:
        state: the last one.
        stopped: STOPPED, INTERRUPTED, TIME_LIMIT or ITERATION_LIMIT; None where the flow itself was
            done.
        iterations: how many were made.
        history: their infos, which become `solution.history`.
        left: which bound the surface left, in words, where that ended the run; else empty.
    """

    state: State
    stopped: Reason | None
    iterations: int
    history: History
    left: str = ""

    @property
    def ending(self) -> str:
        """What ended the run from outside, in words, with what to do about it."""
        k = self.iterations
        words = {
            Reason.STOPPED: f"the callback returned True after iteration {k}; the best so far is"
            " returned",
            Reason.INTERRUPTED: f"interrupted after iteration {k}; the best so far is returned",
            Reason.TIME_LIMIT: f"the time limit was reached after iteration {k}; the best so far is"
            " returned: give a larger time_limit, or start from it, x0=solution, to go on",
            Reason.ITERATION_LIMIT: f"all {k} iterations were made",
        }
        return "" if self.stopped is None else words[self.stopped]


class AbstractFlow(eqx.Module, Generic[State]):
    """A flow: an immutable object with the settings of a run. A new one needs `init` and `step`,
    nothing else.

    The data of a run is in its state, which has at least `surface`, `evaluations` and `done`;
    stepping the same state twice gives the same state and the same counts. `bezierflow.minimize`
    prepares a flow, drives it from its first state until it is done (see `drive`), measures the
    surface and explains the end. Objectives are functions of a flat vector, surfaces have flat
    values, all in double precision.

    Attributes:
        n_iterations: the most iterations of a run; None for `most_iterations`.
    """

    # By keyword alone, so that a new flow may have fields without defaults.
    n_iterations: int | None = eqx.field(
        static=True,
        kw_only=True,
        default=None,
        converter=lambda value: or_none(read_count, value, "n_iterations", 1),
    )

    most_iterations: ClassVar[int | None] = None
    """The most iterations where the user does not say; None for as many as it takes."""

    doing: ClassVar[str] = "one surface"
    """What the flow makes, for a progress bar."""

    parametrization: ClassVar[str] = "free"
    """What t means: "weights" where b(t) minimizes the t-weighted objectives, else "free"."""

    def prepare(
        self, objectives: FlatObjectives, start: BezierSimplex
    ) -> tuple["AbstractFlow", BezierSimplex]:
        """This flow and its start with whatever they leave open settled for the problem."""
        return self, start

    @abc.abstractmethod
    def init(self, objectives: FlatObjectives, start: BezierSimplex, seed: int) -> State:
        """The state before the first iteration. `start` has degree 0 where the user gave a
        point."""

    def accepted(self, objectives: FlatObjectives, start: BezierSimplex, seed: int) -> State | None:
        """The end of a run that starts at its goal, in place of `init`; None where it does not."""
        return None

    @abc.abstractmethod
    def step(self, objectives: FlatObjectives, state: State) -> tuple[State, Info]:
        """One iteration. Where it would exceed the flow's budget, what there is, as a state that is
        done."""

    def surface(self, state: Any) -> BezierSimplex:
        """The best surface so far, with NumPy control points."""
        return state.surface

    def evaluations(self, state: Any) -> Evaluations:
        """What the run has evaluated so far."""
        return Evaluations(*map(int, state.evaluations))

    def advance(self, objectives: FlatObjectives, state: State, most: int) -> tuple[State, History]:
        """At least one iteration and at most `most`, and their infos: one, unless a flow is faster
        at many."""
        state, info = self.step(objectives, state)
        return state, {name: np.array([value]) for name, value in info.items()}

    def share_done(self, info: Info) -> float | None:
        """Roughly which part of the way to its goal a run has made, for a progress bar; None where
        an iteration does not tell."""
        return None

    def measure(
        self, objectives: FlatObjectives, run: Run[State], seed: int, estimate: Estimate
    ) -> ErrorEstimate | None:
        """The error estimate that the end of the run is judged by; None where the run claims
        nothing or there can be none. `estimate` is the one that suits any smooth surface."""
        return estimate(objectives, self.surface(run.state), seed)

    def rivals(self, run: Run[State], seed: int) -> np.ndarray | None:
        """Designs that were met when the end of a run was measured and that beat it, from which a
        search should go on; None where there are none."""
        return None

    def explain(
        self, objectives: FlatObjectives, run: Run[State], error: ErrorEstimate | None, names: Names
    ) -> Result:
        """Why the run ended and what its surface is worth, in words a person can act on."""
        return explain_end(run, f"done after iteration {run.iterations}", error)

    def continues(self, other: "AbstractFlow") -> bool:
        """Whether this flow, prepared, can go on from a state of the other one: it may differ in
        limits alone."""
        return type(self) is type(other) and getattr(self, "degree", 0) == getattr(
            other, "degree", 0
        )

    def with_budget(self, state: State) -> State:
        """A state of a flow whose budget has changed since: one that was spent is no reason to have
        ended."""
        return state

    def named(self, objectives: FlatObjectives) -> dict[str, object]:
        """What a state refers to and a file cannot hold, by name."""
        return {"objectives": objectives}

    def parts(self) -> dict[str, object]:
        """What the flow is made of, for `solution.made_by`: numbers and texts."""
        settings = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        # Files hold numbers and texts alone.
        plain = {
            name: value if isinstance(value, int | float | None) else str(value)
            for name, value in settings.items()
        }
        # A limit that the user left open is the flow's own.
        plain["n_iterations"] = self.n_iterations or self.most_iterations
        return {"flow": type(self).__name__, **plain, "parametrization": self.parametrization}


class Paused(NamedTuple):
    """A run that its user, their budget or a limit ended, to go on where it was.

    Attributes:
        given: the objectives as the user gave them.
        flow: prepared for the problem.
        state: the last one.
        flat: the objectives that the flow worked on.
        start: where it started.
        spent: what was evaluated before the flow began.
    """

    given: object
    flow: AbstractFlow
    state: PyTree
    flat: FlatObjectives
    start: BezierSimplex
    spent: Evaluations


def steps_at_once(
    step: Callable[[State], tuple[State, Info]], state: State, most: Array | np.ndarray, room: int
) -> tuple[State, Info]:
    """Steps until the state is done or `most` were made, and their infos in arrays with room to
    spare. Traceable; states count their steps by `k`."""
    first: Array = state.k  # pyright: ignore[reportAttributeAccessIssue]

    def advance(running: tuple[Any, Info]) -> tuple[Any, Info]:
        before, infos = running
        after, info = step(before)
        return after, {name: infos[name].at[before.k - first].set(info[name]) for name in infos}

    named = jax.eval_shape(lambda state: step(state)[1], state)
    blank = {name: jnp.full(room, jnp.nan, info.dtype) for name, info in named.items()}
    return jax.lax.while_loop(
        lambda running: ~running[0].done & (running[0].k - first < most), advance, (state, blank)
    )


def explain_end(run: Run, note: str, error: ErrorEstimate | None) -> Result:
    """Why a run ended, and what its surface is worth; where it ended by itself, what it notes about
    that must stand the estimate."""
    if run.stopped is None:
        return judge(note, error)
    return Result(run.stopped, run.ending, (describe(error),))


def corners(start: BezierSimplex) -> Float[np.ndarray, "n_objectives n_variables"]:
    """The corners of a surface with flat values: where each objective's own minimization starts."""
    return np.stack([np.asarray(start.vertex(m)) for m in range(start.n_objectives)])
