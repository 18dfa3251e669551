"""The feasible set: a box and constraints on flat vectors, and the ways back into it and onto its
equality constraints."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial
from jaxtyping import Array, Float

from ..compilation import program
from ..kinds import kind
from ..precision import double_precision, on_host
from ..simplex import kronecker
from .bridge import bridges, raise_failures
from .schedule import SCHEDULE

Vector = Float[np.ndarray, " n_variables"]

Rows = Callable[[Vector], tuple[np.ndarray, np.ndarray]]
"""Rows of constraints at a point, inequalities first, and their Jacobian."""


class InfeasibleError(ValueError):
    """No design is known that keeps the constraints."""


@kind("objectives.constraint/2")
class Constraint(eqx.Module):
    """lower <= c(x) <= upper, row by row. A row with lower == upper is an equality; an infinite
    side is no constraint.

    Which rows are which is fixed when the constraint is made, so that new numbers compile nothing
    anew.
    """

    function: Callable[[Array], Array]
    lower: Float[np.ndarray, " n_rows"]
    upper: Float[np.ndarray, " n_rows"]
    names: tuple[str, ...] = eqx.field(static=True)
    """Of the rows, or one for all."""
    unit: str = eqx.field(static=True)
    """Of c(x)."""
    above: tuple[int, ...] = eqx.field(static=True)
    """Rows with c(x) <= upper."""
    below: tuple[int, ...] = eqx.field(static=True)
    """Rows with lower <= c(x)."""
    equal: tuple[int, ...] = eqx.field(static=True)
    """Rows with c(x) = lower = upper."""

    def __init__(
        self,
        function: Callable[[Array], Array],
        lower: np.ndarray,
        upper: np.ndarray,
        names: tuple[str, ...],
        unit: str = "",
    ):
        self.function, self.lower, self.upper = function, lower, upper
        self.names, self.unit = names, unit
        equal = lower == upper
        self.above = tuple(np.flatnonzero(np.isfinite(upper) & ~equal).tolist())
        self.below = tuple(np.flatnonzero(np.isfinite(lower) & ~equal).tolist())
        self.equal = tuple(np.flatnonzero(equal).tolist())

    def of(self, function: Callable[[Array], Array]) -> "Constraint":
        """The same sides and names for another function, such as c of other variables."""
        return Constraint(function, self.lower, self.upper, self.names, self.unit)

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
    def levels(self) -> tuple[np.ndarray, np.ndarray]:
        """The number on the right of each row of g and h: part of the row's scale."""
        above, below, equal = map(list, (self.above, self.below, self.equal))
        return np.concatenate([self.upper[above], self.lower[below]]), self.lower[equal]

    @property
    def texts(self) -> tuple[list[str], list[str]]:
        """A text for each row of g and h: "constraint 2, row 1 <= 3", "stress <= 250 MPa"."""
        n, named, unit = len(self.lower), self.names, f" {self.unit}".rstrip()
        if len(named) < n:
            named = [f"{named[0]}, row {row + 1}" for row in range(n)]
        above = [f"{named[row]} <= {self.upper[row]:g}{unit}" for row in self.above]
        below = [f"{named[row]} >= {self.lower[row]:g}{unit}" for row in self.below]
        return above + below, [f"{named[row]} = {self.lower[row]:g}{unit}" for row in self.equal]


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
        return jnp.concatenate([jnp.zeros(0), *(one.rows(x)[0] for one in self.constraints)])

    def equalities(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_equalities"]:
        """h(x), which is 0 on the set. Traceable by JAX."""
        return jnp.concatenate([jnp.zeros(0), *(one.rows(x)[1] for one in self.constraints)])

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
    def texts(self) -> tuple[str, ...]:
        """A text for each column of `violations`: lower bounds ("x3 >= 0"), upper bounds,
        inequalities ("constraint 2, row 1 <= 3"), equalities ("constraint 1 = 0")."""
        both = [one.texts for one in self.constraints]
        lower, upper = self.shown(self.lower), self.shown(self.upper)
        return (
            *(f"{name} >= {x:g}" for name, x in zip(self.variables, lower, strict=True)),
            *(f"{name} <= {x:g}" for name, x in zip(self.variables, upper, strict=True)),
            *(text for g, _ in both for text in g),
            *(text for _, h in both for text in h),
        )

    @property
    def inequality_texts(self) -> tuple[str, ...]:
        """Those of `texts` that belong to the rows of g."""
        return tuple(text for one in self.constraints for text in one.texts[0])

    def shown(self, x: Float[np.ndarray, "*batch n_variables"]) -> np.ndarray:
        """Flat vectors in the user's units."""
        return x if self.scale is None else x * np.array(self.scale)

    def __str__(self) -> str:
        n_rows = self.n_inequalities + self.n_equalities
        sides = np.concatenate([self.lower, self.upper, np.zeros(n_rows)])
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

    def center(self) -> Vector:
        """The center of the box: where a variable lacks a bound, its value nearest to 0.
        Constraints are not looked at."""
        finite = np.isfinite(self.lower) & np.isfinite(self.upper)
        low, high = np.where(finite, self.lower, 0.0), np.where(finite, self.upper, 0.0)
        # each half for itself: the sum of two large bounds may overflow
        return np.asarray(self.clip(low / 2 + high / 2))

    def violations(
        self, x: Float[Array | np.ndarray, "*batch n_variables"]
    ) -> Float[np.ndarray, "*batch n_texts"]:
        """By how much x violates each bound and each constraint of `texts`, 0 where it does not;
        infinite where one is NaN."""
        x = np.asarray(x, dtype=float)
        with np.errstate(invalid="ignore"):  # ∞ − ∞
            parts = [self.lower - x, x - self.upper]
        if self.has_constraints:
            with double_precision():
                g, h = map(on_host, _values(self, jnp.asarray(x.reshape(-1, self.n_variables))))
            raise_failures(self)
            # widths are named: of no designs at all NumPy cannot infer them
            parts += [one.reshape(*x.shape[:-1], one.shape[-1]) for one in (g, np.abs(h))]
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
        """Whether x satisfies the bounds exactly and each constraint up to `Schedule.tolerance` of
        its scale at x."""
        x = np.asarray(x, dtype=float)
        in_box = np.all((self.lower <= x) & (x <= self.upper))
        return bool(in_box) and bool(np.all(self._excess(x) <= 0))

    def rows(self, x: Vector) -> tuple[np.ndarray, np.ndarray]:
        """The rows of g, then of h, at one point, and their Jacobian, in NumPy."""
        with double_precision():
            values, slopes = map(on_host, _rows(self, jnp.asarray(x)))
        raise_failures(self)
        return values, slopes

    def _excess(self, x: Vector) -> Float[np.ndarray, " n_rows"]:
        """By how much each row of g and h exceeds what `contains` allows; infinite where it is NaN.

        The scale of a row c(x) <= u is max(|u|, Σ_i |∂c/∂x_i| max(1, |x_i|)): a constraint
        multiplied by a number says the same.
        """
        values, J = self.rows(x)
        n, both = self.n_inequalities, [one.levels for one in self.constraints]
        levels = np.concatenate([np.zeros(0), *(g for g, _ in both), *(h for _, h in both)])
        scale = np.maximum(np.abs(levels), np.abs(J) @ np.maximum(1.0, np.abs(x)))
        violations = np.append(values[:n], np.abs(values[n:]))
        excess = violations - SCHEDULE.tolerance * scale
        return np.where(np.isnan(excess), np.inf, excess)

    def multipliers(self, x: Vector, gradient: Vector) -> dict[str, float]:
        """The multipliers μ of what is active at x, by `texts`: gradient + Σ μ_j ∇g_j = 0 as nearly
        as it can be with μ ≥ 0, of either sign for equalities; largest first."""
        from scipy.optimize import nnls

        n, sides = self.n_inequalities, (x - self.lower, self.upper - x)
        values, J = self.rows(x) if self.has_constraints else (np.zeros(0), np.zeros((0, len(x))))
        near = SCHEDULE.active * np.maximum(1.0, np.abs(x))
        size = SCHEDULE.active * np.maximum(1.0, np.abs(J) @ np.maximum(1.0, np.abs(x)))
        active = np.concatenate([*(room <= near for room in sides), values[:n] >= -size[:n]])
        unit = np.diag(self.shown(np.ones(len(x))))
        slopes = np.concatenate([-unit, unit, J[:n]])[active]
        texts = np.array(self.texts)
        names = [*texts[: len(active)][active], *texts[len(active) :]]
        if not names:
            return {}
        # an equality as two inequalities
        found = nnls(np.concatenate([slopes, J[n:], -J[n:]]).T, -gradient)[0]
        k, m = len(slopes), len(values) - n
        mu = np.concatenate([found[:k], found[k : k + m] - found[k + m :]])
        order = np.argsort(-np.abs(mu))
        return {str(names[i]): float(mu[i]) for i in order}

    def repair(self, x: Float[Array | np.ndarray, " n_variables"]) -> Vector:
        """A feasible point near x: x clipped to the box where that is one, else what SciPy finds,
        from x and other starts.

        The nearest feasible point is looked for by SLSQP; where that fails, least squares reduce
        the violations. The first start is x, so the point is near x (the nearest, where the set is
        convex). Starts are x, the center of the box, and evenly spread points of the box (of a cube
        around x, where the box is infinite); then the least violating ones of many such points.

        Raises:
            ValueError: Where no start leads to a feasible point (see `contains`): the set seems
                empty.
        """
        x = np.asarray(self.clip(np.asarray(x, dtype=float)))
        if not self.has_constraints or self.contains(x):
            return x
        # where a search all over the box may follow, less is tried
        wide = self.n_equalities == 0 and self.has_finite_box
        # each slope of constraints that are called as they are costs a call per variable
        if wide and any(bridge.order == 0 for bridge in bridges(self)):
            found = _search(self, x, x, SCHEDULE.called_steps)
            if self.contains(found):
                return found
            raise InfeasibleError("no feasible point was found near x0")
        radius, n, many = 1 + np.abs(x), SCHEDULE.n_starts, SCHEDULE.n_spread
        low = np.where(np.isfinite(self.lower), self.lower, np.minimum(x, self.upper) - radius)
        high = np.where(np.isfinite(self.upper), self.upper, np.maximum(x, self.lower) + radius)
        spread = np.asarray(self.clip(low + (high - low) * kronecker(many, self.n_variables)))

        def starts() -> Iterator[Vector]:
            yield from np.vstack([x, self.center(), spread[:n]])
            yield from spread[np.argsort(self.violation(spread))[:n]]

        # the best of the failures is what the message is about
        best, least = x, np.inf
        for start in starts():
            found = _search(self, start, x, SCHEDULE.few_steps if wide else SCHEDULE.repair_steps)
            if self.contains(found):
                return found
            excess = np.max(self._excess(found))
            if excess < least:
                best, least = found, excess
        violation, text = self.worst(best)
        place = np.array2string(
            self.shown(best), precision=6, separator=", ", max_line_width=np.inf
        )
        raise InfeasibleError(
            f"no feasible point among {many + 2} designs, nor at the ends of {2 * n + 2} searches:"
            f" the least violation is {violation:.3g}, of {text}, at x={place}; relax that"
            " constraint or the bounds, or give an x0 that is feasible"
        )


@program
def _values(feasible: FeasibleSet, x: Array) -> tuple[Array, Array]:
    return jax.vmap(lambda point: (feasible.inequalities(point), feasible.equalities(point)))(x)


@program
def _rows(feasible: FeasibleSet, x: Array) -> tuple[Array, Array]:
    def both(x: Array) -> Array:
        return jnp.concatenate([feasible.inequalities(x), feasible.equalities(x)])

    return both(x), jax.jacrev(both)(x)


def _search(feasible: FeasibleSet, start: Vector, x: Vector, steps: int) -> Vector:
    """A point of the box near x that violates the constraints as little as a search from `start`
    achieves in so many steps."""
    free = feasible.lower < feasible.upper
    if not free.any():
        return start
    # SciPy asks for values and slopes at the same point one by one
    last: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

    def whole(y: np.ndarray) -> np.ndarray:
        point = start.copy()
        point[free] = y
        return point

    def rows(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        key = y.tobytes()
        if key not in last:
            last.clear()
            values, J = feasible.rows(whole(y))
            last[key] = values, J[:, free]
        return last[key]

    box, n = (feasible.lower[free], feasible.upper[free]), feasible.n_inequalities
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # SciPy warns of steps that it clips to the box
        found = np.asarray(
            feasible.clip(whole(_nearest(rows, n, box, start[free], x[free], steps)))
        )
        if feasible.contains(found):
            return found
        y = found[free] if np.isfinite(found).all() else start[free]
        return np.asarray(feasible.clip(whole(_least_violation(rows, n, box, y, steps))))


def _nearest(
    rows: Rows,
    n: int,
    box: tuple[np.ndarray, np.ndarray],
    start: np.ndarray,
    x: np.ndarray,
    steps: int,
) -> np.ndarray:
    """The point nearest to x where the first n rows are at most 0 and the others 0, by SLSQP."""
    from scipy.optimize import minimize

    # all rows and the distance are brought to size 1
    values, J = rows(start)
    lengths, size = np.linalg.norm(J, axis=1), 1 + np.sum(x**2)
    lengths = np.where(np.isfinite(lengths) & (lengths > 0), lengths, 1.0)
    parts = [("ineq", -1.0, slice(0, n)), ("eq", 1.0, slice(n, None))]  # SLSQP's are at least 0
    constraints = [
        {
            "type": kind,
            "fun": lambda y, sign=sign, part=part: sign * rows(y)[0][part] / lengths[part],
            "jac": lambda y, sign=sign, part=part: sign * rows(y)[1][part] / lengths[part, None],
        }
        for kind, sign, part in parts
        if len(values[part])
    ]
    return minimize(
        lambda y: np.sum((y - x) ** 2) / (2 * size),
        start,
        jac=lambda y: (y - x) / size,
        method="SLSQP",
        bounds=list(zip(*box, strict=True)),
        constraints=constraints,
        options={"maxiter": steps, "ftol": SCHEDULE.repair_precision},
    ).x


def _least_violation(
    rows: Rows, n: int, box: tuple[np.ndarray, np.ndarray], start: np.ndarray, steps: int
) -> np.ndarray:
    """From a point nearly feasible to one that is: least squares of max(g, 0) and h. The start, if
    they fail there."""
    from scipy.optimize import least_squares

    def residuals(y: np.ndarray) -> np.ndarray:
        values = rows(y)[0]
        return np.append(np.maximum(values[:n], 0.0), values[n:])

    def slopes(y: np.ndarray) -> np.ndarray:
        values, J = rows(y)
        # an inequality that holds has no residual, and an equality always has one
        return J * ((values > 0) | (np.arange(len(values)) >= n))[:, None]

    start = np.clip(start, *box)
    before = residuals(start)
    if not np.isfinite(before).all() or not before.any():
        return start
    after = least_squares(
        residuals,
        start,
        cast(Any, slopes),
        bounds=box,
        x_scale=1 + np.abs(start),
        xtol=SCHEDULE.repair_precision,
        ftol=SCHEDULE.repair_precision,
        gtol=SCHEDULE.repair_precision,
        max_nfev=steps,
    ).x
    return after if np.sum(residuals(after) ** 2) < np.sum(before**2) else start


class Manifold(eqx.Module):
    """Where equality constraints hold, and the way there: Newton's method for h(x) = 0 with the
    least change of x, within bounds."""

    feasible: FeasibleSet

    def __call__(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_variables"]:
        """A point of the set near x, where Newton's method finds one. Traceable by JAX."""
        return self._zero_of(self.feasible.equalities, x, SCHEDULE.projections)

    def inside(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_variables"]:
        """Likewise one that keeps inequalities, too. Steps go a little too far, since Newton's
        method comes to a curved side of the set from outside and never arrives."""
        own = self.feasible

        def rows(x: Array) -> Array:
            return jnp.concatenate([own.equalities(x), jnp.maximum(own.inequalities(x), 0)])

        far = np.append(np.ones(own.n_equalities), np.full(own.n_inequalities, SCHEDULE.too_far))
        return self._zero_of(rows, x, SCHEDULE.steps_inside, far)

    def _zero_of(
        self,
        rows: Callable[[Array], Array],
        x: Array,
        steps: int,
        far: np.ndarray | float = 1.0,
    ) -> Array:
        """Where rows end at 0, by Newton's steps, so many times as long for each row."""
        scale = jnp.finfo(x.dtype)

        def move(h: Array, J: Array) -> Array:
            gram = J @ J.T
            # Where all rows hold their slopes are 0, and nothing moves.
            least = jnp.maximum(scale.eps * jnp.trace(gram), scale.tiny)
            return -J.T @ jnp.linalg.solve(gram + least * jnp.eye(len(h)), far * h)

        def step(_: object, x: Array) -> Array:
            own = self.feasible
            h, J = rows(x), jax.jacrev(rows)(x)
            full = move(h, J)
            # Variables that a bound holds do not move: clipping them would leave most of h.
            held = ((x <= own.lower) & (full < 0)) | ((x >= own.upper) & (full > 0))
            return jnp.asarray(own.clip(x + move(h, jnp.where(held, 0.0, J))))

        return jax.lax.fori_loop(0, steps, step, x)

    def rest(self) -> FeasibleSet:
        """Bounds and inequalities at projected points; where the projection ended off the set,
        another inequality says so."""
        own, n = self.feasible, self.feasible.n_inequalities + self.feasible.n_equalities
        rows = Constraint(Partial(_rest, self), np.full(n, -np.inf), np.zeros(n), ("projected",))
        return FeasibleSet(own.lower, own.upper, (rows,), own.variables, own.scale)

    def project(
        self, x: Float[np.ndarray, "n n_variables"], inside: bool = False
    ) -> Float[np.ndarray, "n n_variables"]:
        """The designs that these stand for, in NumPy; or those `inside`."""
        with double_precision():
            return on_host(_moved(self, jnp.asarray(x), inside))


def _rest(manifold: Manifold, x: Float[Array, " n_variables"]) -> Float[Array, " n_rows"]:
    feasible, y = manifold.feasible, manifold(x)
    off = jnp.abs(feasible.equalities(y)) - SCHEDULE.on_manifold * (1 + jnp.abs(y).max())
    return jnp.concatenate([feasible.inequalities(y), off])


@program
def _moved(manifold: Manifold, x: Array, inside: bool) -> Array:
    return jax.vmap(manifold.inside if inside else manifold)(x)
