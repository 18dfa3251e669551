"""Between the designs that people see and the unit cube that processes live on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from ..arguments import read_number, shown
from ..names import Names, decode, encode
from ..objectives import Chosen, Transforms, number_of, read_bounds, read_names

Worst = Mapping[str | int, float] | Sequence[float | None] | np.ndarray | None
"""The worst values that are of use: by name or number of the objective, or one for each, None where
any value is."""


@dataclass(frozen=True)
class Domain:
    """A box of designs, as flat vectors, with names and directions of what is measured on it.

    Attributes:
        lower: bounds of the designs.
        upper: likewise.
        names: complete, with directions and transforms.
    """

    lower: Float[np.ndarray, " n_variables"]
    upper: Float[np.ndarray, " n_variables"]
    names: Names

    def __post_init__(self) -> None:
        for i, (low, high, kind) in enumerate(
            zip(self.lower, self.upper, self.names.transforms, strict=True)
        ):
            name = self.names.variables[i]
            if not np.isfinite(high - low):
                raise ValueError(
                    f"bounds must be finite for a surrogate, got ({low:g}, {high:g}) for {name}"
                )
            if kind and not low > 0:
                raise ValueError(
                    f"bounds must be positive for {name}, whose logarithm is taken, got a lower"
                    f" bound of {low:g}"
                )

    @property
    def n_objectives(self) -> int:
        """M."""
        return len(self.names.objectives)

    @property
    def n_variables(self) -> int:
        """L."""
        return len(self.lower)

    @property
    def free(self) -> Int[np.ndarray, " n_free"]:
        """The numbers of the variables that the bounds do not fix."""
        return np.flatnonzero(self.lower < self.upper)

    @property
    def sides(self) -> tuple[Float[np.ndarray, " n_free"], Float[np.ndarray, " n_free"]]:
        """The bounds of free variables, logarithms where they are taken."""
        kinds = self.names.transforms
        return encode(self.lower, kinds)[self.free], encode(self.upper, kinds)[self.free]

    def to_cube(self, x: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n n_free"]:
        """Designs as points of the unit cube."""
        low, high = self.sides
        return (encode(x, self.names.transforms)[:, self.free] - low) / (high - low)

    def from_cube(self, u: Float[np.ndarray, "n n_free"]) -> Float[np.ndarray, "n n_variables"]:
        """Points of the unit cube as designs, within their bounds exactly."""
        low, high = self.sides
        z = np.tile(encode(self.lower, self.names.transforms), (len(u), 1))
        z[:, self.free] = low + u * (high - low)
        return np.clip(np.asarray(decode(z, self.names.transforms)), self.lower, self.upper)


class _Named:
    """What `read_names` reads names from."""

    def __init__(self, names: Names):
        self.names = names


def read_domain(
    bounds: object, n_objectives: int, names: object, maximize: Chosen, transforms: Transforms
) -> Domain:
    """The domain of a search from what its user gave, or an error in one line."""
    if (
        isinstance(n_objectives, bool)
        or not isinstance(n_objectives, int | np.integer)
        or n_objectives < 2
    ):
        raise ValueError(f"n_objectives must be a whole number of at least 2, got {n_objectives!r}")
    if names is not None and not isinstance(names, Names | Mapping):
        raise TypeError(
            f"names must be a bezierflow.problems.Names or a dict of lists of texts, got {names!r}"
        )
    given = names if isinstance(names, Names) else Names.from_dict(names or {})
    box = read_bounds(bounds, variables=given.variables)
    n_variables = box.raveling.n_variables
    named = read_names(_Named(given), maximize, transforms, int(n_objectives), n_variables)
    return Domain(box.lower, box.upper, named)


def read_worst(worst: Worst) -> dict[str | int, float]:
    """The worst values of use by objective, as they were given, or an error in one line."""
    wanted = "a dict such as {'cost': 100.0}, or a value for each objective with None for any"
    if hasattr(worst, "__array__"):
        worst = np.asarray(worst).tolist()
    if worst is not None and (
        isinstance(worst, str | bytes) or not isinstance(worst, Mapping | Sequence)
    ):
        raise TypeError(f"worst must be {wanted}, got {shown(worst)}")
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
