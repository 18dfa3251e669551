"""One constraint, lower <= c(x) <= upper, as rows g(x) <= 0 and h(x) = 0 of a flat vector x."""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..runs import kind


@kind("objectives.linear/1")
class Linear(eqx.Module):
    """x -> A x."""

    A: Float[np.ndarray, "n_rows n_variables"]

    def __call__(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_rows"]:
        """A x."""
        return jnp.asarray(self.A) @ x


class AtLeastOne(eqx.Module):
    """A user's function whose value may be a scalar, as one with rows."""

    function: Callable[[PyTree], PyTree]

    def __call__(self, x: PyTree) -> PyTree:
        """Its value, a scalar as one row."""
        value = self.function(x)
        return [value] if not isinstance(value, list | tuple) and np.ndim(value) == 0 else value


class AtLeastTwo(eqx.Module):
    """The user's Jacobian of such a function: a gradient as one row."""

    function: Callable[[PyTree], PyTree]

    def __call__(self, x: PyTree) -> Float[np.ndarray, "n_rows n_variables"]:
        """Its value as a matrix."""
        return np.atleast_2d(np.asarray(self.function(x), dtype=float))


@kind("objectives.constraint/1")
class Constraint(eqx.Module):
    """lower <= c(x) <= upper, row by row. A row with lower == upper is an equality; an infinite
    side is no constraint.

    Which rows are which is fixed when the constraint is made, so that new numbers compile nothing
    anew.
    """

    function: Callable[[Array], Array]
    lower: Float[np.ndarray, " n_rows"]
    upper: Float[np.ndarray, " n_rows"]
    name: str = eqx.field(static=True)
    above: tuple[int, ...] = eqx.field(static=True)
    """Rows with c(x) <= upper."""
    below: tuple[int, ...] = eqx.field(static=True)
    """Rows with lower <= c(x)."""
    equal: tuple[int, ...] = eqx.field(static=True)
    """Rows with c(x) = lower = upper."""

    def __init__(
        self, function: Callable[[Array], Array], lower: np.ndarray, upper: np.ndarray, name: str
    ):
        self.function, self.lower, self.upper, self.name = function, lower, upper, name
        equal = lower == upper
        self.above = tuple(np.flatnonzero(np.isfinite(upper) & ~equal).tolist())
        self.below = tuple(np.flatnonzero(np.isfinite(lower) & ~equal).tolist())
        self.equal = tuple(np.flatnonzero(equal).tolist())

    def rows(
        self, x: Float[Array, " n_variables"]
    ) -> tuple[Float[Array, " n_inequalities"], Float[Array, " n_equalities"]]:
        """g(x), first the rows with an upper side, then those with a lower one, and h(x)."""
        values = self.function(x)
        above, below, equal = (
            np.array(rows, dtype=int) for rows in (self.above, self.below, self.equal)
        )
        g = jnp.concatenate([values[above] - self.upper[above], self.lower[below] - values[below]])
        return g, values[equal] - self.lower[equal]

    @property
    def levels(
        self,
    ) -> tuple[Float[np.ndarray, " n_inequalities"], Float[np.ndarray, " n_equalities"]]:
        """The number on the right of each row, in the order of `rows`: part of the row's scale."""
        return (
            np.concatenate([self.upper[list(self.above)], self.lower[list(self.below)]]),
            self.lower[list(self.equal)],
        )

    @property
    def texts(self) -> tuple[list[str], list[str]]:
        """A text for each row, in the order of `rows`: "constraint 2, row 1 <= 3"."""
        single = len(self.lower) == 1
        named = [
            self.name if single else f"{self.name}, row {row + 1}" for row in range(len(self.lower))
        ]
        above = [f"{named[row]} <= {self.upper[row]:g}" for row in self.above]
        below = [f"{named[row]} >= {self.lower[row]:g}" for row in self.below]
        return above + below, [f"{named[row]} = {self.lower[row]:g}" for row in self.equal]
