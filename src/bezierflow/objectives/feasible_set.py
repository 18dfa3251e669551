"""The feasible set: a box and constraints on flat vectors."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..compilation import program
from ..precision import double_precision, on_host
from ..runs import kind
from ..simplex import kronecker
from .bridge import raise_failures
from .constraint import Constraint
from .nearby import RowValues, find_feasible

TOLERANCE = 1e-9
"""A constraint holds at x where it is violated by at most this much of its scale at x (see
`FeasibleSet.contains`)."""

N_STARTS = 8
"""How many evenly spread points a repair starts from, after x itself and the center of the box."""


@kind("objectives.feasible_set/1")
class FeasibleSet(eqx.Module):
    """{x : lower <= x <= upper, g(x) <= 0, h(x) = 0} for flat vectors x. A pytree; made by
    `feasible_set`.

    Attributes:
        lower: float64, −inf where there is no bound.
        upper: float64, +inf where there is no bound.
        constraints: what `inequalities` and `equalities` are made of.
        variables: the names of the variables, for messages.
        scale: the units of the flat vector, likewise; None where all are 1.
    """

    lower: np.ndarray
    upper: np.ndarray
    constraints: tuple[Constraint, ...]
    variables: tuple[str, ...] = eqx.field(static=True)
    scale: tuple[float, ...] | None = eqx.field(static=True, default=None)

    def inequalities(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_inequalities"]:
        """g(x), which is at most 0 on the set. Traceable by JAX."""
        return jnp.concatenate(
            [jnp.zeros(0), *(constraint.rows(x)[0] for constraint in self.constraints)]
        )

    def equalities(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_equalities"]:
        """h(x), which is 0 on the set. Traceable by JAX."""
        return jnp.concatenate(
            [jnp.zeros(0), *(constraint.rows(x)[1] for constraint in self.constraints)]
        )

    @property
    def n_variables(self) -> int:
        """L."""
        return len(self.variables)

    @property
    def n_inequalities(self) -> int:
        """How many rows g has."""
        return sum(len(constraint.above) + len(constraint.below) for constraint in self.constraints)

    @property
    def n_equalities(self) -> int:
        """How many rows h has."""
        return sum(len(constraint.equal) for constraint in self.constraints)

    @property
    def unbounded(self) -> bool:
        """Whether no variable has a bound; there may be constraints all the same."""
        return not (np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    @property
    def has_constraints(self) -> bool:
        """Whether there is more than a box."""
        return self.n_inequalities + self.n_equalities > 0

    @property
    def has_finite_box(self) -> bool:
        """Whether every variable has a lower and an upper bound."""
        return bool(np.isfinite(self.lower).all() and np.isfinite(self.upper).all())

    @property
    def inequality_texts(self) -> tuple[str, ...]:
        """What each row of g says: "constraint 2, row 1 <= 3"."""
        return tuple(text for constraint in self.constraints for text in constraint.texts[0])

    @property
    def equality_texts(self) -> tuple[str, ...]:
        """What each row of h says: "constraint 1 = 0"."""
        return tuple(text for constraint in self.constraints for text in constraint.texts[1])

    @property
    def texts(self) -> tuple[str, ...]:
        """A text for each column of `violations`: lower bounds ("x3 >= 0"), upper bounds,
        inequalities, equalities."""
        lower = (
            f"{name} >= {low:g}"
            for name, low in zip(self.variables, self.shown(self.lower), strict=True)
        )
        upper = (
            f"{name} <= {high:g}"
            for name, high in zip(self.variables, self.shown(self.upper), strict=True)
        )
        return (*lower, *upper, *self.inequality_texts, *self.equality_texts)

    def shown(
        self, x: Float[np.ndarray, "*batch n_variables"]
    ) -> Float[np.ndarray, "*batch n_variables"]:
        """Flat vectors in the user's units."""
        return x if self.scale is None else x * np.array(self.scale)

    def __str__(self) -> str:
        sides = np.concatenate(
            [self.lower, self.upper, np.zeros(self.n_inequalities + self.n_equalities)]
        )
        return ", ".join(
            text for text, side in zip(self.texts, sides, strict=True) if np.isfinite(side)
        )

    def clip(
        self, x: Float[Array | np.ndarray, "*batch n_variables"]
    ) -> Float[Array | np.ndarray, "*batch n_variables"]:
        """The nearest point of the box, exactly; constraints are not looked at. NumPy in, NumPy
        out; traceable by JAX."""
        xp = np if isinstance(x, np.ndarray) else jnp
        return xp.minimum(xp.maximum(x, self.lower), self.upper)

    def center(self) -> Float[np.ndarray, " n_variables"]:
        """The center of the box: where a variable lacks a bound, its value nearest to 0.
        Constraints are not looked at."""
        finite = np.isfinite(self.lower) & np.isfinite(self.upper)
        low, high = np.where(finite, self.lower, 0.0), np.where(finite, self.upper, 0.0)
        return np.asarray(self.clip(low / 2 + high / 2))

    def violations(
        self, x: Float[Array | np.ndarray, "*batch n_variables"]
    ) -> Float[np.ndarray, "*batch n_texts"]:
        """By how much x violates each bound and each constraint of `texts`, 0 where it does not;
        infinite where one is NaN."""
        x = np.asarray(x, dtype=float)
        with np.errstate(invalid="ignore"):
            parts = [self.lower - x, x - self.upper]
        if self.has_constraints:
            with double_precision():
                g, h = map(on_host, _values(self, jnp.asarray(x.reshape(-1, self.n_variables))))
            raise_failures(self)
            parts += [g.reshape(*x.shape[:-1], -1), np.abs(h).reshape(*x.shape[:-1], -1)]
        violations = np.concatenate(parts, axis=-1)
        return np.maximum(np.where(np.isnan(violations), np.inf, violations), 0.0)

    def violation(
        self, x: Float[Array | np.ndarray, "*batch n_variables"]
    ) -> Float[np.ndarray, "*batch"]:
        """The largest violation of a bound or a constraint at each x, in the constraint's own
        units; 0 where x is feasible."""
        return np.asarray(self.violations(x).max(axis=-1))

    def worst(self, x: Float[Array | np.ndarray, "*batch n_variables"]) -> tuple[float, str]:
        """The largest violation over all points x, and the text of the bound or constraint it
        belongs to."""
        over_points = self.violations(x).reshape(-1, len(self.texts)).max(axis=0)
        row = int(np.argmax(over_points))
        return float(over_points[row]), self.texts[row]

    def contains(self, x: Float[Array | np.ndarray, " n_variables"]) -> bool:
        """Whether x satisfies the bounds exactly and each constraint up to `TOLERANCE` of its scale
        at x.

        The scale of a row c(x) <= u is max(|u|, Σ_i |∂c/∂x_i| max(1, |x_i|)): a constraint
        multiplied by a number says the same.
        """
        x = np.asarray(x, dtype=float)
        in_box = np.all((self.lower <= x) & (x <= self.upper))
        return bool(in_box) and bool(np.all(self._excess(self.rows(x), x) <= 0))

    def rows(self, x: Float[np.ndarray, " n_variables"]) -> RowValues:
        """The rows g and h with their Jacobians at one point, in NumPy."""
        with double_precision():
            rows = RowValues(*map(on_host, _rows(self, jnp.asarray(x))))
        raise_failures(self)
        return rows

    def repair(
        self, x: Float[Array | np.ndarray, " n_variables"]
    ) -> Float[np.ndarray, " n_variables"]:
        """A feasible point near x: x clipped to the box where that is one, else what SciPy finds,
        from x and other starts.

        The nearest feasible point is looked for by SLSQP; where that fails, least squares reduce
        the violations. The first start is x, so the point is near x (the nearest, where the set is
        convex). Starts are x, the center of the box, and evenly spread points of the box (of a cube
        around x, where the box is infinite).

        Raises:
            ValueError: Where no start leads to a feasible point (see `contains`): the set seems
                empty.
        """
        x = np.asarray(self.clip(np.asarray(x, dtype=float)))
        if not self.has_constraints or self.contains(x):
            return x
        best, least = x, np.inf
        for start in self._starts(x):
            found = find_feasible(self.rows, self.contains, (self.lower, self.upper), start, x)
            if self.contains(found):
                return found
            excess = np.max(self._excess(self.rows(found), found))
            if np.isfinite(excess) and excess < least:
                best, least = found, excess
        violation, text = self.worst(best)
        raise ValueError(
            f"constraints seem to leave no feasible point: from {2 + N_STARTS} starts the smallest"
            f" violation is {violation:.3g}, of {text}, at x={self.shown(best).tolist()}; relax"
            " that constraint or the bounds"
        )

    def _starts(self, x: np.ndarray) -> np.ndarray:
        radius = 1 + np.abs(x)
        low = np.where(np.isfinite(self.lower), self.lower, np.minimum(x, self.upper) - radius)
        high = np.where(np.isfinite(self.upper), self.upper, np.maximum(x, self.lower) + radius)
        spread = low + (high - low) * kronecker(N_STARTS, self.n_variables)
        return np.vstack([x, self.center(), np.asarray(self.clip(spread))])

    def _excess(self, rows: RowValues, x: np.ndarray) -> Float[np.ndarray, " n_rows"]:
        """By how much each row of g and h exceeds what `contains` allows; infinite where it is
        NaN."""
        levels = [
            np.concatenate([np.zeros(0), *parts])
            for parts in zip(*(c.levels for c in self.constraints), strict=True)
        ]
        violations = np.concatenate([rows.g, np.abs(rows.h)])
        slopes = np.abs(np.vstack([rows.dg, rows.dh])) @ np.maximum(1.0, np.abs(x))
        excess = violations - TOLERANCE * np.maximum(
            np.abs(np.concatenate(levels)) if levels else 0.0, slopes
        )
        return np.where(np.isnan(excess), np.inf, excess)


class _Both(NamedTuple):
    g: Array
    h: Array


def _both(feasible: FeasibleSet, x: Array) -> _Both:
    return _Both(feasible.inequalities(x), feasible.equalities(x))


@program
def _values(feasible: FeasibleSet, x: Array) -> _Both:
    return jax.vmap(lambda point: _both(feasible, point))(x)


@program
def _rows(feasible: FeasibleSet, x: Array) -> tuple[Array, Array, Array, Array]:
    values, slopes = _both(feasible, x), jax.jacrev(lambda point: _both(feasible, point))(x)
    return values.g, slopes.g, values.h, slopes.h
