"""The box of designs, the steps of its variables and the unit cube that processes live on; the
worst values of use."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from ..arguments import read_count, read_number, read_positive, shown
from ..names import Names, decode, encode
from ..objectives import Chosen, Transforms, number_of, read_bounds, read_names

Worst = Mapping[str | int, float] | Sequence[float | None] | np.ndarray | None
"""The worst values that are of use: by name or number of the objective, or one for each, None where
any value is."""


Steps = Mapping[str | int, float] | None
"""The steps in which variables can be set, by name or number."""


class Domain(NamedTuple):
    """A box of designs, as flat vectors, with names and directions of what is measured on it.

    Attributes:
        lower: bounds of the designs.
        upper: likewise.
        names: complete, with directions and transforms.
        free: the number of the variable of each coordinate of the cube: those that the bounds do
            not fix, and one with texts for values as often as it has these.
        low: the lower bounds of these, logarithms where they are taken: 0 in the cube.
        width: from there to the upper ones: 1 in the cube.
        step: variables are set to multiples of it; 0 for one that can be set to any value.
        values: of each variable the values that it may have, empty for any; texts stand for their
            places. Empty where no variable has a list.
        hot: of each coordinate of the cube the place of the text for which it is 1, 0 for the
            others; −1 for a number.
    """

    lower: Float[np.ndarray, " n_variables"]
    upper: Float[np.ndarray, " n_variables"]
    names: Names
    free: Int[np.ndarray, " n_free"]
    low: Float[np.ndarray, " n_free"]
    width: Float[np.ndarray, " n_free"]
    step: Float[np.ndarray, " n_variables"]
    values: tuple[tuple[float | str, ...], ...] = ()
    hot: tuple[int, ...] = ()

    @property
    def is_discrete(self) -> bool:
        """Whether some variables have steps or lists of values."""
        return bool(self.step.any()) or any(self.values)

    @property
    def moves(self) -> Bool[np.ndarray, " n_free"] | None:
        """Which coordinates of the cube descents may move: numbers, but no texts; None for all."""
        return np.array(self.hot) < 0 if self.hot else None

    @property
    def texts(self) -> dict[int, Int[np.ndarray, " n_values"]]:
        """The coordinates of the cube of each variable with texts for values."""
        on = np.array(self.hot or (-1,) * len(self.free)) >= 0
        return {int(i): np.flatnonzero(on & (self.free == i)) for i in np.unique(self.free[on])}

    def shown(self, x: Float[np.ndarray, " n_variables"]) -> str:
        """A design in a message: by name where numbers stand for texts."""
        if not self.texts:
            return str(x.tolist())
        own = [
            self.values[i][int(value)] if i in self.texts else f"{value:g}"
            for i, value in enumerate(x)
        ]
        return ", ".join(f"{k} {v}" for k, v in zip(self.names.variables, own, strict=True))

    def to_cube(self, x: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n n_free"]:
        """Designs as points of the unit cube."""
        z = encode(x, self.names.transforms)[:, self.free]
        u = (z - self.low) / self.width
        return np.where(np.array(self.hot) < 0, u, z == np.array(self.hot)) if self.hot else u

    def from_cube(self, u: Float[np.ndarray, "n n_free"]) -> Float[np.ndarray, "n n_variables"]:
        """Points of the unit cube as designs, within their bounds exactly."""
        z = np.tile(encode(self.lower, self.names.transforms), (len(u), 1))
        z[:, self.free] = self.low + u * self.width
        for i, columns in self.texts.items():
            z[:, i] = u[:, columns].argmax(axis=1)
        # 10^log10(x) may differ from x in the last bit
        return np.clip(np.asarray(decode(z, self.names.transforms)), self.lower, self.upper)

    def rounded(self, x: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n n_variables"]:
        """The nearest designs within the bounds that can be set."""
        if self.step.any():
            size = np.where(self.step > 0, self.step, 1.0)
            first, last = _multiples(self.lower, self.upper, size)
            multiples = np.clip(np.round(x / size), first, last) * size
            # 0.3, as a person types it, and not 3 · 0.1 = 0.30000000000000004
            short = np.reshape([float(f"{one:.12g}") for one in multiples.ravel()], x.shape)
            x = np.where(self.step > 0, np.clip(short, self.lower, self.upper), x)
        for i, own in enumerate(self.values):
            if own and not isinstance(own[0], str):
                numbers = np.array(own, dtype=float)
                x = x.copy()
                x[:, i] = numbers[np.abs(x[:, i, None] - numbers).argmin(axis=1)]
        return x

    def on_choices(self, u: Float[np.ndarray, "n n_free"]) -> Float[np.ndarray, "n n_free"]:
        """Points of the unit cube with one text for each variable that has them."""
        u = u.copy() if self.texts else u
        for columns in self.texts.values():
            u[:, columns] = np.eye(len(columns))[u[:, columns].argmax(axis=1)]
        return u

    def on_steps(self, u: Float[np.ndarray, "n n_free"]) -> Float[np.ndarray, "n n_free"]:
        """The nearest points of the unit cube that can be set."""
        return self.to_cube(self.rounded(self.from_cube(u))) if self.is_discrete else u


ANYWHERE = Domain(*np.zeros((2, 0)), Names(), np.zeros(0, dtype=int), *np.zeros((3, 0)))
"""Of which only the cube counts, all of whose points can be set."""


def _multiples(
    lower: np.ndarray, upper: np.ndarray, size: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last multiple of steps within bounds, up to rounding."""
    return np.ceil(lower / size - 1e-9), np.floor(upper / size + 1e-9)


def read_domain(
    bounds: object,
    n_objectives: int,
    names: object,
    maximize: Chosen,
    transforms: Transforms,
    steps: Steps = None,
    values: Sequence[Sequence[float | str]] | None = None,
) -> Domain:
    """The domain of a search from what its user gave, or an error in one line."""
    n_objectives = read_count(n_objectives, "n_objectives", 2)
    problem = SimpleNamespace(names=Names.read(names))
    box = read_bounds(bounds, variables=problem.names.variables)
    lower, upper = box.lower, box.upper
    named = read_names(problem, maximize, transforms, n_objectives, len(lower))
    _check_sides(lower, upper, named)
    lists = tuple(tuple(own) for own in values or ())
    columns: list[tuple[int, int]] = []
    # A variable that its bounds fix has no place in the cube: its length scale would mean nothing.
    for i in np.flatnonzero(lower < upper).tolist():
        own = lists[i] if lists else ()
        # A coordinate for each text: no two texts are nearer to each other than others.
        texts = range(len(own)) if own and isinstance(own[0], str) else (-1,)
        columns += [(i, k) for k in texts]
    free, hot = np.array(columns, dtype=int).reshape(-1, 2).T
    low, high = (encode(side, named.transforms)[free] for side in (lower, upper))
    width = np.where(hot < 0, high - low, 1.0)
    step = _read_steps(steps, named, lower, upper)
    kinds = tuple(hot.tolist()) if (hot >= 0).any() else ()
    return Domain(lower, upper, named, free, low, width, step, lists, kinds)


def _check_sides(lower: np.ndarray, upper: np.ndarray, named: Names) -> None:
    for i, (low, high) in enumerate(zip(lower, upper, strict=True)):
        if not np.isfinite(high - low):
            raise ValueError(
                f"bounds must be finite for a surrogate, got ({low:g}, {high:g}) for"
                f" {named.variables[i]}"
            )
        if named.transforms[i] and not low > 0:
            raise ValueError(
                f"bounds must be positive for {named.variables[i]}, whose logarithm is taken, got a"
                f" lower bound of {low:g}"
            )


def _read_steps(
    steps: Steps, names: Names, lower: np.ndarray, upper: np.ndarray
) -> Float[np.ndarray, " n_variables"]:
    """The step of each variable, 0 for one without, or an error in one line."""
    if steps is not None and not isinstance(steps, Mapping):
        raise TypeError(f"steps must be a dict such as {{'temperature': 5.0}}, got {shown(steps)}")
    found = np.zeros(len(lower))
    for key, value in (steps or {}).items():
        i = number_of(key, names.variables, "steps", "variable")
        found[i] = read_positive(value, f"steps[{shown(key)}]", "leave out what has no steps")
        first, last = _multiples(lower, upper, np.where(found > 0, found, 1.0))
        if lower[i] < upper[i] and not first[i] < last[i]:
            raise ValueError(
                f"steps[{shown(key)}] must have two multiples at least within the bounds"
                f" ({lower[i]:g}, {upper[i]:g}), got {found[i]:g}"
            )
    return np.where(lower < upper, found, 0.0)


def read_worst(worst: Worst) -> dict[str | int, float]:
    """The worst values of use by objective, as they were given, or an error in one line."""
    if hasattr(worst, "__array__"):  # also JAX's arrays and columns of data frames
        worst = np.asarray(worst).tolist()
    if worst is not None and (
        isinstance(worst, str | bytes) or not isinstance(worst, Mapping | Sequence)
    ):
        raise TypeError(
            "worst must be a dict such as {'cost': 100.0}, or a value for each objective with None"
            f" for any, got {shown(worst)}"
        )
    given = worst if isinstance(worst, Mapping) else dict(enumerate(worst or ()))
    advice = "leave an objective out where any value is of use"
    return {
        key: read_number(value, f"worst[{shown(key)}]", "a finite number", np.isfinite, advice)
        for key, value in given.items()
        if value is not None
    }


def worst_values(worst: Worst, names: Names) -> Float[np.ndarray, " n_objectives"]:
    """The worst values of use as they are minimized, infinite where any value is of use, or an
    error in one line."""
    M, given = len(names.objectives), read_worst(worst)
    if worst is not None and not isinstance(worst, Mapping) and len(worst) != M:
        raise ValueError(
            f"worst must have a value for each of {M} objectives, None for any, got {shown(worst)}"
        )
    found = np.full(M, np.inf)
    for key, value in given.items():
        m = number_of(key, names.objectives, "worst", "objective")
        if np.isfinite(found[m]):
            raise ValueError(f"worst has two values for {names.objectives[m]!r}: {shown(worst)}")
        found[m] = names.signs[m] * value
    return found
