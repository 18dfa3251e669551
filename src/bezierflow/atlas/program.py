"""The program behind the chart: objectives and constraints as scaled rows of scaled variables, with
everything ever evaluated.

For a chart point a, Σ a_m = 0, the point of the front above a is the solution of (Pascoletti and
Serafini)

    min s   subject to   f_m(x) ≤ a_m + s for all m,   x feasible,

with each f_m in units of its range over the front. Rows r(z) are these f_m, then the inequalities
g(z) ≤ 0, then the equalities h(z) = 0; z are the variables that are not fixed, in units of their
bounds' distance.
"""

import copy
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..answer import best_levels
from ..evaluations import Evaluations
from ..interrupts import raise_if_interrupted, raise_if_late
from ..jaxprs import degree
from ..kinks import Lifted
from ..objectives import (
    FeasibleSet,
    FlatObjectives,
    JaxEvaluator,
    Manifold,
    all_variables,
    bridges,
)
from ..precision import double_precision
from ..runs import kind
from .schedule import SCHEDULE


@kind("atlas.stacked/1")
class Stacked(eqx.Module):
    """x -> (f(x), g(x), h(x)), the variables that vary placed among the fixed ones."""

    objectives: Callable[[Array], Array]
    feasible: FeasibleSet
    fixed: np.ndarray
    free: np.ndarray

    def __call__(self, x: Float[Array, " n_free"]) -> Float[Array, " n_rows"]:
        """All rows at once."""
        whole = self.place(x)
        return jnp.concatenate(
            [
                self.objectives(whole),
                self.feasible.inequalities(whole),
                self.feasible.equalities(whole),
            ]
        )

    def whole(
        self, points: Float[np.ndarray, "n n_free"]
    ) -> Float[np.ndarray, "n n_variables"] | None:
        """All variables of n points, in NumPy; None where the objectives have others than these."""
        x = np.tile(self.fixed, (len(points), 1))
        x[:, self.free] = points
        return all_variables(self.objectives, x)

    def place(self, x: Float[Array, " n_free"]) -> Float[Array, " n_variables"]:
        """All variables."""
        return jnp.asarray(self.fixed).at[jnp.asarray(self.free)].set(x)


@kind("atlas.tight/1")
class Tight(eqx.Module):
    """x -> (rows, u) with the auxiliary variables at u, the kinks themselves, whatever they
    were."""

    rows: Stacked
    lifted: Lifted

    def __call__(self, x: Float[Array, " n_free"]) -> Float[Array, " n_rows_and_auxiliary"]:
        """The rows where all kinks are exact, and the kinks."""
        u = self.lifted.exact(self.rows.place(x)[: self.lifted.n_variables])
        return jnp.concatenate([self.rows(x.at[-len(u) :].set(u)), u])


class Look(NamedTuple):
    """Rows at n points with slopes and Hessians; one Hessian for all points where it is the same
    everywhere."""

    r: Float[np.ndarray, "n n_rows"]
    J: Float[np.ndarray, "n n_rows n_free"]
    H: Float[np.ndarray, "n_or_1 n_rows n_free n_free"]


@kind("atlas.expansion/1")
class Expansion(NamedTuple):
    """Rows that are polynomials of degree 2 at most, in the user's units:
    r + J (x − center) + ½ (x − center)ᵀ H (x − center)."""

    center: Float[np.ndarray, " n_free"]
    r: Float[np.ndarray, " n_rows"]
    J: Float[np.ndarray, "n_rows n_free"]
    H: Float[np.ndarray, "n_rows n_free n_free"]


@kind("atlas.archive/1")
class Archive(NamedTuple):
    """Feasible points that were evaluated: z and the objectives in the user's units."""

    z: Float[np.ndarray, "n n_free"]
    f: Float[np.ndarray, "n n_objectives"]


@kind("atlas.program/2")
class Program:
    """Rows r(z) at batches of points, counted, with an archive of every feasible point.

    Attributes:
        n_objectives: M; the first rows.
        n_inequalities: the rows after them.
        lower: bounds of z, −inf where there is none.
        upper: bounds of z, +inf where there is none.
        ideal: the least value of each objective on the front, as far as it is known.
        span: the range of each objective over the front, likewise.
        row_scale: the scale of each constraint.
        margin: by which searches shall keep inequalities, in units of their scales, so that what
            lies between their ends keeps them too.
        strict: whether violations are limited in the user's units, too: constraints that are huge
            far away have scales that say nothing near the front.
        price: of a violation, in units of the constraint's scale, in the merit of a point.
        archives: feasible points evaluated, in parts, see `archive`.
        is_quadratic: whether all rows are polynomials of degree 2 at most, as their operations
            tell: derivatives at one point then are known everywhere.
        expansion: these, once somebody has asked.
        n_auxiliary: how many of the last variables stand for kinks of the objectives.
    """

    def __init__(
        self,
        objectives: FlatObjectives,
        n_objectives: int,
        feasible: FeasibleSet,
        box: tuple[np.ndarray, np.ndarray],
        budget: int | None = None,
        spent: Evaluations | None = None,
    ):
        """`box` is a finite box that gives the variables their units: the bounds where they are
        finite."""
        self.n_objectives, self.n_inequalities, self.feasible = (
            n_objectives,
            feasible.n_inequalities,
            feasible,
        )
        self.free = np.flatnonzero(feasible.lower < feasible.upper)
        self.origin, self.unit = box[0][self.free], (box[1] - box[0])[self.free]
        self.lower = (feasible.lower[self.free] - self.origin) / self.unit
        self.upper = (feasible.upper[self.free] - self.origin) / self.unit
        n_constraints = self.n_inequalities + feasible.n_equalities
        self.n_rows, self.n_free = n_objectives + n_constraints, len(self.free)
        stacked = Stacked(
            objectives,
            feasible,
            np.where(feasible.lower < feasible.upper, 0.0, feasible.lower),
            self.free,
        )
        # Objectives that are all there is go as they are: other searches have compiled them.
        alone = not n_constraints and self.n_free == len(feasible.lower)
        rows = objectives if alone else stacked
        self.evaluator = JaxEvaluator(rows, self.n_rows, self.n_free, budget, spent)
        with double_precision():
            traced = jax.make_jaxpr(lambda x: rows(x))(np.zeros(self.n_free))
        self.is_quadratic, self.expansion = degree(traced) <= 2, cast("Expansion | None", None)
        self.n_auxiliary = objectives.n_auxiliary if isinstance(objectives, Lifted) else 0
        self.tight = Tight(stacked, objectives) if isinstance(objectives, Lifted) else None
        self.turns = isinstance(objectives, Lifted) and objectives.plan.n_directions > 0
        self.ideal, self.span, self.row_scale = (
            np.zeros(n_objectives),
            np.ones(n_objectives),
            np.ones(n_constraints),
        )
        self.margin, self.price, self.strict = 0.0, SCHEDULE.price, False
        self.tie = SCHEDULE.tie
        self.archives = [Archive(np.zeros((0, self.n_free)), np.zeros((0, n_objectives)))]

    def copy(self) -> "Program":
        """The same program with counts and an archive of its own."""
        other = copy.copy(self)
        other.evaluator, other.archives = copy.copy(self.evaluator), list(self.archives)
        return other

    def for_answers(self, margin: float = 0.0) -> "Program":
        """A copy without a budget, with a tie-break that no level gives way to. It keeps
        inequalities as they are: the margin is that of nodes, so that the patches between them keep
        these, too."""
        other = self.copy()
        other.evaluator.budget, other.margin = None, margin
        other.tie = min(self.tie, SCHEDULE.tie_of_labels)
        return other

    def change_units(self, factor: Float[np.ndarray, " n_free"]) -> None:
        """Multiplies the units of the variables: z becomes z / factor."""
        self.unit = self.unit * factor
        self.lower, self.upper = self.lower / factor, self.upper / factor
        self.archives = [Archive(z / factor, f) for z, f in self.archives]
        # Far away from its center differences of large numbers would round what is short now.
        self.expansion = None

    @property
    def archive(self) -> Archive:
        """Every feasible point evaluated, as far as it may still matter."""
        # Joined when somebody asks, since points come a few at a time.
        if len(self.archives) > 1:
            z, f = zip(*self.archives, strict=True)
            self.archives = [Archive(np.concatenate(z), np.concatenate(f))]
        return self.archives[0]

    @archive.setter
    def archive(self, points: Archive) -> None:
        self.archives = [points]

    @property
    def shift(self) -> Float[np.ndarray, " n_rows"]:
        """What is taken from each row before it is scaled."""
        kept = np.where(np.arange(len(self.row_scale)) < self.n_inequalities, self.margin, 0.0)
        return np.concatenate([self.ideal, -kept * self.row_scale])

    @property
    def scale(self) -> Float[np.ndarray, " n_rows"]:
        """The unit of each row."""
        return np.concatenate([self.span, self.row_scale])

    def x(self, z: Float[np.ndarray, "n n_free"]) -> Float[np.ndarray, "n n_variables"]:
        """The variables in the user's units, within their bounds exactly."""
        x = np.tile(self.feasible.lower, (len(z), 1))
        x[:, self.free] = self.origin + z * self.unit
        return np.asarray(self.feasible.clip(x))

    def clip(self, z: Float[np.ndarray, "n n_free"]) -> Float[np.ndarray, "n n_free"]:
        """The nearest points of the box, auxiliary variables at the kinks that they stand for."""
        return (
            self._tighten(np.clip(z, self.lower, self.upper))[0]
            if self.tight
            else np.clip(z, self.lower, self.upper)
        )

    def onto(self, z: Float[np.ndarray, "n n_free"]) -> Float[np.ndarray, "n n_free"]:
        """The designs beside these that keep equality constraints, where slopes of these lead
        there: else no point of a population ever does."""
        if self.feasible.n_equalities == 0 or not self.has_hessians or len(z) == 0:
            return z
        x = Manifold(self.feasible).project(self.x(z))
        return (x[:, self.free] - self.origin) / self.unit

    def values(self, z: Float[np.ndarray, "n n_free"]) -> Float[np.ndarray, "n n_rows"]:
        """The scaled rows; those of the points with exact auxiliary variables, whatever these are
        in z."""
        z, raw = (
            self._tighten(z)
            if self.tight
            else (z, self.evaluator.values(self.origin + z * self.unit))
        )
        self.keep(z, raw)
        return (raw - self.shift) / self.scale

    def step_to(
        self, z: Float[np.ndarray, "n n_free"]
    ) -> tuple[Float[np.ndarray, "n n_free"], Float[np.ndarray, "n n_rows"]]:
        """The nearest points of the box and the scaled rows there, for a search in all variables.

        Auxiliary variables are set to their kinks, unless norms are among them: at the tip of a
        norm's cone its direction has to turn before the norm can grow.
        """
        if self.turns:
            z = np.clip(z, self.lower, self.upper)
            raw = self.evaluator.values(self.origin + z * self.unit)
            self.keep(z, raw)
            return z, (raw - self.shift) / self.scale
        z = self.clip(z)
        return z, self.values(z)

    def apart(
        self, z: Float[np.ndarray, "n n_free"], other: Float[np.ndarray, "n n_free"]
    ) -> Float[np.ndarray, " n"]:
        """The distances between designs in the user's units, auxiliary variables left out."""
        return np.linalg.norm(
            ((z - other) * self.unit)[:, : self.n_free - self.n_auxiliary], axis=1
        )

    def _tighten(
        self, z: Float[np.ndarray, "n n_free"]
    ) -> tuple[Float[np.ndarray, "n n_free"], Float[np.ndarray, "n n_rows"]]:
        """The points with auxiliary variables at the kinks that they stand for, and the rows there
        in the user's units."""
        assert self.tight is not None
        n, R = self.n_auxiliary, self.n_rows
        evaluator = JaxEvaluator(
            self.tight, R + n, self.n_free, self.evaluator.budget, self.evaluator.evaluations
        )
        raw = evaluator.values(self.origin + z * self.unit)
        self.evaluator.evaluations = evaluator.evaluations
        u = (raw[:, R:] - self.origin[-n:]) / self.unit[-n:]
        return np.concatenate([z[:, :-n], u], axis=1), raw[:, :R]

    def look(self, z: Float[np.ndarray, "n n_free"]) -> Look:
        """The scaled rows with their slopes and Hessians."""
        if self.is_quadratic:
            return Look(*self._expanded(z), self.curvatures[None])
        at = self.evaluator.hessians(self.origin + z * self.unit)
        self.keep(z, at.values)
        scale, unit = self.scale, self.unit
        assert at.hessians is not None
        J, H = at.gradients, at.hessians
        endless = np.flatnonzero(
            np.isfinite(at.values).all(axis=1) & ~np.isfinite(H).all(axis=(1, 2, 3))
        )
        if len(endless):
            inside = self.evaluator.hessians(
                self.origin
                + np.clip(z[endless], self.lower + SCHEDULE.inside, self.upper - SCHEDULE.inside)
                * unit
            )
            assert inside.hessians is not None
            J, H = np.array(J), np.array(H)
            J[endless] = np.where(np.isfinite(J[endless]), J[endless], inside.gradients)
            H[endless] = np.where(np.isfinite(H[endless]), H[endless], inside.hessians)
        return Look(
            (at.values - self.shift) / scale,
            _bounded(J * unit / scale[:, None]),
            _bounded(H * unit[:, None] * unit / scale[:, None, None]),
        )

    def _expanded(
        self, z: Float[np.ndarray, "n n_free"]
    ) -> tuple[Float[np.ndarray, "n n_rows"], Float[np.ndarray, "n n_rows n_free"]]:
        """The scaled rows of degree 2 with their slopes, from what is known at one point."""
        raise_if_interrupted()
        raise_if_late()
        if self.expansion is None:
            at = self.evaluator.hessians(self.origin + z[:1] * self.unit)
            assert at.hessians is not None
            made = at.points[0], at.values[0], at.gradients[0], at.hessians[0]
            self.expansion = Expansion(*made)
        center, r, J, _ = self.expansion
        d, r, J = (
            z - (center - self.origin) / self.unit,
            (r - self.shift) / self.scale,
            J * self.unit,
        )
        bent, H = np.zeros((len(z), *J.shape)), self.curvatures
        for row in self.curved.tolist():
            bent[:, row] = d @ H[row]
        J = J / self.scale[:, None]
        first = d @ J.T
        return r + first + 0.5 * np.einsum("nri,ni->nr", bent, d), J + bent

    @property
    def curvatures(self) -> Float[np.ndarray, "n_rows n_free n_free"]:
        """The scaled Hessians of rows of degree 2."""
        assert self.expansion is not None
        key = self.unit.tobytes() + self.scale.tobytes()
        if key not in self._curvatures:
            self._curvatures.clear()
            unit, scale = self.unit, self.scale[:, None, None]
            self._curvatures[key] = self.expansion.H * (unit[:, None] * unit) / scale
        return self._curvatures[key]

    @cached_property
    def _curvatures(self) -> dict[bytes, np.ndarray]:
        return {}

    @cached_property
    def curved(self) -> Int[np.ndarray, " k"]:
        """Which rows of degree 2 are not linear."""
        assert self.expansion is not None
        return np.flatnonzero(self.expansion.H.any(axis=(1, 2)))

    @property
    def is_convex(self) -> bool:
        """Whether rows of degree 2 prove the problem convex, up to rounding: then a solution has no
        rival anywhere."""
        return self.expansion is not None and self._bends_upwards

    @cached_property
    def _bends_upwards(self) -> bool:
        assert self.expansion is not None
        H, end = self.expansion.H, self.n_objectives + self.n_inequalities
        return not H[end:].any() and all(map(_is_positive, H[self.curved]))

    @property
    def has_hessians(self) -> bool:
        """Whether second derivatives are exact."""
        return all(bridge.order == 2 for bridge in bridges(self.evaluator.objectives))

    @property
    def has_slopes(self) -> bool:
        """Whether first derivatives are exact."""
        return all(bridge.order > 0 for bridge in bridges(self.evaluator.objectives))

    @property
    def noise(self) -> float:
        """The largest relative noise of what runs on the host."""
        parts = bridges(self.evaluator.objectives)
        return max((bridge.differences.noise for bridge in parts), default=0.0)

    def noise_of(self, r: Float[np.ndarray, "n n_rows"]) -> float:
        """The noise, which is relative to a function's size, in units of the rows."""
        size = np.median(np.abs(r + self.shift / self.scale), axis=0).max(initial=1.0)
        return self.noise * float(size)

    def slopes(
        self, z: Float[np.ndarray, "n n_free"], r: Float[np.ndarray, "n n_rows"] | None = None
    ) -> tuple[Float[np.ndarray, "n n_rows"], Float[np.ndarray, "n n_rows n_free"]]:
        """The scaled rows with their slopes: exact ones, or forward differences, for which rows
        that are known are not evaluated again."""
        if self.is_quadratic:
            return self._expanded(z)
        if self.has_slopes:
            at = self.evaluator.jacobians(self.origin + z * self.unit)
            self.keep(z, at.values)
            J = at.gradients * self.unit / self.scale[:, None]
            return (at.values - self.shift) / self.scale, _bounded(J)
        r = self.values(z) if r is None else r
        n, L = z.shape
        h = float(np.clip(np.sqrt(self.noise_of(r)), *SCHEDULE.difference_steps))
        step = np.where(z + h > self.upper, -h, h)
        points = np.repeat(z[:, None], L, axis=1)
        points[:, np.arange(L), np.arange(L)] += step
        there = self.values(points.reshape(n * L, L)).reshape(n, L, -1)
        return r, _bounded(np.swapaxes((there - r[:, None]) / step[:, :, None], 1, 2))

    def bends(
        self,
        z: Float[np.ndarray, "n n_free"],
        r: Float[np.ndarray, "n n_rows"],
        mu: Float[np.ndarray, "n n_rows"],
    ) -> Float[np.ndarray, "n n_free n_free"]:
        """∂²(μ · r)/∂z_i∂z_j by forward differences, (L² + 3 L) / 2 values at each point, with the
        absolute values of its eigenvalues."""
        n, L = z.shape
        h = float(np.clip(self.noise_of(r) ** 0.25, *SCHEDULE.difference_steps))
        h = np.where(z + 2 * h > self.upper, -h, h)
        i, j = np.triu_indices(L)
        unit = np.concatenate([np.eye(L), np.eye(L)[i] + np.eye(L)[j]])
        rows = self.values((z[:, None] + h[:, None] * unit).reshape(-1, L)).reshape(
            n, len(unit), -1
        )
        rise = np.einsum("nkr,nr->nk", rows - r[:, None], mu)
        H = np.zeros((n, L, L))
        H[:, i, j] = (rise[:, L:] - rise[:, i] - rise[:, j]) / (h[:, i] * h[:, j])
        H[:, j, i] = H[:, i, j]
        values, vectors = np.linalg.eigh(_bounded(H))
        return (vectors * np.clip(np.abs(values), *SCHEDULE.bends)[:, None]) @ vectors.swapaxes(
            1, 2
        )

    def feasible_rows(self, r: Float[np.ndarray, "n n_rows"]) -> Bool[np.ndarray, " n"]:
        """Whether the constraints hold where the rows have these values."""
        M, end = self.n_objectives, self.n_objectives + self.n_inequalities
        inside = np.all(
            r[:, M:end] <= SCHEDULE.feasible * self.limits + self.margin, axis=1
        ) & np.all(np.abs(r[:, end:]) <= 10 * SCHEDULE.feasible, axis=1)
        return np.all(np.isfinite(r), axis=1) & inside

    @property
    def limits(self) -> Float[np.ndarray, " n_inequalities"]:
        """What allowed violations of inequalities are multiplied by."""
        scale = self.row_scale[: self.n_inequalities]
        return np.minimum(1.0, SCHEDULE.large / scale) if self.strict else np.ones_like(scale)

    def violation(self, r: Float[np.ndarray, "n n_rows"]) -> Float[np.ndarray, " n"]:
        """The largest violation of a constraint, in units of what may be left over."""
        M, end = self.n_objectives, self.n_objectives + self.n_inequalities
        over = np.maximum(r[:, M:end] / self.limits, 0.0).max(axis=1, initial=0.0)
        over = np.maximum(over, np.abs(r[:, end:]).max(axis=1, initial=0.0))
        return np.where(np.isfinite(r).all(axis=1), over / SCHEDULE.nearly_feasible, np.inf)

    def nearly_feasible(self, r: Float[np.ndarray, "n n_rows"]) -> Bool[np.ndarray, " n"]:
        """Whether constraints hold up to what searches leave over."""
        return self.violation(r) <= 1

    def merit(
        self,
        r: Float[np.ndarray, "n n_rows"],
        a: Float[np.ndarray, "n n_objectives"],
        tie: float | None = None,
    ) -> Float[np.ndarray, " n"]:
        """S with its tie-break, and a price for violations: what the search for the point above a
        makes small."""
        M, end = self.n_objectives, self.n_objectives + self.n_inequalities
        tie = self.tie if tie is None else tie
        merit = (r[:, :M] - a).max(axis=1) + tie * r[:, :M].sum(axis=1)
        merit = merit + self.price * np.maximum(r[:, M:end], 0.0).max(axis=1, initial=0.0)
        merit = merit + self.price * np.abs(r[:, end:]).max(axis=1, initial=0.0)
        return np.where(np.isfinite(merit), merit, np.inf)

    def known(self) -> Float[np.ndarray, "n n_objectives"]:
        """The scaled objectives of the archive."""
        return (self.archive.f - self.ideal) / self.span

    def known_merit(
        self, a: Float[np.ndarray, "n n_objectives"]
    ) -> tuple[Float[np.ndarray, " n"], np.ndarray]:
        """The least merit in the archive above each a, an upper bound of s*(a) that costs nothing,
        and where it is."""
        return best_levels(self.known(), a, self.tie)

    def tidy(self) -> None:
        """Reduces a large archive to its nondominated points."""
        if len(self.archive.f) > SCHEDULE.most_kept:
            keep = np.flatnonzero(nondominated(self.archive.f))
            keep = keep[scattered(self.archive.f[keep], SCHEDULE.fewest_kept)]
            self.archive = Archive(self.archive.z[keep], self.archive.f[keep])

    def keep(self, z: np.ndarray, raw: np.ndarray) -> None:
        """Takes the feasible ones of evaluated points into the archive."""
        inside = ((z >= self.lower - 1e-12) & (z <= self.upper + 1e-12)).all(axis=1)
        keep = inside & self.feasible_rows((raw - self.shift) / self.scale)
        if keep.any():
            self.archives.append(Archive(z[keep], raw[keep][:, : self.n_objectives]))


def nondominated(f: Float[np.ndarray, "n n_objectives"]) -> Bool[np.ndarray, " n"]:
    """Which points no other dominates; of equal ones the first."""
    import moocore

    return np.asarray(moocore.is_nondominated(f, keep_weakly=False), dtype=bool)


def scattered(f: Float[np.ndarray, "n n_objectives"], most: int) -> Int[np.ndarray, " k"]:
    """So many points at most, among them the least of each objective and all that are alone: one in
    each box of a grid."""
    if len(f) <= most:
        return np.arange(len(f))
    ends, low = f.argmin(axis=0), f.min(axis=0)
    unit = np.maximum(np.ptp(f, axis=0), np.finfo(float).tiny)
    finer, keep = 2, ends
    while True:
        boxes = np.floor((f - low) / unit * finer)
        found = np.unique(np.append(np.unique(boxes, axis=0, return_index=True)[1], ends))
        # Copies of one point stay in one box for ever.
        if len(found) > most or finer > SCHEDULE.finest_grid:
            return keep
        finer, keep = 2 * finer, found


def _is_positive(H: np.ndarray) -> bool:
    """Whether a matrix is positive semidefinite, up to rounding."""
    try:
        np.linalg.cholesky(H + SCHEDULE.rounding_of_hessians * np.abs(H).max() * np.eye(len(H)))
    except np.linalg.LinAlgError:
        return False
    return True


def _bounded(values: np.ndarray) -> np.ndarray:
    most = SCHEDULE.steepest
    if np.abs(values).max(initial=0.0) <= most:  # not where there is a NaN
        return values
    return np.clip(np.nan_to_num(values, nan=0.0, posinf=most, neginf=-most), -most, most)
