"""Variables that are not continuous: whole numbers, steps and choices; and functions of all
variables as functions of those that are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, PyTree

from ..arguments import CONTROL, read_number, read_positive, shown
from ..bezier import Raveling
from ..kinds import kind
from ..names import Names, numbered
from .functions import values_of
from .limits import Bounds, Limit, raveling_of_bounds, read_bounds, read_constraints
from .problem import number_of

MOST_VALUES = 100_000
"""Of one variable."""


@kind("objectives.integer/1")
@dataclass(frozen=True)
class Integer:
    """A variable that is a whole number, for `minimize(..., variables={"n_bolts": bf.Integer(4,
    20)})`.

    Attributes:
        low: the least one; None for the lower bound in `bounds`.
        high: the largest one, likewise.
    """

    low: float | None = None
    high: float | None = None


@kind("objectives.steps/1")
@dataclass(frozen=True)
class Steps:
    """A variable that is a multiple of a step.

    Attributes:
        step: the step.
        low: the least value; None for the lower bound in `bounds`.
        high: the largest one, likewise.
    """

    step: float
    low: float | None = None
    high: float | None = None


@kind("objectives.choice/1")
@dataclass(frozen=True, init=False)
class Choice:
    """A variable that has one of several values: `bf.Choice("steel", "aluminium")`, or numbers such
    as the diameters that are sold.

    Attributes:
        values: texts, or numbers, which have an order.
    """

    values: tuple[float | str, ...]

    def __init__(self, *values: float | str):
        object.__setattr__(self, "values", values)


Kind = Integer | Steps | Choice | tuple[float, float]
"""What a variable is; a pair (low, high) for a continuous one."""


@kind("objectives.space/1")
@dataclass(frozen=True)
class Space:
    """All variables of a problem, some of which have a list of values each.

    Attributes:
        names: of the variables, in the order of the flat vector.
        lower: their least numbers.
        upper: their largest ones.
        values: of each variable the values that it may have, in order; empty for a continuous one.
        whole: which of them are whole numbers.
        named: whether x is a dict by name; else it is the flat vector.
        coded: whether functions take numbers in place of texts.
    """

    names: tuple[str, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    values: tuple[tuple[float | str, ...], ...]
    whole: tuple[bool, ...]
    named: bool
    coded: bool = False

    @property
    def raveling(self) -> Raveling:
        """How x lies in a flat vector, texts as numbers."""
        return Raveling.of(
            dict.fromkeys(self.names, 0.0) if self.named else np.zeros(len(self.names))
        )

    @property
    def continuous(self) -> Int[np.ndarray, " n_continuous"]:
        """The numbers of the continuous variables."""
        return np.array([i for i, own in enumerate(self.values) if not own], dtype=int)

    @property
    def discrete(self) -> list[int]:
        """The numbers of the others."""
        return [i for i, own in enumerate(self.values) if own]

    def is_text(self, i: int) -> bool:
        """Whether a variable has texts for values."""
        return bool(self.values[i]) and isinstance(self.values[i][0], str)

    def numbers(self, i: int) -> Float[np.ndarray, " n_values"]:
        """The numbers that a variable may have; texts are 0, 1, …."""
        own = self.values[i]
        return np.arange(float(len(own))) if self.is_text(i) else np.array(own, dtype=float)

    @property
    def n_choices(self) -> int:
        """How many combinations of values there are."""
        return int(np.prod([float(len(own)) for own in self.values if own]))

    def choices(self) -> Iterator[tuple[int, ...]]:
        """All combinations, as the places of values in their lists, one for each variable that is
        not continuous."""
        return product(*(range(len(self.values[i])) for i in self.discrete))

    def at(self, places: Int[np.ndarray, "n n_discrete"]) -> Float[np.ndarray, "n n_variables"]:
        """Flat designs with these values; continuous variables are 0."""
        x = np.zeros((len(places), len(self.names)))
        for k, i in enumerate(self.discrete):
            x[:, i] = self.numbers(i)[places[:, k]]
        return x

    def relaxed(self) -> "Space":
        """The same with numbers between values, too; texts stay as they are."""
        values = tuple(own if self.is_text(i) else () for i, own in enumerate(self.values))
        return replace(self, values=values)

    def design(self, flat: Float[np.ndarray, " n_variables"]) -> PyTree:
        """One design as the user's functions take it, from numbers."""
        entries = [
            self.values[i][int(value)]
            if self.is_text(i)
            else int(value)
            if self.whole[i]
            else value
            for i, value in enumerate(flat.tolist())
        ]
        return self.users(entries)

    def has_texts(self, x: object) -> bool:
        """Whether this is one design by name with texts."""
        return isinstance(x, Mapping) and any(isinstance(value, str) for value in x.values())

    def flat(self, x: PyTree) -> Float[np.ndarray, " n_variables"]:
        """A design as the user has it, as numbers, or an error in one line."""
        if not self.named:
            return np.asarray(x, dtype=float)
        if not isinstance(x, Mapping) or set(x) != set(self.names):
            raise ValueError(f"x0 must have {', '.join(self.names)} by name, got {shown(x)}")
        found = np.zeros(len(self.names))
        for i, name in enumerate(self.names):
            if self.is_text(i):
                if x[name] not in self.values[i]:
                    known = ", ".join(map(repr, self.values[i]))
                    raise ValueError(f"x0[{name!r}] must be one of {known}, got {shown(x[name])}")
                found[i] = self.values[i].index(x[name])
            else:
                found[i] = _finite(x[name], f"x0[{name!r}]")
        return found

    def users(self, entries: list[Any]) -> PyTree:
        """One number or text per variable as the x that the user's functions take."""
        if self.named:
            return dict(zip(self.names, entries, strict=True))
        traced = any(isinstance(entry, jax.Array) for entry in entries)
        return jnp.stack([jnp.asarray(one) for one in entries]) if traced else np.stack(entries)


class Placed(eqx.Module):
    """A function of the continuous variables alone, the others at values of their own.

    Attributes:
        function: of x as the user has it; or a tuple of functions.
        x: all variables; continuous ones are not looked at.
        space: of all variables.
        texts: the texts of variables that have them, by variable.
        names: of the objectives and of the continuous variables, where it is the objectives.
    """

    # Numbers are arrays, so that programs are compiled once for all of them.
    function: Any
    x: Float[np.ndarray, " n_variables"]
    space: Space = eqx.field(static=True)
    texts: tuple[tuple[int, str], ...] = eqx.field(static=True, default=())
    names: Names | None = eqx.field(static=True, default=None)

    @classmethod
    def at(
        cls,
        function: Any,
        x: Float[np.ndarray, " n_variables"],
        space: Space,
        names: Names | None = None,
    ) -> "Placed":
        """With the discrete variables as they are in x."""
        texts = tuple(
            (i, str(space.values[i][int(x[i])]))
            for i in space.discrete
            if space.is_text(i) and not space.coded
        )
        function = tuple(function) if isinstance(function, list) else function
        return cls(function, np.asarray(x, dtype=float), space, texts, names)

    def __call__(self, z: Any) -> Any:
        """The values of the user's function."""
        own, texts, entries = iter(range(len(z))), dict(self.texts), []
        for i, values in enumerate(self.space.values):
            if not values:
                entries.append(z[next(own)])
            elif i in texts:
                entries.append(texts[i])
            else:
                number = self.x[i]
                known = not isinstance(number, jax.Array)
                entries.append(int(number) if known and self.space.whole[i] else number)
        return values_of(self.function, self.space.users(entries))


class Whole(eqx.Module):
    """A function of all variables as numbers, in the form of x.

    Attributes:
        function: of x as the user has it, texts among it; or a tuple of functions.
        space: of the variables.
    """

    function: Any
    space: Space = eqx.field(static=True)

    def __call__(self, x: Any) -> Any:
        """The values of the user's function."""
        space = self.space
        entries = [x[name] for name in space.names] if space.named else list(x)
        rows = [] if space.coded else [i for i in space.discrete if space.is_text(i)]
        if any(isinstance(entries[i], jax.Array) for i in rows):
            return self._switched(entries, rows)
        return self._at({i: round(float(entries[i])) for i in rows}, entries)

    def _switched(self, entries: list[Any], rows: list[int]) -> Any:
        """The values where texts are numbers of a trace, which cannot hold a text: one branch for
        each combination of texts."""
        sizes, number = [len(self.space.values[i]) for i in rows], jnp.zeros((), dtype=int)
        for i, size in zip(rows, sizes, strict=True):
            place = jnp.clip(jnp.round(jnp.asarray(entries[i])), 0, size - 1).astype(int)
            number = number * size + place

        def branch(places: tuple[int, ...], entries: list[Any]) -> jax.Array:
            found = self._at(dict(zip(rows, places, strict=True)), entries)
            return jnp.stack([jnp.asarray(one) for one in found])

        branches = [partial(branch, places) for places in product(*map(range, sizes))]
        return jax.lax.switch(number, branches, [jnp.asarray(entry) for entry in entries])

    def _at(self, texts: dict[int, int], entries: list[Any]) -> Any:
        """The values where some variables have the texts at these places of their lists."""
        chosen = [
            self.space.values[i][texts[i]] if i in texts else entry
            for i, entry in enumerate(entries)
        ]
        return values_of(self.function, self.space.users(chosen))


def placed_constraints(
    constraints: Any, x: Float[np.ndarray, " n_variables"], space: Space
) -> list[Limit]:
    """Constraints on all variables as constraints on the continuous ones, the others as in x."""
    found, free = [], space.continuous
    for one in read_constraints(constraints):
        A = one.matrix
        if A is None:
            found.append(replace(one, function=Placed.at(one.function, x, space), jac=None))
            continue
        if A.shape[1] != len(x):
            raise ValueError(
                f"constraints: a matrix must have {len(x)} columns, got shape {A.shape}"
            )
        held = np.delete(A, free, axis=1) @ np.delete(x, free)
        lower, upper = one.lower - held, one.upper - held
        found.append(replace(one, matrix=A[:, free], lower=lower, upper=upper))
    return found


def whole_constraints(constraints: Any, space: Space) -> list[Limit]:
    """Constraints as the user has them as constraints on all variables as numbers."""
    return [
        replace(one, function=one.function and Whole(one.function, space), jac=None)
        for one in read_constraints(constraints)
    ]


def read_space(variables: object, bounds: object, x0: PyTree, names: tuple[str, ...]) -> Space:
    """All variables, or an error in one line.

    Args:
        variables: what they are, by name or number.
        bounds: of a flat vector x; None where `variables` has every variable, by name.
        x0: a design, where bounds do not tell the number of variables.
        names: of a flat vector's variables; empty for x1, x2, ….
    """
    if isinstance(variables, Space):
        return variables
    if not isinstance(variables, Mapping) or not variables:
        raise TypeError(
            "variables must be a dict such as {'n_bolts': bf.Integer(4, 20), 'material':"
            f" bf.Choice('steel', 'aluminium'), 'width': (0.1, 2.0)}}, got {shown(variables)}"
        )
    if bounds is None and not (isinstance(x0, np.ndarray | jax.Array | list | tuple)):
        return _by_name(variables)
    raveling = raveling_of_bounds(bounds) or Raveling.of(np.asarray(x0, dtype=float))
    if not raveling.is_vector:
        raise ValueError(
            "variables with bounds are for x as a vector: leave bounds out, and give every variable"
            " by name in variables, a continuous one as a pair (low, high)"
        )
    return _as_vector(variables, read_bounds(bounds, raveling, names), names)


def _as_vector(variables: Mapping[Any, Any], box: Bounds, names: tuple[str, ...]) -> Space:
    labels = names or numbered("x", len(box.lower))
    kinds: list[Kind] = list(zip(box.lower.tolist(), box.upper.tolist(), strict=True))
    for key, one in variables.items():
        i = number_of(key, labels, "variables", "variable")
        kinds[i] = one
        if isinstance(one, Integer | Steps):  # with the bounds of the box where it has none
            low = box.lower[i] if one.low is None else one.low
            kinds[i] = replace(one, low=low, high=box.upper[i] if one.high is None else one.high)
        if isinstance(one, Choice) and any(isinstance(value, str) for value in one.values):
            raise ValueError(
                f"variables[{shown(key)}] has texts, which no vector x can hold: leave bounds out,"
                " and give every variable by name in variables"
            )
    return _space(labels, kinds, named=False)


def _by_name(variables: Mapping[Any, Any]) -> Space:
    for key in variables:
        if not isinstance(key, str) or not key or CONTROL.search(key):
            raise TypeError(
                f"variables must have names for keys where no bounds are given, got {shown(key)}"
            )
    names = tuple(sorted(variables))  # as JAX has the entries of a dict
    return _space(names, [variables[name] for name in names], named=True)


def _space(names: tuple[str, ...], kinds: list[Any], named: bool) -> Space:
    lists = [_values(one, f"variables[{name!r}]") for name, one in zip(names, kinds, strict=True)]
    if not any(lists):
        raise ValueError(
            "variables has continuous ones alone: give them as bounds, and leave variables out"
        )
    sides = []
    for name, one, own in zip(names, kinds, lists, strict=True):
        if not own:
            low, high = one
            if not low <= high:
                raise ValueError(f"variables[{name!r}] must have low <= high, got {shown(one)}")
            sides.append((float(low), float(high)))
        else:
            text = isinstance(own[0], str)
            sides.append((0.0, len(own) - 1.0) if text else (float(own[0]), float(own[-1])))
    lower, upper = zip(*sides, strict=True)
    whole = tuple(isinstance(one, Integer) for one in kinds)
    return Space(names, lower, upper, tuple(lists), whole, named)


def _values(one: Any, name: str) -> tuple[float | str, ...]:
    """The values of a variable; empty for a continuous one."""
    if isinstance(one, Choice):
        return _chosen(one, name)
    if isinstance(one, Integer | Steps):
        return _multiples(one, name)
    pair = isinstance(one, tuple | list) and len(one) == 2
    if pair and all(isinstance(side, int | float | np.number) for side in one):
        return ()
    raise TypeError(
        f"{name} must be bf.Integer(low, high), bf.Steps(step, low, high), bf.Choice(...) or a pair"
        f" (low, high), got {shown(one)}"
    )


def _multiples(one: Integer | Steps, name: str) -> tuple[float, ...]:
    """The multiples of a step between two numbers."""
    size = 1.0 if isinstance(one, Integer) else read_positive(one.step, f"{name}: step")
    low, high = (
        np.inf if side is None else _finite(side, f"{name}: {word}")
        for word, side in (("low", one.low), ("high", one.high))
    )
    if not np.isfinite([low, high]).all():
        raise ValueError(f"{name} must have finite bounds: give low and high, got {shown(one)}")
    first, last = np.ceil(low / size - 1e-9), np.floor(high / size + 1e-9)
    if not first <= last:
        raise ValueError(f"{name} has no value between its bounds, got {shown(one)}")
    if last - first >= MOST_VALUES:
        raise ValueError(
            f"{name} has {last - first + 1:.0f} values, more than {MOST_VALUES}: give it as a"
            " continuous variable"
        )
    # 0.3, as a person types it, and not 3 · 0.1 = 0.30000000000000004
    return tuple(float(f"{k * size:.12g}") + 0.0 for k in np.arange(first, last + 1))


def _finite(value: object, name: str) -> float:
    return read_number(value, name, "a number", lambda number: not np.isnan(number))


def _chosen(one: Choice, name: str) -> tuple[float | str, ...]:
    values = one.values
    if len(values) == 1 and isinstance(values[0], list | tuple):
        raise TypeError(
            f"{name}: give the values one by one, bf.Choice('a', 'b'), got {shown(one)}"
        )
    texts = all(isinstance(value, str) and value and not CONTROL.search(value) for value in values)
    if not values or len(set(values)) < len(values):
        raise ValueError(f"{name} must have distinct values, got {shown(values)}")
    if texts:
        return values
    if any(isinstance(value, str | bool) for value in values):
        raise TypeError(f"{name} must have texts or numbers, not both, got {shown(values)}")
    return tuple(sorted(read_number(v, name, "a finite number", np.isfinite) for v in values))
