"""Between what people see and what a solver sees: maximized objectives change their sign, variables
may be logarithms.

A solver minimizes g(z) = s · f(x(z)), with s = −1 for each maximized objective and x(z) as
`Names.transforms` says. What people give and get is f and x; `Names` has the signs and transforms,
so that files, plots and pages that carry names have them too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..names import KINDS, Names, decode, encode
from .constraint import Constraint
from .feasible_set import FeasibleSet
from .jax_evaluator import FlatObjectives

Chosen = bool | str | int | Sequence[bool] | Sequence[str | int] | np.ndarray | None
"""Objectives that are maximized: a bool for each, or names or numbers of them; one bool for all."""

Transforms = Mapping[str | int, str] | None
"""Variables by name or number, each with "log10" or "log"."""


class SolverObjectives(eqx.Module):
    """z ↦ s · f(x(z)) for objectives f of a flat vector."""

    objectives: Callable[[Array], Array]
    signs: Float[np.ndarray, " n_objectives"]
    transforms: tuple[str, ...] = eqx.field(static=True)

    def whole(
        self, points: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_variables"] | None:
        """Where f is evaluated for these z; None where that is not known to the last bit."""
        return None if any(self.transforms) else points

    def __call__(self, z: Float[Array, " n_variables"]) -> Float[Array, " n_objectives"]:
        """All of these are minimized."""
        return jnp.asarray(self.signs) * self.objectives(jnp.asarray(decode(z, self.transforms)))


class OfSeen(eqx.Module):
    """A constraint's function of x as one of z."""

    function: Callable[[Array], Array]
    transforms: tuple[str, ...] = eqx.field(static=True)

    def __call__(self, z: Float[Array, " n_variables"]) -> Float[Array, " n_rows"]:
        """c(x(z))."""
        return self.function(jnp.asarray(decode(z, self.transforms)))


def is_plain(names: Names) -> bool:
    """Whether a solver sees what people see."""
    return not any(names.transforms) and bool((names.signs > 0).all())


def on_solver_side(objectives: FlatObjectives, names: Names) -> FlatObjectives:
    """Objectives of a flat vector as a solver minimizes them."""
    return (
        objectives
        if is_plain(names)
        else SolverObjectives(objectives, names.signs, names.transforms)
    )


def box_on_solver_side(feasible: FeasibleSet | None, names: Names) -> FeasibleSet | None:
    """Bounds and constraints on x as those on z. A lower bound of 0 is none for a logarithm."""
    if feasible is None or not any(names.transforms):
        return feasible
    kinds = names.transforms
    wrong = np.array([bool(kind) for kind in kinds]) & (feasible.upper <= 0)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            f"bounds must allow positive values of {names.variables[i]}, whose logarithm is taken"
        )
    lower = encode(
        np.where([bool(kind) for kind in kinds], np.maximum(feasible.lower, 0.0), feasible.lower),
        kinds,
    )
    rows = tuple(
        Constraint(OfSeen(c.function, kinds), c.lower, c.upper, c.name)
        for c in feasible.constraints
    )
    return FeasibleSet(lower, encode(feasible.upper, kinds), rows, names.solver_variables)


def encode_point(
    x: Float[np.ndarray, "*batch n_variables"], names: Names, argument: str
) -> Float[np.ndarray, "*batch n_variables"]:
    """The point that a solver sees, or an error in one line where there is no logarithm."""
    z = encode(x, names.transforms)
    if not np.isfinite(z).all():
        i = int(np.argwhere(~np.isfinite(z))[0][-1])
        raise ValueError(
            f"{argument} must have a positive {names.variables[i]}, whose logarithm is taken, got"
            f" {x[..., i]}"
        )
    return z


def point_in_words(z: Float[np.ndarray, " n_variables"], names: Names) -> str:
    """A point of the solver as people see it."""
    return np.array2string(
        np.asarray(decode(np.asarray(z), names.transforms)), precision=6, separator=", "
    )


def read_transforms(
    objectives: PyTree, transforms: Transforms, n_variables: int
) -> tuple[str, ...]:
    """How the solver sees each variable, as given, else as the problem says."""
    names = _own_names(objectives)
    names.check(None, n_variables)
    transforms = _own(objectives, "transforms") if transforms is None else transforms
    if transforms is None:
        return names.transforms or ("",) * n_variables
    return _transforms(transforms, names.complete(names.n_objectives or 1, n_variables).variables)


def _own_names(objectives: PyTree) -> Names:
    names = getattr(objectives, "names", None)
    return names if isinstance(names, Names) else Names()


def read_names(
    objectives: PyTree,
    maximize: Chosen,
    transforms: Transforms,
    n_objectives: int,
    n_variables: int,
) -> Names:
    """The names of a problem, complete, with directions and transforms: those given, else the
    problem's own."""
    names = _own_names(objectives).complete(n_objectives, n_variables)
    maximize = _own(objectives, "maximize") if maximize is None else maximize
    transforms = _own(objectives, "transforms") if transforms is None else transforms
    if maximize is not None:
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


def _own(objectives: PyTree, name: str) -> PyTree:
    """What a problem says about itself; a method of that name is something else."""
    found = getattr(objectives, name, None)
    return None if callable(found) else found


def _directions(maximize: Chosen, names: tuple[str, ...]) -> tuple[str, ...]:
    given = _listed(maximize, len(names))
    if given and all(isinstance(flag, bool | np.bool_) for flag in given):
        if len(given) != len(names):
            raise ValueError(
                f"maximize must hold a bool for each of the {len(names)} objectives, got"
                f" {maximize!r}"
            )
        chosen = {m for m, flag in enumerate(given) if flag}
    else:
        chosen = {number_of(one, names, "maximize", "objective") for one in given}
    return tuple("maximize" if m in chosen else "minimize" for m in range(len(names)))


def _listed(maximize: Chosen, n_objectives: int) -> list[bool | str | int]:
    """What was given as a list: of bools, or of names and numbers."""
    if isinstance(maximize, bool | np.bool_):
        return [maximize] * n_objectives
    if isinstance(maximize, str | int | np.integer):
        return [maximize]
    if not isinstance(maximize, Sequence | np.ndarray):
        raise TypeError(
            "maximize must be a bool for each objective, or names or numbers of objectives, got"
            f" {maximize!r}"
        )
    return list(maximize.tolist() if isinstance(maximize, np.ndarray) else maximize)


def _transforms(given: Transforms, names: tuple[str, ...]) -> tuple[str, ...]:
    if not isinstance(given, Mapping):
        raise TypeError(
            "transforms must map variables to 'log10' or 'log', as in {'rate': 'log10'}, got"
            f" {given!r}"
        )
    found = {
        number_of(variable, names, "transforms", "variable"): kind
        for variable, kind in given.items()
    }
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
    if isinstance(one, bool) or not isinstance(one, int | np.integer) or not 0 <= one < len(names):
        raise ValueError(
            f"{argument} must give each {kind} by name, or by its number from 0 to"
            f" {len(names) - 1}, got {one!r}"
        )
    return int(one)
