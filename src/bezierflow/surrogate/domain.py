"""The box of designs, the steps of its variables and the unit cube that processes live on; the
worst values of use."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

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
        free: the numbers of the variables that the bounds do not fix.
        low: the lower bounds of these, logarithms where they are taken: 0 in the cube.
        width: from there to the upper ones: 1 in the cube.
        step: variables are set to multiples of it; 0 for one that can be set to any value.
    """

    lower: Float[np.ndarray, " n_variables"]
    upper: Float[np.ndarray, " n_variables"]
    names: Names
    free: Int[np.ndarray, " n_free"]
    low: Float[np.ndarray, " n_free"]
    width: Float[np.ndarray, " n_free"]
    step: Float[np.ndarray, " n_variables"]

    def to_cube(self, x: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n n_free"]:
        """Designs as points of the unit cube."""
        return (encode(x, self.names.transforms)[:, self.free] - self.low) / self.width

    def from_cube(self, u: Float[np.ndarray, "n n_free"]) -> Float[np.ndarray, "n n_variables"]:
        """Points of the unit cube as designs, within their bounds exactly."""
        z = np.tile(encode(self.lower, self.names.transforms), (len(u), 1))
        z[:, self.free] = self.low + u * self.width
        # 10^log10(x) may differ from x in the last bit
        return np.clip(np.asarray(decode(z, self.names.transforms)), self.lower, self.upper)

    def rounded(self, x: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n n_variables"]:
        """The nearest designs within the bounds that can be set."""
        if not self.step.any():
            return x
        size = np.where(self.step > 0, self.step, 1.0)
        first, last = _multiples(self.lower, self.upper, size)
        multiples = np.clip(np.round(x / size), first, last) * size
        # 0.3, as a person types it, and not 3 · 0.1 = 0.30000000000000004
        short = np.reshape([float(f"{one:.12g}") for one in multiples.ravel()], x.shape)
        return np.where(self.step > 0, np.clip(short, self.lower, self.upper), x)

    def on_steps(self, u: Float[np.ndarray, "n n_free"]) -> Float[np.ndarray, "n n_free"]:
        """The nearest points of the unit cube that can be set."""
        return self.to_cube(self.rounded(self.from_cube(u))) if self.step.any() else u


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
) -> Domain:
    """The domain of a search from what its user gave, or an error in one line."""
    n_objectives = read_count(n_objectives, "n_objectives", 2)
    if names is not None and not isinstance(names, Names | Mapping):
        raise TypeError(
            f"names must be a bezierflow.problems.Names or a dict of lists of texts, got {names!r}"
        )
    own = SimpleNamespace(names=names if isinstance(names, Names) else Names.from_dict(names or {}))
    box = read_bounds(bounds, variables=own.names.variables)
    lower, upper = box.lower, box.upper
    named = read_names(own, maximize, transforms, n_objectives, len(lower))
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
    # A variable that its bounds fix has no place in the cube: its length scale would mean nothing.
    free = np.flatnonzero(lower < upper)
    low, high = (encode(side, named.transforms)[free] for side in (lower, upper))
    return Domain(
        lower, upper, named, free, low, high - low, _read_steps(steps, named, lower, upper)
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
