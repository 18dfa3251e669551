"""The Pareto set as an atlas: trimmed Bézier simplices over one chart."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from ..bezier import Raveling
from ..runs import kind
from .asking import SIGN, WORSE, Claims, ask_patches, best_levels, centered, variables
from .patches import Label, Patch
from .pieces import Piece, Points, find_pieces, points_of_patches


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
    """

    ideal: Float[np.ndarray, " n_objectives"]
    span: Float[np.ndarray, " n_objectives"]
    lower: Float[np.ndarray, " n_variables"]
    upper: Float[np.ndarray, " n_variables"]
    origin: Float[np.ndarray, " n_free"]
    unit: Float[np.ndarray, " n_free"]
    n_auxiliary: int = 0

    @cached_property
    def free(self) -> Int[np.ndarray, " n_free"]:
        """The numbers of the variables that are not fixed."""
        return np.flatnonzero(self.lower < self.upper)

    @cached_property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """The bounds of z."""
        return (self.lower[self.free] - self.origin) / self.unit, (
            self.upper[self.free] - self.origin
        ) / self.unit

    def x(self, z: Float[np.ndarray, "n n_free"]) -> Float[np.ndarray, "n n_variables"]:
        """The variables in the user's units, within their bounds exactly, without auxiliary
        ones."""
        x = np.tile(np.where(self.lower < self.upper, 0.0, self.lower), (len(z), 1))
        x[:, self.free] = self.origin + z * self.unit
        return np.clip(x, self.lower, self.upper)[:, : self.n_variables]

    def times(self, units: Float[np.ndarray, " n_variables"]) -> "Units":
        """The same for variables in units of their own."""
        factor = np.concatenate([units, np.ones(self.n_auxiliary)])
        free = factor[self.free]
        scaled = {"lower": self.lower * factor, "upper": self.upper * factor}
        return replace(self, **scaled, origin=self.origin * free, unit=self.unit * free)

    @property
    def n_variables(self) -> int:
        """L, without auxiliary ones."""
        return len(self.lower) - self.n_auxiliary


@kind("answer.atlas/1")
@dataclass(frozen=True)
class BezierAtlas:
    """A Pareto set of any shape: Bézier simplices, each on a region of the chart where the same
    things are active.

    The chart is the plane Σ a_m = 0 of objective values in units of their ranges: the front lies
    above it like a graph, one point of the front above each a = f − mean(f). Above a the answer is
    that of the patch whose multipliers and slacks are all at least 0; where several are, of the one
    that is lowest.

    Attributes:
        patches: the trimmed Bézier simplices.
        units: of objectives and variables.
        raveling: how x lies in a flat vector.
        coverage: the share of fresh chart points at which a patch held when the atlas was made.
    """

    patches: tuple[Patch, ...]
    units: Units = field(repr=False)
    raveling: Raveling = field(repr=False)
    coverage: float

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

    def chart(
        self, f: Float[np.ndarray, "*batch n_objectives"]
    ) -> Float[np.ndarray, "*batch n_objectives"]:
        """The chart points of objective values in the user's units. Any values have one, also such
        that nothing reaches."""
        scaled = (np.asarray(f, dtype=float) - self.units.ideal) / self.units.span
        return scaled - scaled.mean(axis=-1, keepdims=True)

    def __call__(self, a: Float[np.ndarray | Array, "*batch n_objectives"]) -> PyTree:
        """The designs above chart points, shaped like x0. Bounds hold exactly."""
        x = self.flat(a)
        return x if self.raveling.is_vector else self.raveling.unravel(x)

    def flat(
        self, a: Float[np.ndarray | Array, "*batch n_objectives"]
    ) -> Float[np.ndarray, "*batch n_variables"]:
        """The designs above chart points as flat vectors."""
        return self.units.x(self.scaled(self._rows(a)[0])).reshape(
            *np.shape(a)[:-1], self.n_variables
        )

    def scaled(self, a: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_free"]:
        """The scaled variables above chart points."""
        return self._variables(self.ask(a))

    def front(
        self, a: Float[np.ndarray | Array, "*batch n_objectives"]
    ) -> Float[np.ndarray, "*batch n_objectives"]:
        """The objective values above chart points, as the patches have them: no objective is
        evaluated."""
        rows, shape = self._rows(a)
        f = np.empty((len(rows), self.n_objectives))
        claims = self.ask(rows)
        for number in np.unique(claims.number):
            mine = claims.number == number
            label = self.patches[number].label
            c, mean = label.coordinates(claims.a[mine])
            y = claims.y[mine].copy()
            y[:, len(label.side)] += mean
            f[mine] = label.values(y, c)
        return (self.units.ideal + f * self.units.span).reshape(*shape, self.n_objectives)

    def weights(
        self, a: Float[np.ndarray | Array, "*batch n_objectives"]
    ) -> Float[np.ndarray, "*batch n_objectives"]:
        """The multipliers of the objectives, in the user's units and with sum 1: the prices at
        which the design is the best.

        They are at least 0, for a maximized objective too: what a unit more of it is worth.
        """
        rows, shape = self._rows(a)
        claims, M = self.ask(rows), self.n_objectives
        active = np.array([patch.label.objectives for patch in self.patches])[claims.number]
        start = len(self.units.free) + 1
        w = np.where(active, np.maximum(claims.y[:, start : start + M], 0.0), 0.0) / np.abs(
            self.units.span
        )
        return (w / w.sum(axis=1, keepdims=True)).reshape(*shape, M)

    def turned(self, signs: Float[np.ndarray, " n_objectives"]) -> "BezierAtlas":
        """The same set with objectives times these signs: from what is minimized to what people
        see, and the same back again."""
        if (signs > 0).all():
            return self
        return replace(
            self,
            units=replace(self.units, ideal=signs * self.units.ideal, span=signs * self.units.span),
        )

    def holds(
        self, a: Float[np.ndarray | Array, "*batch n_objectives"]
    ) -> Bool[np.ndarray, "*batch"]:
        """Whether a patch holds above chart points; elsewhere the nearest one answers."""
        rows, shape = self._rows(a)
        claims = self.ask(rows)
        return ((claims.sign > -SIGN) & (claims.a == rows).all(axis=1)).reshape(shape)

    def ask(self, a: Float[np.ndarray, "n n_objectives"]) -> Claims:
        """What the patches say at chart points.

        Every point f of the set is an answer everywhere, with the level max(f − a). Where the
        patches have none, or one that is clearly worse than the best of `points`, they are asked
        below that point. To the level of a patch that does not hold is added what its signs are
        below 0: that is how far an objective that it leaves out is above the level.
        """
        claims = ask_patches(self.patches, a, self.units.box)
        level, near = best_levels(self.points.f, a)
        above = claims.y[:, len(self.units.free)] - np.minimum(claims.sign, 0.0)
        lost = np.flatnonzero((claims.number < 0) | (above > level + WORSE))
        if len(lost):
            claims.put(
                lost, ask_patches(self.patches, centered(self.points.f[near[lost]]), self.units.box)
            )
        return claims

    @cached_property
    def points(self) -> Points:
        """Many points of the set, spread over all patches."""
        return points_of_patches(self.patches, self.units.box)

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """What the set is made of: pieces of full dimension, and curves and points beside them,
        with which meets which."""
        return find_pieces(self.patches, self.points, self.units.box, self.units.n_auxiliary)

    def label(self, a: Float[np.ndarray, " n_objectives"]) -> Label:
        """What is active above a chart point."""
        return self.patches[int(self.ask(np.asarray(a, dtype=float)[None]).number[0])].label

    def _rows(self, a: np.ndarray | Array) -> tuple[np.ndarray, tuple[int, ...]]:
        a = np.asarray(a, dtype=float)
        if a.ndim == 0 or a.shape[-1] != self.n_objectives or not np.isfinite(a).all():
            raise ValueError(
                f"a must be finite chart points with {self.n_objectives} coordinates last, got"
                f" shape {a.shape}"
            )
        return centered(a.reshape(-1, self.n_objectives)), a.shape[:-1]

    def _variables(self, claims: Claims) -> Float[np.ndarray, "n n_free"]:
        z = np.empty((len(claims.number), len(self.units.free)))
        for number in np.unique(claims.number):
            mine = claims.number == number
            z[mine] = variables(self.patches[number].label, claims.y[mine], self.units.box)
        return z
