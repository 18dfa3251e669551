"""The Pareto set as an atlas: trimmed Bézier simplices over one chart."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from ..bezier import Raveling
from ..kinds import kind
from ..simplex import check_on_simplex
from .patches import (
    Box,
    Chart,
    Claims,
    Label,
    Patch,
    ask_patches,
    best_levels,
    centered,
    variables,
)
from .pieces import PatchPoints, Piece, find_pieces, points_of_patches
from .schedule import SCHEDULE

Batch = Float[np.ndarray | Array, "*batch n_objectives"]
"""Points t of the simplex, or one number per objective and t."""

Values = Float[np.ndarray, "*batch n_objectives"]
"""The same as NumPy arrays."""


@kind("answer.units/1")
@dataclass(frozen=True)
class Units:
    """From the scaled numbers of the patches to the user's.

    Attributes:
        ideal: the best value of each objective on the front.
        span: from there to its worst value: negative for an objective that is maximized.
        lower: bounds of x, −inf where there is none.
        upper: bounds of x, +inf where there is none.
        origin: x of the variables that are not fixed at z = 0.
        unit: how much of x a unit of z is.
        n_auxiliary: how many of the last variables stand for kinks of the objectives; they are no
            part of x.
        values: of each variable the values that it may have, in order, empty for a continuous one;
            texts stand for their places, 0, 1, …. Empty where all variables are continuous.
    """

    ideal: Float[np.ndarray, " n_objectives"]
    span: Float[np.ndarray, " n_objectives"]
    lower: Float[np.ndarray, " n_variables"]
    upper: Float[np.ndarray, " n_variables"]
    origin: Float[np.ndarray, " n_free"]
    unit: Float[np.ndarray, " n_free"]
    n_auxiliary: int = 0
    values: tuple[tuple[float | str, ...], ...] = ()

    @cached_property
    def discrete(self) -> dict[int, Float[np.ndarray, " n_values"]]:
        """The numbers that variables which are not continuous may have, by variable."""
        return {
            i: np.arange(float(len(own))) if isinstance(own[0], str) else np.array(own, dtype=float)
            for i, own in enumerate(self.values)
            if own
        }

    def seen(self, x: Float[np.ndarray, "*batch n_variables"]) -> list[Any]:
        """The variables one by one as people give them, texts among them."""
        columns = list(np.moveaxis(x, -1, 0))
        for i, numbers in self.discrete.items():
            if (numbers == np.round(numbers)).all():  # whole numbers are shown as such
                columns[i] = np.round(columns[i]).astype(int)
            if isinstance(self.values[i][0], str):
                columns[i] = np.array(self.values[i])[columns[i]]
        return columns

    @cached_property
    def free(self) -> Int[np.ndarray, " n_free"]:
        """The numbers of the variables that are not fixed."""
        return np.flatnonzero(self.lower < self.upper)

    @cached_property
    def box(self) -> Box:
        """The bounds of z."""
        lower, upper = self.lower[self.free], self.upper[self.free]
        return (lower - self.origin) / self.unit, (upper - self.origin) / self.unit

    @property
    def searched(self) -> Box:
        """The box of x that gave the variables their units."""
        low, high = self.lower.copy(), self.upper.copy()
        low[self.free], high[self.free] = self.origin, self.origin + self.unit
        return low, high

    def x(self, z: Float[np.ndarray, "n n_free"]) -> Float[np.ndarray, "n n_variables"]:
        """The variables in the user's units, without auxiliary ones."""
        # Clipped, so that bounds hold to the last bit whatever the polynomials say.
        x = np.tile(np.where(self.lower < self.upper, 0.0, self.lower), (len(z), 1))
        x[:, self.free] = self.origin + z * self.unit
        x = np.clip(x, self.lower, self.upper)[:, : self.n_variables]
        for i, numbers in self.discrete.items():
            x[:, i] = numbers[np.abs(x[:, i, None] - numbers).argmin(axis=1)]
        return x

    @property
    def n_variables(self) -> int:
        """L, without auxiliary ones."""
        return len(self.lower) - self.n_auxiliary


class Exact(NamedTuple):
    """Answers above chart points: scaled variables and objectives, and the multipliers of the
    objectives, with sum 1."""

    z: Float[np.ndarray, "n n_free"]
    f: Float[np.ndarray, "n n_objectives"]
    weights: Float[np.ndarray, "n n_objectives"]


class ExactAround(NamedTuple):
    """One answer, and how its variables and objectives change with the chart point."""

    z: Float[np.ndarray, " n_free"]
    f: Float[np.ndarray, " n_objectives"]
    z_by_a: Float[np.ndarray, "n_free n_objectives"]
    f_by_a: Float[np.ndarray, "n_objectives n_objectives"]


@kind("answer.atlas/1")
@dataclass(frozen=True)
class BezierAtlas:
    """A Pareto set of any shape: Bézier simplices, each on a region where the same things are
    active, called like one Bézier simplex: t ∈ Δ^{M−1} to a design.

    Inside, the domain is a chart: the plane Σ a_m = 0 of objective values in units of their ranges
    (0 best, 1 worst). The front lies above it like a graph, one point above each a = f − mean f,
    which solves min s subject to f_m ≤ a_m + s (Pascoletti and Serafini). t lies on the chart by

        a(t) = (M − 1) (1/M − t),        t(f) = 1/M − (f − mean f) / (M − 1).

    So t means what it means on one simplex. At t = e_m the inequality of f_m binds before any
    other: the answer is the minimizer of f_m. On the face of k < M objectives J those outside of J
    are slack, because a_m + s ≥ (M − 1)/k ≥ 1: the answer is a Pareto point of the objectives J
    alone. And every Pareto point has its t(f) in the simplex, because f_m − mean f ≤ 1 − 1/M.

    Attributes:
        patches: the trimmed Bézier simplices.
        units: of objectives and variables.
        raveling: how x lies in a flat vector.
        coverage: the share of fresh chart points at which a patch held when the atlas was made.
        polisher: makes answers exact where patches are coarse: called with chart points and
            designs nearby it gives the `Exact` solutions above them, and its `around` one as
            `ExactAround`. None where they are not, and in files, which have no code of the problem.
    """

    patches: tuple[Patch, ...]
    units: Units = field(repr=False)
    raveling: Raveling = field(repr=False)
    coverage: float
    polisher: Any = field(default=None, repr=False, compare=False)

    @property
    def n_objectives(self) -> int:
        """M."""
        return len(self.units.ideal)

    @property
    def n_variables(self) -> int:
        """L."""
        return self.units.n_variables

    @property
    def degree(self) -> int:
        """The largest degree of a patch."""
        return max(patch.degree for patch in self.patches)

    def __call__(self, t: Batch) -> PyTree:
        """The designs at t, shaped like x0, with texts where variables have them. Bounds hold
        exactly."""
        return self.shaped(self.flat(t))

    def shaped(self, x: Float[np.ndarray, "*batch n_variables"]) -> PyTree:
        """Flat designs as people give them."""
        if self.raveling.is_vector:
            return x
        if not self.units.values:
            return self.raveling.unravel(x)
        # By name, a number or a text for each.
        return jax.tree.unflatten(self.raveling.treedef, self.units.seen(x))

    def flat(self, t: Batch) -> Float[np.ndarray, "*batch n_variables"]:
        """The designs at t as flat vectors."""
        z = self.answers(self.place(t)).z
        return self.units.x(z).reshape(*np.shape(t)[:-1], self.n_variables)

    def numbers(self, x: PyTree) -> PyTree:
        """A design as people give it with numbers in place of texts; an error in one line for a
        text that is none of the variable's."""
        leaves, treedef = jax.tree.flatten(x)
        texts = [isinstance(leaf, str) for leaf in leaves]
        if treedef != self.raveling.treedef or not any(texts):
            return x
        for i, is_text in enumerate(texts):
            own = self.units.values[i] if self.units.values else ()
            if is_text:
                if leaves[i] not in own:
                    raise ValueError(
                        f"x must have one of {', '.join(map(repr, own))}, got {leaves[i]!r}"
                    )
                leaves[i] = float(own.index(leaves[i]))
        return jax.tree.unflatten(treedef, leaves)

    def front(self, t: Batch) -> Values:
        """The objective values at t, as the patches have them where these are exact: then no
        objective is evaluated."""
        f = self.answers(self.place(t)).f
        return (self.units.ideal + f * self.units.span).reshape(np.shape(t))

    def weights(self, t: Batch) -> Values:
        """The multipliers of the objectives, in the user's units and with sum 1: the prices at
        which the design is the best.

        They are at least 0, for a maximized objective too: what a unit more of it is worth.
        """
        w = self.answers(self.place(t)).weights / np.abs(self.units.span)
        return (w / w.sum(axis=1, keepdims=True)).reshape(np.shape(t))

    def t(self, f: Values) -> Values:
        """Where objective values lie: t with `front(t)` = f for f on the front; for other f, that
        of the point that exceeds f least, or falls short of it most, in units of the ranges."""
        M, f = self.n_objectives, np.asarray(f, dtype=float)
        if f.ndim == 0 or f.shape[-1] != M or not np.isfinite(f).all():
            raise ValueError(f"f must be finite values of {M} objectives, got shape {f.shape}")
        a = centered(((f - self.units.ideal) / self.units.span).reshape(-1, M))
        width = self.stretch * max(M - 1, 1)
        t = 1 / M - a / width
        # Only values farther apart than the ranges leave the simplex, so they are not on the front.
        outside = t.min(axis=1) < 0
        if outside.any():
            own = centered(self.answers(a[outside]).f)
            t[outside] = 1 / M - own / width
        t = np.maximum(t, 0.0)
        return (t / t.sum(axis=1, keepdims=True)).reshape(f.shape)

    def holds(self, t: Batch) -> Bool[np.ndarray, "*batch"]:
        """Whether a patch holds at t; elsewhere the nearest one answers."""
        a = self.place(t)
        claims = self.ask(a)
        return ((claims.sign > -SCHEDULE.nearly) & (claims.a == a).all(axis=1)).reshape(
            np.shape(t)[:-1]
        )

    def label(self, t: Float[np.ndarray, " n_objectives"]) -> Label:
        """What is active at t."""
        return self.patches[int(self.ask(self.place(t)).number[0])].label

    def turned(self, signs: Float[np.ndarray, " n_objectives"]) -> "BezierAtlas":
        """The same set with objectives times these signs: from what is minimized to what people
        see, and back again."""
        if (signs > 0).all():
            return self  # with the points and pieces that it has already found
        ideal, span = signs * self.units.ideal, signs * self.units.span
        return replace(self, units=replace(self.units, ideal=ideal, span=span))

    @cached_property
    def points(self) -> PatchPoints:
        """Many points of the set, spread over all patches."""
        return points_of_patches(self.patches, self.units.box)

    @cached_property
    def _fits(self) -> Float[np.ndarray, "2 n_patches"]:
        """The degree of each patch, and its error."""
        return np.array([(patch.degree, patch.error) for patch in self.patches]).T

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """Pieces of full dimension, and curves and points beside them, with which meets which."""
        units, box = self.units, self.units.box
        # A patch has one value of each variable that is not continuous.
        own = [units.x(variables(p.label, p.control_points[:1], box))[0] for p in self.patches]
        chosen = [tuple((i, float(x[i])) for i in units.discrete) for x in own]
        return find_pieces(self.patches, self.points, box, chosen, units.n_auxiliary)

    # The chart: below, a are rows of the plane Σ a_m = 0, and scaled objectives and variables.

    def place(self, t: Batch) -> Chart:
        """The chart points a(t), one row per t."""
        t, M = np.asarray(t, dtype=float), self.n_objectives
        check_on_simplex(t, M)
        return centered(self.stretch * (M - 1) * (1 / M - t.reshape(-1, M)))

    @cached_property
    def stretch(self) -> float:
        """How far the simplex reaches beyond the ranges: to the ends that the patches have there.

        At the end of a front its objective is flat: an error ε of its best value is one of √ε in
        the worst values of the others, by which ranges fall short.
        """
        M = self.n_objectives
        if M < 2:
            return SCHEDULE.stretch
        ends = self.mapped(centered(2 * (M - 1) * (1 / M - np.eye(M)))).f
        reach = M / (M - 1) * float(centered(ends).max())
        return min(max(reach, 1.0) + SCHEDULE.stretch - 1, SCHEDULE.most_stretch)

    def answers(self, a: Chart) -> Exact:
        """The answers above chart points: those of the patches, made exact where that is
        possible."""
        if self.polisher is None:
            return self.mapped(a)
        found = self.polisher(a, self.mapped(a).z)
        # Another basin may have the better solution: that of the best point of the set.
        level, near = best_levels(self.points.f, a)
        doubt = np.flatnonzero(level < (found.f - a).max(axis=1) - SCHEDULE.lead)
        if len(doubt):
            other = self.polisher(a[doubt], self.points.z[near[doubt]])
            better = (other.f - a[doubt]).max(axis=1) < (found.f - a)[doubt].max(axis=1)
            for mine, theirs in zip(found, other, strict=True):
                mine[doubt[better]] = theirs[better]
        return found

    def excess(self, f: Chart, most: int) -> Chart:
        """By how much the scaled objectives of answers are above those given, at the chart points
        of these; 0 where that is not known.

        Answers are solved for only where those of the patches leave a doubt, and above `most` of
        these at most: half of them with the largest excess, the others evenly among the rest.
        """
        a = centered(f)
        excess = self.mapped(a).f - f
        doubt = np.flatnonzero(excess.max(axis=1) > 0)
        if self.polisher is not None and len(doubt):
            doubt = doubt[np.argsort(-excess[doubt].max(axis=1), kind="stable")]
            if len(doubt) > most:
                excess[doubt] = 0.0
                rest = np.linspace(most // 2, len(doubt) - 1, most - most // 2)
                doubt = doubt[np.append(np.arange(most // 2), rest.astype(int))]
            excess[doubt] = self.answers(a[doubt]).f - f[doubt]
        return excess

    def mapped(self, a: Chart) -> Exact:
        """The answers of the patches alone."""
        claims, (n, M), box = self.ask(a), a.shape, self.units.box
        L = len(box[0])
        found = Exact(np.empty((n, L)), np.empty((n, M)), np.empty((n, M)))
        for number in np.unique(claims.number):
            mine, label = np.flatnonzero(claims.number == number), self.patches[number].label
            y, (c, mean) = claims.y[mine], label.coordinates(claims.a[mine])
            found.z[mine] = variables(label, y, box)
            w = np.maximum(y[:, L + 1 : L + 1 + M], 0.0)
            found.weights[mine] = np.where(label.objectives, w, 0.0)
            y[:, L] += mean
            found.f[mine] = label.values(y, c)
        return found

    def ask(self, a: Chart) -> Claims:
        """What the patches say at chart points.

        Every point f of the set is an answer everywhere, with the level max(f − a). Where the
        patches have none, or one that is clearly worse than the best of `points`, they are asked
        below that point.
        """
        claims = ask_patches(self.patches, a, self.units.box)
        # The known points guard against patches that hold far away from where they were fitted.
        level, near = best_levels(self.points.f, a)
        # What the signs of a patch are below 0 is how far an objective that it leaves out is above
        # its level.
        above = claims.y[:, len(self.units.free)] - np.minimum(claims.sign, 0.0)
        # A patch of degree 0 is a point without a fitting error: that of the known point counts.
        degrees, errors = self._fits
        known = SCHEDULE.rounding + errors[self.points.patch[near]]
        error = np.where(degrees[claims.number] > 0, SCHEDULE.patch_error, known)
        lost = np.flatnonzero((claims.number < 0) | (above > level + error))
        if len(lost):
            below = centered(self.points.f[near[lost]])
            other = ask_patches(self.patches, below, self.units.box)
            for name in ("number", "y", "sign", "a"):
                getattr(claims, name)[lost] = getattr(other, name)
        return claims
