"""What a person asks for, checked at the door: objectives by name or number, bounds, points and
weights."""

from collections.abc import Mapping, Sequence
from numbers import Real

import numpy as np

from ..answer import Solution
from ..arguments import read_doubles, read_number
from ..objectives import number_of

Bounds = Mapping[str | int, float | tuple[float | None, float | None]]
"""Bounds on objectives by name or number, `{"weight": 3.0, 1: (8.3, None)}`: (lowest, highest) with
None for no bound, or one number that they must not be worse than: at most that, or at least that
where an objective is maximized."""

Numbers = Mapping[str | int, float] | Sequence[float] | np.ndarray
"""A number for each objective: by name or number, or all of them in order."""


def objective_number(solution: Solution, objective: str | int, argument: str) -> int:
    """The number of an objective given by name or number."""
    return number_of(objective, solution.names.objectives, argument, "objective")


def bounds_array(
    solution: Solution, subject_to: Bounds, argument: str = "subject_to"
) -> np.ndarray:
    """The lowest and the highest value of each objective, infinite where nothing was said: (M,
    2)."""
    if not isinstance(subject_to, Mapping):
        raise TypeError(
            f"{argument} must map objectives to what they must not exceed, or to (lowest, highest),"
            f" as in {{'cost': 3.0, 'mass': (None, 2.0)}}, got {subject_to!r}"
        )
    bounds = np.tile([-np.inf, np.inf], (solution.n_objectives, 1))
    for objective, pair in subject_to.items():
        m, name = (
            objective_number(solution, objective, argument),
            f"{argument}[{objective!r}]",
        )
        if isinstance(pair, Real) and not isinstance(pair, bool | np.bool_):
            pair = (None, pair) if solution.names.signs[m] > 0 else (pair, None)
        if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
            raise ValueError(
                f"{name} must be a number, or (lowest, highest) with None for no bound, got"
                f" {pair!r}"
            )
        wanted = "a pair of numbers, None for no bound"
        for side, limit in enumerate(pair):
            if limit is not None:
                bounds[m, side] = read_number(limit, name, wanted, lambda value: value == value)
        if not bounds[m, 0] <= bounds[m, 1]:
            raise ValueError(f"{name} must have its lowest value first, got {pair!r}")
    return bounds


def turned_bounds(bounds: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Bounds on f as bounds on f times signs, or back: where the sign is −1 the lowest value
    becomes the highest."""
    return np.where(signs[:, None] < 0, -bounds[:, ::-1], bounds)


def numbers(
    solution: Solution, given: Numbers, argument: str, default: float | np.ndarray | None = None
) -> np.ndarray:
    """One number for each objective, from a sequence, or from a mapping by name or number if there
    is a default."""
    if isinstance(given, Mapping):
        if default is None and len(given) != solution.n_objectives:
            raise ValueError(
                f"{argument} must name all {solution.n_objectives} objectives, got {list(given)}"
            )
        values = np.full(solution.n_objectives, np.nan if default is None else default)
        for objective, value in given.items():
            values[objective_number(solution, objective, argument)] = value
    else:
        values = read_doubles(given, argument, f"{solution.n_objectives} numbers, one an objective")
    if values.shape != (solution.n_objectives,) or not np.isfinite(values).all():
        raise ValueError(
            f"{argument} must hold {solution.n_objectives} finite numbers, one an objective, got"
            f" {given!r}"
        )
    return values


def nonnegative(
    solution: Solution, given: Numbers, argument: str, default: float | None = None
) -> np.ndarray:
    """Weights: none below 0, not all 0."""
    values = numbers(solution, given, argument, default)
    if (values < 0).any() or not (values > 0).any():
        raise ValueError(
            f"{argument} must hold numbers of at least 0, not all of them 0, got {given!r}"
        )
    return values


def in_words(values: np.ndarray) -> str:
    """A few numbers as a person writes them: (1, 0.5, 2.25)."""
    return "(" + ", ".join(f"{value:.6g}" for value in values) + ")"


def bounds_in_words(names: Sequence[str], bounds: np.ndarray) -> str:
    """What bounds ask for: " with cost at most 3, noise at least 1", or nothing."""
    sides = [
        (name, word, limits[k])
        for name, limits in zip(names, bounds, strict=True)
        for k, word in enumerate(("least", "most"))
    ]
    parts = [f"{name} at {word} {limit:.6g}" for name, word, limit in sides if np.isfinite(limit)]
    return " with " + ", ".join(parts) if parts else ""
