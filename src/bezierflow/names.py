"""Names, units, directions and scales of objectives and variables: they go with a problem into its
solution, file and plots. A solver may see a variable by its logarithm: `encode` and `decode`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .arguments import CONTROL, shown
from .kinds import kind

KINDS = ("", "log10", "log")
"""What a solver's variable may be of the one that people see: the same, or its logarithm to base 10
or e."""

DIRECTIONS = ("minimize", "maximize")

PAIRS = (
    *("objectives", "variables", "objective_units", "variable_units"),
    *("directions", "transforms"),
)
"""Kinds of texts with one per objective, and one per variable, in turn."""


@kind("names/1")
@dataclass(frozen=True)
class Names:
    """What the objectives and variables are called, their units (any text will do), and how they
    are read.

    A tuple left empty means "not given": `complete` fills it, with f1, f2, … for objectives, x1,
    x2, … for variables, no unit ("") for either, "minimize" and no transform (""). Names of one
    kind are distinct: tables and queries find things by them.

    Attributes:
        objectives: names of objectives.
        variables: names of variables.
        objective_units: units of objectives.
        variable_units: units of variables.
        directions: "minimize" or "maximize" for each objective. Inside, all of g = `signs` · f are
            minimized.
        transforms: "", "log10" or "log" for each variable: what the solver's own variable is of the
            one that people see.
        constraints: the inequalities that a run had, "stress <= 250 MPa", in its order.
    """

    objectives: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    objective_units: tuple[str, ...] = ()
    variable_units: tuple[str, ...] = ()
    directions: tuple[str, ...] = ()
    transforms: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()

    def __post_init__(self):
        for field in fields(self):
            object.__setattr__(self, field.name, read_texts(getattr(self, field.name), field.name))
        for part in ("objectives", "variables"):
            texts = getattr(self, part)
            if not _is_numbered(texts) and len(set(texts)) < len(texts):
                repeated = Counter(texts).most_common(1)[0][0]
                raise ValueError(
                    f"{part} must have distinct names, got {repeated!r} more than once in"
                    f" {shown(texts)}"
                )
        for k, name in enumerate(PAIRS):
            names, given = (self.objectives, self.variables)[k % 2], getattr(self, name)
            if names and given and len(names) != len(given):
                raise ValueError(
                    f"{name} must hold one text for each of {shown(', '.join(names))}, got"
                    f" {len(given)}: {shown(given)}"
                )
        for part, known in (("directions", DIRECTIONS), ("transforms", KINDS)):
            for text in sorted(set(getattr(self, part)) - set(known)):
                raise ValueError(
                    f"{part} must each be one of {', '.join(map(repr, known))}, got {text!r}"
                )

    @classmethod
    def default(cls, n_objectives: int, n_variables: int) -> "Names":
        """The names f1, f2, … and x1, x2, … without units."""
        return cls().complete(n_objectives, n_variables)

    def complete(self, n_objectives: int, n_variables: int) -> "Names":
        """The same names with defaults where none were given; a ValueError if numbers do not
        fit."""
        self.check(n_objectives, n_variables)
        return Names(
            self.objectives or numbered("f", n_objectives),
            self.variables or numbered("x", n_variables),
            self.objective_units or ("",) * n_objectives,
            self.variable_units or ("",) * n_variables,
            self.directions or ("minimize",) * n_objectives,
            self.transforms or ("",) * n_variables,
            self.constraints,
        )

    def check(self, n_objectives: int | None, n_variables: int | None) -> None:
        """Raises where names do not fit this many objectives and variables (None: not known)."""
        for k, name in enumerate(PAIRS):
            texts, size = getattr(self, name), (n_objectives, n_variables)[k % 2]
            kind = ("objectives", "variables")[k % 2]
            if texts and size is not None and len(texts) != size:
                raise ValueError(
                    f"{name} must hold {size} texts for {size} {kind}, got {len(texts)}:"
                    f" {shown(texts)}"
                )

    def replaced(
        self,
        objectives: Sequence[str] | None = None,
        variables: Sequence[str] | None = None,
        objective_units: Sequence[str] | None = None,
        variable_units: Sequence[str] | None = None,
        directions: Sequence[str] | None = None,
        transforms: Sequence[str] | None = None,
    ) -> "Names":
        """The same names with those given here in place of the old ones."""
        given = (objectives, variables, objective_units, variable_units, directions, transforms)
        named = zip(PAIRS, given, strict=True)
        return replace(self, **{k: read_texts(texts, k) for k, texts in named if texts is not None})

    @property
    def n_objectives(self) -> int | None:
        """How many objectives these names are for; None if none is named."""
        return len(self.objectives or self.objective_units or self.directions) or None

    @property
    def n_variables(self) -> int | None:
        """How many variables these names are for; None if none is named."""
        return len(self.variables or self.variable_units or self.transforms) or None

    @property
    def signs(self) -> Float[np.ndarray, " n_objectives"]:
        """−1 for each objective that is maximized, else 1: f times the signs is what is minimized,
        and the same back again."""
        directions = self.directions or ("minimize",) * len(self.objectives)
        return np.array([-1.0 if direction == "maximize" else 1.0 for direction in directions])

    @property
    def solver_variables(self) -> tuple[str, ...]:
        """Names of the solver's variables: "log10 rate" for one that it sees by its logarithm."""
        kinds = self.transforms or ("",) * len(self.variables)
        return tuple(
            f"{kind} {name}".strip() for kind, name in zip(kinds, self.variables, strict=True)
        )

    def best_word(self, m: int, least: str = "least", largest: str = "largest") -> str:
        """What the best value of an objective is called: the least, or the largest where it is
        maximized."""
        return largest if self.directions and self.directions[m] == "maximize" else least

    @property
    def axis_labels(self) -> tuple[str, ...]:
        """`objective_labels` with a note on those that are maximized."""
        return tuple(
            label + self.best_word(m, "", " (higher is better)")
            for m, label in enumerate(self.objective_labels)
        )

    @property
    def objective_labels(self) -> tuple[str, ...]:
        """Names with units, for tables and axes: "cost [EUR]", or "cost" where there is no unit."""
        return _labels(self.objectives, self.objective_units)

    @property
    def variable_labels(self) -> tuple[str, ...]:
        """Likewise of variables."""
        return _labels(self.variables, self.variable_units)

    def to_dict(self) -> dict[str, list[str]]:
        """Lists of texts by kind, ready for JSON."""
        return {field.name: list(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Sequence[str]]) -> "Names":
        """What `to_dict` gave, back again; a missing list means "not given"."""
        if not isinstance(data, Mapping):
            raise TypeError(
                "names must be given by kind, as in {'objectives': ['cost', 'mass']}, got"
                f" {shown(data)}"
            )
        kinds = [field.name for field in fields(cls)]
        unknown = sorted(set(data) - set(kinds))
        if unknown:
            raise ValueError(f"names must hold {kinds} and nothing else, got {unknown}")
        return cls(**{name: read_texts(texts, name) for name, texts in data.items()})

    @classmethod
    def read(cls, names: object) -> "Names":
        """Names in any form that users give: these, their lists by kind, or None."""
        given: Any = {} if names is None else names
        return given if isinstance(given, Names) else cls.from_dict(given)


@lru_cache(maxsize=8)
def numbered(letter: str, n: int) -> tuple[str, ...]:
    """x1, x2, …, made once: there may be a million of them."""
    return tuple(f"{letter}{i}" for i in range(1, n + 1))


def _is_numbered(texts: Sequence[object]) -> bool:
    """Whether these are names that `numbered` has made, which need no check."""
    first = texts[0] if type(texts) is tuple and texts else None
    return isinstance(first, str) and texts is numbered(first[:1], len(texts))


def read_texts(texts: object, argument: str) -> tuple[str, ...]:
    """A sequence of texts that people can read, or an error in one line."""
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise TypeError(f"{argument} must be a sequence of texts, one for each, got {shown(texts)}")
    # All at once where all is well: there may be a million of them.
    plain = set(map(type, texts)) <= {str}
    if _is_numbered(texts) or (plain and not CONTROL.search("".join(texts))):
        return tuple(texts)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(
                f"{argument} must hold texts alone, got {shown(text)} in {shown(tuple(texts))}"
            )
        if CONTROL.search(text):
            raise ValueError(
                f"{argument} must hold texts without control characters, got {shown(text)}"
            )
    return tuple(texts)


def _labels(names: tuple[str, ...], units: tuple[str, ...]) -> tuple[str, ...]:
    units = units or ("",) * len(names)
    return tuple(
        f"{name} [{unit}]" if unit else name for name, unit in zip(names, units, strict=True)
    )


def decode(
    z: Float[Array | np.ndarray, "*batch n_variables"], transforms: Sequence[str]
) -> Float[Array | np.ndarray, "*batch n_variables"]:
    """The variables that people see, x = 10^z or e^z where z is a logarithm. NumPy in, NumPy out;
    traceable by JAX."""
    if not any(transforms):
        return z
    xp = np if isinstance(z, np.ndarray) else jnp
    bases = np.array([{"": 0.0, "log10": 10.0, "log": np.e}[kind] for kind in transforms])
    # The exponent 0 in place of z where z is no logarithm: its power may overflow, and would spoil
    # derivatives.
    return xp.where(bases > 0, xp.power(np.maximum(bases, 1.0), xp.where(bases > 0, z, 0.0)), z)


def encode(
    x: Float[np.ndarray, "*batch n_variables"], transforms: Sequence[str]
) -> Float[np.ndarray, "*batch n_variables"]:
    """The variables that a solver sees. The logarithm of 0 is −∞; that of a negative number is not
    a number."""
    if not any(transforms):
        return x
    logarithm = {"": lambda column: column, "log10": np.log10, "log": np.log}
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([logarithm[kind](x[..., i]) for i, kind in enumerate(transforms)], axis=-1)
