"""Built-in problems by name, for the command line: 'scaled-med', 'skew-5med', 'quadratic-3-10'."""

import re
from collections.abc import Callable

from ..arguments import shown
from .fonseca import Fonseca
from .problem import AbstractSolvedProblem
from .quadratic import Quadratic, ScaledMED
from .skew import SkewMED, SkewMMD
from .warped import Warped

# The form a person reads, the pattern it stands for, and what it makes of the numbers in the name.
_FAMILIES: tuple[tuple[str, str, Callable[..., AbstractSolvedProblem]], ...] = (
    ("scaled-med", r"scaled-med", ScaledMED),
    ("warped-scaled-med", r"warped-scaled-med", lambda: Warped(ScaledMED())),
    ("skew-<M>med", r"skew-(\d+)med", SkewMED),
    ("skew-<M>mmd", r"skew-(\d+)mmd", SkewMMD),
    ("fonseca-<L>", r"fonseca-(\d+)", Fonseca),
    ("quadratic-<M>-<L>", r"quadratic-(\d+)-(\d+)", Quadratic.random),
)


def available() -> tuple[str, ...]:
    """The names there are; <M> stands for the number of objectives, <L> for that of variables."""
    return tuple(form for form, _, _ in _FAMILIES)


def by_name(name: str) -> AbstractSolvedProblem:
    """The built-in problem of this name, in upper or lower case."""
    if not isinstance(name, str):
        raise TypeError(
            f"name must be that of a built-in problem such as scaled-med, got {shown(name)}"
        )
    for _, pattern, make in _FAMILIES:
        match = re.fullmatch(pattern, name.strip().lower())
        if match:
            return make(*(int(number) for number in match.groups()))
    raise ValueError(
        f"no built-in problem is called {name!r}; there are {', '.join(available())}, "
        "with numbers for <M> (objectives) and <L> (variables), as in skew-3med or quadratic-3-5"
    )
