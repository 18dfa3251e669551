"""The door of every picture."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from ..answer import Solution
from ..arguments import shown

P = ParamSpec("P")
T = TypeVar("T")


def of_solution(
    plot: Callable[Concatenate[Solution, P], T],
) -> Callable[Concatenate[Solution, P], T]:
    """The same picture, with an error in one line for anything that is not a solution."""

    @wraps(plot)
    def checked(solution: Solution, *arguments: P.args, **keywords: P.kwargs) -> T:
        if not isinstance(solution, Solution):
            raise TypeError(
                "solution must be a bezierflow.Solution, from minimize or load, got"
                f" {shown(solution)}"
            )
        return plot(solution, *arguments, **keywords)

    return checked
