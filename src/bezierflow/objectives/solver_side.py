"""Between what people see and what a solver sees: maximized objectives change their sign, variables
may be logarithms.

A solver minimizes g(z) = s · f(x(z)), with s = −1 for each maximized objective and x(z) as
`Names.transforms` says. What people give and get is f and x; `Names` has the signs and transforms,
so that files, plots and pages that carry names have them too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..names import KINDS, Names, decode, encode
from .evaluator import FlatObjectives
from .feasible import FeasibleSet

Chosen = bool | str | int | Sequence[bool] | Sequence[str | int] | np.ndarray | None
"""Objectives that are maximized: a bool for each, or names or numbers of them; one bool for all."""

Transforms = Mapping[str | int, str] | None
"""Variables by name or number, each with "log10" or "log"."""


class SolverObjectives(eqx.Module):
    """z ↦ s · f(x(z)) for objectives f, or the rows of a constraint, of a flat vector."""

    objectives: Callable[[Array], Array]
    signs: Float[np.ndarray, " n_objectives"]
    transforms: tuple[str, ...] = eqx.field(static=True)

    def whole(
        self, points: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_variables"] | None:
        """Where f is evaluated for these z; None where that is not known to the last bit."""
        # NumPy and a compiled program may round 10^z differently
        return None if any(self.transforms) else points

    def __call__(self, z: Float[Array, " n_variables"]) -> Float[Array, " n_objectives"]:
        """All of these are minimized."""
        return jnp.asarray(self.signs) * self.objectives(jnp.asarray(decode(z, self.transforms)))


def on_solver_side(objectives: FlatObjectives, names: Names) -> FlatObjectives:
    """Objectives of a flat vector as a solver minimizes them."""
    if is_plain(names):
        return objectives
    return SolverObjectives(objectives, names.signs, names.transforms)


def is_plain(names: Names) -> bool:
    """Whether a solver sees what people see."""
    return not any(names.transforms) and bool((names.signs > 0).all())


def box_on_solver_side(feasible: FeasibleSet, names: Names) -> FeasibleSet:
    """Bounds and constraints on x as those on z. A lower bound of 0 is none for a logarithm."""
    kinds = names.transforms
    if not any(kinds):
        return feasible
    logarithms = np.array([bool(kind) for kind in kinds])
    wrong = logarithms & (feasible.upper <= 0)
    if wrong.any():
        name = names.variables[int(np.argmax(wrong))]
        raise ValueError(f"bounds must allow positive values of {name}, whose logarithm is taken")
    # log 0 = −∞ is no bound; a negative one has no logarithm
    positive = np.where(logarithms, np.maximum(feasible.lower, 0.0), feasible.lower)
    rows = tuple(
        c.of(SolverObjectives(c.function, np.ones(len(c.lower)), kinds))
        for c in feasible.constraints
    )
    sides = encode(positive, kinds), encode(feasible.upper, kinds)
    return FeasibleSet(*sides, rows, names.solver_variables)


def point_in_words(
    z: Float[np.ndarray, " n_variables"], names: Names, units: np.ndarray | float = 1.0
) -> str:
    """A point of the solver, whose variables have units of their own, as people see it."""
    x = np.asarray(decode(np.asarray(z), names.transforms)) * units
    return np.array2string(x, precision=6, separator=", ")


def own(objectives: object, name: str) -> Any:
    """What a problem says about itself; a method of that name is something else."""
    found = getattr(objectives, name, None)
    return None if callable(found) else found


def read_names(
    objectives: object,
    maximize: Chosen,
    transforms: Transforms,
    n_objectives: int | None,
    n_variables: int,
) -> Names:
    """The names of a problem, complete, with directions and transforms: those given, else the
    problem's own.

    Where it is not known yet how many objectives there are, those of variables are complete.
    """
    names = own(objectives, "names")
    names = names if isinstance(names, Names) else Names()
    names = names.complete(n_objectives or names.n_objectives or 1, n_variables)
    maximize = own(objectives, "maximize") if maximize is None else maximize
    transforms = own(objectives, "transforms") if transforms is None else transforms
    # directions come with a number of objectives alone, since they are checked against it
    if maximize is not None and n_objectives is not None:
        names = replace(names, directions=_directions(maximize, names.objectives))
    if transforms is not None:
        names = replace(names, transforms=_transforms(transforms, names.variables))
    if hasattr(objectives, "prox") and not is_plain(names):
        raise ValueError(
            "maximize and transforms do not go with objectives that have a prox, which is that of"
            " the objectives as they are; write the problem as one to be minimized in its own"
            " variables"
        )
    return names


def read_chosen(given: Chosen, names: tuple[str, ...], argument: str) -> tuple[bool, ...]:
    """Which objectives were chosen, by names, numbers, or a bool for each or all of them."""
    if isinstance(given, bool | np.bool_):
        listed = [given] * len(names)
    elif isinstance(given, str | int | np.integer):
        listed = [given]
    elif isinstance(given, Sequence | np.ndarray):
        listed = list(given.tolist() if isinstance(given, np.ndarray) else given)
    elif given is None:
        listed = []
    else:
        raise TypeError(
            f"{argument} must be a bool for each objective, or names or numbers of objectives, got"
            f" {given!r}"
        )
    if listed and all(isinstance(flag, bool | np.bool_) for flag in listed):
        if len(listed) != len(names):
            raise ValueError(
                f"{argument} must hold a bool for each of the {len(names)} objectives, got"
                f" {given!r}"
            )
        return tuple(map(bool, listed))
    chosen = {number_of(one, names, argument, "objective") for one in listed}
    return tuple(m in chosen for m in range(len(names)))


def _directions(maximize: Chosen, names: tuple[str, ...]) -> tuple[str, ...]:
    chosen = read_chosen(maximize, names, "maximize")
    return tuple("maximize" if one else "minimize" for one in chosen)


def _transforms(given: Transforms, names: tuple[str, ...]) -> tuple[str, ...]:
    if not isinstance(given, Mapping):
        raise TypeError(
            "transforms must map variables to 'log10' or 'log', as in {'rate': 'log10'}, got"
            f" {given!r}"
        )
    found = {number_of(key, names, "transforms", "variable"): kind for key, kind in given.items()}
    for kind in found.values():
        if kind not in KINDS:
            raise ValueError(f"transforms must each be 'log10' or 'log', got {kind!r}")
    return tuple(found.get(i, "") for i in range(len(names)))


def number_of(one: object, names: tuple[str, ...], argument: str, kind: str) -> int:
    """The number of an objective or a variable given by name or number."""
    if isinstance(one, str):
        if one not in names:
            raise ValueError(
                f"{argument}: {one!r} is no {kind}; there are {', '.join(map(repr, names))}"
            )
        return names.index(one)
    # True is an int to Python, and would be the number 1
    if isinstance(one, bool) or not isinstance(one, int | np.integer) or not 0 <= one < len(names):
        raise ValueError(
            f"{argument} must give each {kind} by name, or by its number from 0 to"
            f" {len(names) - 1}, got {one!r}"
        )
    return int(one)
