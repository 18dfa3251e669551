"""The door of `minimize` to methods that decide by themselves where objectives are evaluated, and
how often."""

from os import PathLike
from typing import Any, NamedTuple, Protocol, runtime_checkable

from jaxtyping import PyTree

from ..answer import Solution
from ..flows import Callback
from ..objectives import Chosen, Transforms, read_objectives
from ..runs import AnyExecutor


class Task(NamedTuple):
    """What `minimize` was given, as it is; see there."""

    objectives: object
    x0: PyTree
    bounds: object
    maximize: Chosen
    transforms: Transforms
    tol: float | None
    budget: int | None
    seed: int
    callback: Callback | None
    progress: bool
    executor: AnyExecutor = None
    checkpoint: str | PathLike[str] | None = None
    arguments: dict[str, Any] | None = None
    """All arguments of `minimize` that the result depends on, to be kept in the folder."""


@runtime_checkable
class SearchMethod(Protocol):
    """A method for objectives that nobody can afford to look at before it does."""

    def search(self, task: Task) -> Solution:
        """The solution, with no more evaluations than the budget."""
        ...


def refuse_for_search(**settings: object) -> None:
    """Raises for settings that such a method has no use for."""
    for name, value in settings.items():
        if value is not None and value != "auto":
            raise ValueError(
                f"{name}={value!r} does not go with a surrogate, which takes values within bounds;"
                " leave it out"
            )


UNUSED = (
    "constraints",
    "jac",
    "hess",
    "x_scale",
    "n_iterations",
    "degree",
    "max_degree",
    "parametrization",
)
"""Arguments that such a method has no use for."""


def search_task(
    arguments: dict[str, Any],
    callback: Callback | None,
    progress: bool,
    executor: AnyExecutor,
    checkpoint: str | PathLike[str] | None,
) -> Task:
    """The task of a search from the arguments of `minimize`, or an error for one that it has no use
    for."""
    refuse_for_search(**{name: arguments[name] for name in UNUSED})
    own = {
        name: arguments[name]
        for name in ("x0", "bounds", "maximize", "transforms", "tol", "budget", "seed")
    }
    objectives = read_objectives(arguments["objectives"], vectorized=arguments["vectorized"])
    more = {
        "callback": callback,
        "progress": progress,
        "executor": executor,
        "checkpoint": checkpoint,
    }
    return Task(objectives=objectives, **own, **more, arguments=arguments)
