"""What the user asked of `minimize`, read once, and the flow that it asks for."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

from jaxtyping import PyTree

from ..answer import Solution, as_start
from ..arguments import (
    or_none,
    read_count,
    read_flag,
    read_function,
    read_nonnegative,
    read_number,
    read_positive,
    read_seed,
    shown,
)
from ..bezier import BezierSimplex
from ..flows import SCHEDULE as FLOWS
from ..flows import AbstractFlow, Callback, Flow, Paused, lift
from ..interrupts import TimeLimit
from ..methods import AbstractMethod
from ..normal import AUTO_TOL, FLOAT32_TOL, AbstractAutoFlow, NormalFlow
from ..objectives import (
    Calls,
    Chosen,
    Problem,
    Transforms,
    is_single,
    read_objectives,
    read_problem,
    split_executor,
)
from ..runs import AnyExecutor, Part, Workers
from .schedule import SCHEDULE

KEPT = (
    *("objectives", "x0", "bounds", "constraints", "maximize", "transforms"),
    *("tol", "budget", "seed"),
)
"""Arguments that a result depends on, beside the method."""

LIMITS = ("n_iterations", "max_degree")
"""Settings of a method that may be larger when a run goes on."""


@dataclass(frozen=True)
class Checkpoint:
    """A folder that keeps a run, for `minimize(..., checkpoint=Checkpoint("run/", every=60))`.

    Attributes:
        folder: its path.
        every: seconds between two states of the run in the folder; 0 for one at every pause of the
            run. A `Surrogate` writes every evaluation as it arrives.
    """

    folder: str | PathLike[str]
    every: float = 10.0

    def __post_init__(self) -> None:
        if not isinstance(self.folder, str | PathLike):
            raise TypeError(
                f"checkpoint must be the path of a folder, or Checkpoint(folder, every), got"
                f" {shown(self.folder)}"
            )
        wanted = "a number of seconds of at least 0"
        every = read_number(self.every, "every", wanted, lambda number: number >= 0)
        object.__setattr__(self, "every", every)


@dataclass(frozen=True)
class Call:
    """The arguments of `minimize`, each in the one form that is used inside.

    Attributes:
        objectives: without their executor.
        executor: that of the objectives.
        began: when, on the clock `time.monotonic`.
        next_part: makes the file of the next flow, where the run is kept in a folder.
    """

    objectives: Any
    x0: PyTree = None
    method: Any = "auto"
    bounds: object = None
    constraints: object = None
    maximize: Chosen = None
    transforms: Transforms = None
    variables: object = None
    tol: float | None = None
    budget: int | None = None
    time_limit: float | None = None
    seed: int = 0
    callback: Callback | None = None
    progress: bool | None = None
    checkpoint: str | PathLike[str] | Checkpoint | None = None
    executor: AnyExecutor = None
    began: float = field(default_factory=lambda: time.monotonic())
    next_part: Callable[[], Part] | None = None

    def __post_init__(self) -> None:
        method, kept = self.method, self.checkpoint
        searches = callable(getattr(method, "search", None)) and not isinstance(method, type)
        known = isinstance(method, AbstractMethod | AbstractFlow) or searches
        if not known and not (isinstance(method, str) and method == "auto"):
            raise (ValueError if isinstance(method, str) else TypeError)(
                'method must be "auto", a single-objective method such as GradientDescent(0.1) or'
                f" Newton(), a flow or a Surrogate(), got {shown(method)}; optimizers of optax,"
                " optimistix and SciPy are wrapped as Optax(...), Optimistix(...), SciPy(...)"
            )
        of = "of an Iteration, which returns True to stop the run"
        objectives, executor = split_executor(self.objectives)
        read = {
            "objectives": objectives,
            # a copy of a call has objectives that were split before
            "executor": self.executor if executor is None else executor,
            "tol": or_none(read_nonnegative, self.tol, "tol"),
            "budget": or_none(read_count, self.budget, "budget"),
            "time_limit": or_none(read_positive, self.time_limit, "time_limit", "in seconds"),
            "seed": read_seed(self.seed),
            "callback": or_none(read_function, self.callback, "callback", of),
            "progress": or_none(read_flag, self.progress, "progress"),
            "checkpoint": kept if isinstance(kept, Checkpoint | None) else Checkpoint(kept),
        }
        # A frozen record is written once, here.
        for name, value in read.items():
            object.__setattr__(self, name, value)

    @property
    def deadline(self) -> float:
        """When the time is up, on the clock `time.monotonic`; infinite where it never is."""
        return float("inf") if self.time_limit is None else self.began + self.time_limit

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self.deadline

    @property
    def form_is_open(self) -> bool:
        """Whether the user leaves it to us what the answer is: one surface of any degree, or an
        atlas."""
        return isinstance(self.method, NormalFlow) and self.method.degree == "auto"

    @property
    def form(self) -> object:
        """The objectives in the form that the user gave them in."""
        return read_objectives(self.objectives)

    @property
    def workers(self) -> Workers | None:
        """Who calls functions that run on the host; None for this process."""
        return None if self.executor is None else Workers(self.executor)

    @property
    def leaves_choice(self) -> bool:
        """Whether a surrogate may be chosen: what a folder holds must not depend on how long a call
        took, a surface to start from is no design, and a function of many points at once would get
        them one by one."""
        parts = self.form, getattr(self.form, "function", None)
        given = self.checkpoint is not None or isinstance(self.x0, Solution | BezierSimplex)
        return not given and not any(getattr(part, "vectorized", False) for part in parts)

    def read_problem(self) -> Problem:
        """The problem that the user gave, read and checked."""
        return read_problem(
            self.form,
            as_start(self.x0),
            bounds=self.bounds,
            constraints=self.constraints,
            maximize=self.maximize,
            transforms=self.transforms,
            x_scale=getattr(self.method, "x_scale", None),
            automatic=isinstance(self.method, str | AbstractAutoFlow),
            calls=Calls(
                getattr(self.method, "budget", None) if self.budget is None else self.budget,
                self.workers,
                TimeLimit(self.deadline),
            ),
        )

    @property
    def paused(self) -> Paused | None:
        """The earlier run on the same objectives that x0 brings along, if any."""
        paused = self.x0.paused if isinstance(self.x0, Solution) else None
        return paused if paused is not None and paused.given == self.form else None

    @property
    def kept(self) -> dict[str, object]:
        """The arguments that the result depends on, as a checkpoint folder keeps them.

        Limits that may be raised when the run goes on stand apart from the method, which is kept
        without them.
        """
        method = NormalFlow() if isinstance(self.method, str) else self.method
        own = {name: None for name in LIMITS if hasattr(method, name)}
        return {
            **{name: getattr(self, name) for name in KEPT},
            # Folders from before there were choices have none.
            **({} if self.variables is None else {"variables": self.variables}),
            "method": replace(method, **own) if own else method,
            **{name: getattr(method, name, None) for name in LIMITS},
        }


def with_limits(kept: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `minimize` from those that a folder keeps: the method with its limits put
    back."""
    arguments, method = dict(kept), kept["method"]
    for name in LIMITS:
        value = arguments.pop(name, None)
        # What a method that was given again says itself is what its user wants.
        if value is not None and getattr(method, name, value) is None:
            method = replace(method, **{name: value})
    return {**arguments, "method": method}


def flow_for(call: Call, problem: Problem) -> AbstractFlow:
    """The flow that the call asks for, with what the problem and the call's limits settle."""
    method = NormalFlow() if isinstance(call.method, str) else call.method
    if isinstance(method, AbstractAutoFlow):
        return _automatic(method, call, problem)
    if isinstance(method, AbstractMethod):
        method = lift(method, max(FLOWS.lifted_degree, problem.start.degree))
    if call.budget is not None:
        raise ValueError(
            f'budget={call.budget} goes with method="auto": iterations of a lifted method cost the'
            " same each, so that lift(..., n_iterations=K) is its budget"
        )
    if call.tol is not None and not isinstance(method, Flow):
        raise ValueError(
            f'tol={call.tol!r} goes with method="auto"; a flow of your own brings its settings'
            " along"
        )
    if not isinstance(method, Flow):
        return method
    if problem.feasible is not None and problem.feasible.has_constraints:
        raise ValueError(
            "constraints do not go with a lifted method, since a projection onto them is not"
            " defined for every method; give bounds alone, or add a penalty for the constraints to"
            " the objectives"
        )
    # Whoever says how many iterations there shall be wants all of them.
    default = SCHEDULE.lifted_tol if method.n_iterations is None else 0.0
    tol = default if call.tol is None else call.tol
    return replace(method, tol=tol, bounds=problem.feasible)


def _automatic(flow: AbstractAutoFlow, call: Call, problem: Problem) -> AbstractAutoFlow:
    """A flow of method="auto" with the call's tolerance and budget, and with how exact gradients
    are.

    A tolerance that nobody gave stays None, unless differences allow less than the default: an
    atlas in place of the flow has a default of its own.
    """

    def settled(name: str) -> Any:
        own, given = getattr(flow, name), getattr(call, name)
        if None not in (own, given) and own != given:
            raise ValueError(f"{name}={given!r} disagrees with the flow's own {own!r}; give one")
        return own if given is None else given

    tol, noise = settled("tol"), problem.gradient_noise
    possible = SCHEDULE.difference_tol * noise ** (2 / 3)
    if tol is None and possible > AUTO_TOL:
        tol = possible
    budget = problem.search_budget(settled("budget"))
    # The units are the problem's from here on.
    flow = replace(flow, tol=tol, budget=budget, noise=noise, x_scale=None)
    given = call.x0.pareto_set if isinstance(call.x0, Solution) else call.x0
    open_type = isinstance(flow, NormalFlow) and flow.dtype is None
    # The user's float32 arrays stay as they are where the tolerance allows it.
    if open_type and flow.settings.tol >= FLOAT32_TOL and is_single(given):
        return replace(flow, dtype="float32")
    return flow
