"""Curvature without Hessian matrices: products of Hessians with vectors, and conjugate gradients.
For as many variables as there may be.

Displacements take the tangents of the surface, which near the set are as good as the set's own;
only beyond the boundary of the set, where a surface has none that count, are they solved for. How
far a point then is from the set is measured by the gradients where it ends.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..evaluations import Evaluations
from ..kinds import kind
from ..objectives import Derivatives, FlatObjectives, count_objectives, find_multipliers
from ..precision import double_precision
from .conjugate import Kind, LongEvaluator, Solved, Systems
from .curvature import (
    Curvature,
    Descent,
    Frames,
    Record,
    Rows,
    Sample,
    Sight,
    at_width,
    uneven,
    with_coordinates,
)
from .displacement import CRITICAL, Column, Faces, Linearization, Values
from .matrices import KnownHessians
from .settings import Settings
from .span import HIGHEST, Layout, Span, lengths, resize

INDEPENDENT = 300.0
"""Differences of gradient directions whose squared length is below this many roundings count as
dependent on the others."""

ROUNDINGS = 64.0
"""A residual |ρ| of unit vectors below this many roundings may be 0."""

NEGLIGIBLE = 1e-14
"""Directions of the basis that all points use by less than this, beside the largest, are left
out."""


@kind("normal.subspace/1")
@dataclass(frozen=True)
class Subspace:
    """The subspace that was seen so far, and a preconditioner: what `Products` keep between steps.

    Attributes:
        span: what points are coordinates in.
        kind: how products with Hessians are made.
        diagonals: of the Hessians at some point.
        steepness: |g_m|/r_m there, with r_m the distance to the minimizer of f_m: the unit that
            diagonals are borrowed in, once minimizers are known.
    """

    span: Span
    kind: Kind
    diagonals: Array | None = None
    steepness: Float[np.ndarray, " n_objectives"] | None = None

    def open(
        self,
        objectives: FlatObjectives,
        settings: Settings,
        corners: Rows,
        diameter: float = 0.0,
        error: float = 1.0,
        spent: Evaluations | None = None,
    ) -> "Products":
        """The curvature for one step of a run that has spent so much."""
        span, spent = self.span, spent or Evaluations()
        size = len(corners), span.n_variables
        evaluator = LongEvaluator(objectives, *size, span.layout, self.kind, settings.budget, spent)
        numbers = (settings.schedule, settings.noise, error)
        return Products(evaluator, corners, diameter, *numbers, memory=self, tol=settings.tol)

    def points(self, rows: Rows) -> Float[np.ndarray, "n n_variables"]:
        """Points as variables on the host, in the precision of the run, gathered from all processes
        where there are several."""
        n, parts = len(rows), []
        for start in range(0, n, self.span.rows):
            some = np.minimum(np.arange(start, start + self.span.rows), n - 1)
            with double_precision():  # states are also read outside of a run
                found = self.span.points(rows[some])
            if not found.is_fully_addressable:
                from jax.experimental import multihost_utils

                found = multihost_utils.process_allgather(found, tiled=True)
            parts.append(np.asarray(found))
        return np.concatenate(parts)[:n]

    def tidied(self, record: Record, spare: float) -> tuple["Subspace", Record]:
        """Without directions that nothing in the record uses any more, where these are many.

        Such are those on the way to a minimizer or to a point of the set.
        """
        used, found = self.span.used, []
        # tangents lie in the span of points
        with_coordinates(record, lambda rows: found.append(rows) or rows, lambda rows: rows)
        stacked = np.concatenate([resize(rows, used) for rows in found])
        stacked = stacked[np.isfinite(stacked).all(axis=1)]
        if used <= spare * min(len(stacked), used) + self.span.rows:
            return self, at_width(record, used)
        _, singular, right = np.linalg.svd(stacked, full_matrices=False)
        kept = right[singular > NEGLIGIBLE * singular[0]]
        turned = with_coordinates(record, lambda rows: resize(rows, used) @ kept.T)
        return replace(self, span=self.span.rotated(kept)), turned


Memory = KnownHessians | Subspace
"""What a curvature keeps between steps."""


def start_memory(
    objectives: FlatObjectives, points: Float[np.ndarray, "n n_variables"], settings: Settings
) -> tuple[Memory, Rows]:
    """An empty memory, of the kind that the settings ask for; and points as rows of its
    curvature."""
    n_variables, layout = points.shape[1], settings.layout
    kind = settings.curvature(objectives, n_variables)
    if kind == "dense":
        return KnownHessians(), np.asarray(points, dtype=float)
    layout.check(n_variables)
    size = count_objectives(objectives, n_variables), n_variables
    batches = LongEvaluator(objectives, *size, layout, kind).batches(len(points))
    split = jax.jit(layout.split)
    placed = [split(np.asarray(points[rows], dtype=layout.dtype)) for rows, _ in batches]
    span, rows = Span.of(placed, layout.chunk(*size), layout)
    return Subspace(span, kind), rows[: len(points)]


class Nodes(NamedTuple):
    """What the inner products of gradients tell about each of n nodes.

    Attributes:
        multipliers: w, see `displacement`.
        residual: |ρ|.
        curvature: w_m/|g_m|: ρ and H are these combinations of gradients and Hessians.
        absorbed: U, orthonormal rows that span the differences of gradient directions, as
            combinations of gradients.
        usable: whether all numbers are finite.
    """

    multipliers: Values
    residual: Column
    curvature: Values
    absorbed: Float[np.ndarray, "n n_tangents n_objectives"]
    usable: Bool[np.ndarray, " n"]


def read_nodes(
    gram: Float[np.ndarray, "n n_objectives n_objectives"],
    faces: Faces,
    n_tangents: int,
    rounding: float,
    support: bool = False,
) -> Nodes:
    """Multipliers and absorbed directions of nodes; with `support` U is that of the multipliers'
    support (see `linearize`)."""
    usable = np.asarray(np.isfinite(gram).all(axis=(1, 2)))
    gram = np.where(usable[:, None, None], gram, np.eye(gram.shape[1]))
    size = np.sqrt(np.maximum(np.diagonal(gram, axis1=1, axis2=2), 0.0))
    size = np.where(size > 0, size, 1.0)
    gram = gram / (size[:, :, None] * size[:, None, :])
    w = find_multipliers(gram, faces)
    residual = np.sqrt(np.maximum(np.einsum("ni,nij,nj->n", w, gram, w), 0.0))
    members = np.where((support & (residual > CRITICAL))[:, None], faces & (w > 0), faces)
    apart = (np.eye(gram.shape[1])[None] - w[:, None, :]) * members[:, :, None]
    values, vectors = np.linalg.eigh(apart @ gram @ np.swapaxes(apart, 1, 2))
    values, vectors = values[:, ::-1][:, :n_tangents], vectors[:, :, ::-1][:, :, :n_tangents]
    kept = values > INDEPENDENT * rounding
    mixing = np.where(kept, 1 / np.sqrt(np.maximum(values, 1e-300)), 0.0)[:, :, None]
    absorbed = (mixing * np.swapaxes(vectors, 1, 2)) @ apart
    return Nodes(w, residual, w / size, absorbed / size[:, None, :], usable)


@dataclass
class Products(Curvature[LongEvaluator, Subspace]):
    """Products with Hessians, and conjugate gradients. The span grows with every look.

    Attributes:
        tol: of the run: minimizers are found to a share of it.
        reserved: how wide rows are.
    """

    borrows_tangents: ClassVar[bool] = True
    tol: float = field(kw_only=True, default=1e-6)
    reserved: int = field(init=False)

    def __post_init__(self) -> None:
        numbers, self.width = self.schedule, self.memory.span.used
        self.reserved = max(self.width, self.corners.shape[1])
        self.rounding = self.memory.span.layout.rounding
        exact = self.memory.kind == "free"
        self.product_rounding = self.rounding if exact else float(np.sqrt(self.rounding))
        self.precision = max(numbers.descent_share * self.tol, 4 * self.rounding)
        self.far = numbers.near

    def reserve(self, n: int) -> int:
        """Each look may add a direction to the basis."""
        self.reserved = max(self.reserved, self.width + n)
        self.corners = resize(self.corners, self.reserved)
        return self.reserved

    def values(self, points: Rows) -> Values:
        """The objectives at points."""
        parts = [self.evaluator.values(x, n)[:n] for x, _, n in self._batches(points)]
        return np.concatenate(parts)

    def slopes(self, points: Rows) -> Values:
        """|g_m| at points."""
        grams = [self.evaluator.look(x, n)[2][:n] for x, _, n in self._batches(points)]
        return np.sqrt(np.maximum(np.diagonal(np.concatenate(grams), axis1=1, axis2=2), 0.0))

    def sample(self, descent: Descent) -> Sample:
        """Newton steps by conjugate gradients, solved to the share of the slope that is left.

        Where the slope says that the step is negligible it is not solved for.
        """
        numbers, diagonals, parts = self.schedule, self.memory.diagonals, []
        for x, rows, n in self._batches(descent.trial):
            values, gradients, gram = self.evaluator.look(x, n)
            some = descent.take(rows)
            w, best = some.weights, some.best
            pairs = w[:, :, None] * w[:, None, :]
            # An objective without weight may be undefined here (0 · nan is nan): it is left out.
            square = np.sum(np.where(pairs != 0, pairs * gram, 0.0), axis=(1, 2))
            value = np.sum(np.where(w != 0, w * values, 0.0), axis=1)
            slope = np.sqrt(np.maximum(square, 0.0))
            first = np.where(np.isfinite(some.first_slope), some.first_slope, slope)
            left = slope / np.maximum(first, 1e-300)
            asked = np.clip(left, numbers.finest, numbers.coarsest_newton)
            # The law behind β is one of exact steps; and that steps are in proportion to slopes is
            # one of quadratics.
            asked = np.where(some.factor == 1, asked, numbers.finest)
            expected = np.linalg.norm(best.newton, axis=1) * slope / best.slope
            expected = np.where(some.factor == 1, expected, np.inf)
            length = np.linalg.norm(some.trial, axis=1)
            size = np.maximum(length, numbers.descent_share * some.scale)
            going = np.isfinite(slope) & ~(expected <= self.precision * size)
            going &= np.arange(len(rows)) < n  # copies that fill up a batch are no directions
            systems = self._systems(w, -w * going[:, None], asked)
            scales = None if diagonals is None else (diagonals, w)
            reach = np.maximum(length, some.scale)
            solved = self._solve(x, gradients, systems, scales, slope, n, reach)
            finite = np.isfinite(slope) & np.isfinite(solved.size)
            d = _across(self.memory.span.layout, solved.d, (), going & finite)
            newton = -self._coordinates(d, 8 * self.rounding * float(descent.scale.max()))
            newton = np.where(finite[:, None], newton, np.nan)
            parts.append([part[:n] for part in (values, value, slope, newton)])
        unknown = np.full(len(descent.trial), np.nan)
        values, value, slope, newton = map(np.concatenate, zip(*parts, strict=True))
        x = resize(descent.trial, self.reserved)
        return Sample(x, values, value, slope, newton, unknown, unknown)

    def flatness(self, sample: Sample, weights: Values) -> tuple[Column, Column]:
        """Conjugate gradients with a random right-hand side meet a direction without curvature,
        where there is one.

        The other objectives' gradients would not do: where they broke a tie, they are across it.
        """
        numbers, parts = self.schedule, []
        for x, rows, n in self._batches(sample.x):
            others = weights[rows] == 0
            gradients = _randomized(self.memory.span.layout, self.evaluator.look(x, n)[1], others)
            asked = np.full(len(rows), numbers.finest)
            systems = self._systems(weights[rows], others.astype(float), asked)
            solved = self.evaluator.solve(x, gradients, systems, None, n, numbers.singular_products)
            met = solved.largest > 0
            flatness = np.where(met, solved.least / np.where(met, solved.largest, 1.0), 1.0)
            parts.append((flatness[:n], solved.largest[:n]))
        flatness, strength = map(np.concatenate, zip(*parts, strict=True))
        return flatness, strength

    def look(
        self,
        points: Rows,
        faces: Faces,
        tangents: Frames,
        near: bool = False,
        support: bool = False,
        whole: bool = False,
    ) -> Sight:
        """Across the tangents of the surface; the whole of d for points on their way, which ends on
        the set, while y would leave out a part of the way where the tangents are not the set's."""
        sight = self._see(points, faces, tangents, keep=True, whole=whole)
        return self._with_support(sight, faces, keep=True) if support else sight

    def look_back(self, sight: Sight, rows: Bool[np.ndarray, " n"], faces: Faces) -> Linearization:
        """With tangents that are solved for."""
        points = sight.derivatives.points[rows]
        return self._see(points, faces[rows], None, keep=True, support=True).linearization

    def measure(self, points: Rows, faces: Faces, tangents: Frames) -> Sight:
        """Of displacements that are not far only the length is right, and the span does not
        grow."""
        sight = self._see(points, faces, tangents, keep=False)
        sight = self._with_support(sight, faces, keep=False)
        found = sight.linearization
        far = np.linalg.norm(found.displacement, axis=1) > self.far * self.diameter
        rows = np.flatnonzero(far & found.valid)
        if not len(rows):
            return sight
        again = self.look(points[rows], faces[rows], tangents[rows], support=True)
        return sight._replace(linearization=found.with_rows(rows, again.linearization))

    def directions(self, n: int) -> Rows:
        """Random ones, added to the basis; where it is complete, combinations of it."""
        ((rows, _),) = self.evaluator.batches(n)
        before, span = self.width, self.memory.span
        nothing = span.points(np.zeros((len(rows), before)))
        self._coordinates(_randomized(span.layout, nothing, np.arange(len(rows)) < n), 0.0)
        new = np.eye(self.reserved)[before : min(before + n, self.width)]
        return np.concatenate([new, resize(uneven(n - len(new), self.width), self.reserved)])

    def settle(self, corners: Rows, diameter: float, memory: object = None) -> None:
        """With a preconditioner from the middle of the corners, unless there is one."""
        self.corners, self.diameter = resize(corners, self.reserved), diameter
        known = memory if isinstance(memory, Subspace) else self.memory
        if known.steepness is None:
            middle = self.corners.mean(axis=0)[None]
            ((x, _, _),) = self._batches(middle)
            diagonals, steepness = self.evaluator.diagonals(x[0]), None
            if diagonals is not None and diameter > 0:
                away = np.linalg.norm(self.corners - middle, axis=1)
                slopes = np.maximum(self.slopes(middle)[0], 1e-150)
                steepness = slopes / np.maximum(away, 1e-300)
            known = replace(known, diagonals=diagonals, steepness=steepness)
        self.memory = replace(known, span=self.memory.span)

    def _batches(self, points: Rows) -> Iterator[tuple[Array, np.ndarray, int]]:
        """Long points on their devices, batch by batch, which rows they are and how many count."""
        for rows, n in self.evaluator.batches(len(points)):
            yield self.memory.span.points(points[rows]), rows, n

    def _systems(
        self,
        curvature: Values,
        right: Values,
        tolerance: Column,
        absorbed: Float[np.ndarray, "n n_tangents n_objectives"] | None = None,
        shift: Column | None = None,
    ) -> Systems:
        """Systems that are not bent, without U unless it is given."""
        zero = np.zeros(len(curvature))
        shift = zero if shift is None else shift
        if absorbed is None:  # as many rows as others have: every shape is compiled for
            absorbed = np.zeros((len(zero), self.n_tangents, curvature.shape[1]))
        return Systems(curvature, right, absorbed, shift, zero, tolerance)

    def _solve(
        self,
        x: Array,
        gradients: Array,
        systems: Systems,
        scales: tuple[Array, np.ndarray] | None,
        slope: Column,
        n: int,
        scale: Column | None = None,
    ) -> Solved:
        """Where the curvature is negative it is bent along ρ, of length `slope`; where that does
        not help it stays so.

        Steps of Newton's method, which know the scale of x, count as such where they are out of
        reach: a norm has no curvature along its gradient, and rounding decides its sign.
        """
        numbers = self.schedule
        solved = self.evaluator.solve(x, gradients, systems, scales, n)
        negative, strength = solved.negative, solved.largest
        if scale is not None:
            length = lengths(self.memory.span.layout, solved.d)
            negative = negative | (length > numbers.longest_step * scale)
        if not negative[:n].any():
            return solved
        if scale is not None:
            # Directions met by chance say nothing about the size of the curvature: for β it must
            # be that of the same direction everywhere. Without any, steps have the scale of x.
            strength = np.abs(self.evaluator.strengths(x, gradients, systems.curvature, n))
            least = slope / (numbers.bend * scale)
            strength = np.where(strength > numbers.singular * least, strength, least)
        bend = numbers.bend * strength / np.maximum(slope, 1e-150) ** 2
        bend = np.where(negative & np.isfinite(bend), bend, 0.0)
        return self.evaluator.solve(x, gradients, systems._replace(bend=bend), None, n)

    def _see(
        self,
        points: Rows,
        faces: Faces,
        tangents: Frames | None,
        keep: bool,
        support: bool = False,
        whole: bool = False,
    ) -> Sight:
        """All points, a batch at a time; `keep` adds their displacements to the span, `whole`
        leaves tangents in them."""
        numbers, k, parts = self.schedule, self.n_tangents, []
        tolerance = float(np.clip(self.error, numbers.finest, numbers.coarsest))
        if tangents is None:
            tangents = np.zeros((len(points), self.reserved, k))
        for x, rows, n in self._batches(points):
            values, gradients, gram = self.evaluator.look(x, n)
            slopes = np.zeros((*values.shape, self.reserved))
            if not keep:  # of use to the error estimate alone
                for m in range(values.shape[1]):
                    slopes[:, m, : self.width] = self.memory.span.coordinates(gradients[:, m])
            nodes = read_nodes(gram, faces[rows], k, self.rounding, support)
            ways = (nodes.curvature, np.full(len(rows), tolerance), nodes.absorbed)
            systems = self._systems(ways[0], -ways[0], *ways[1:])
            scales = self._preconditioner(points[rows], nodes)
            solved = self._solve(x, gradients, systems, scales, nodes.residual, n)
            own = []
            for right in np.swapaxes(nodes.absorbed, 0, 1) if support else ():
                if right[:n].any():  # H⁻¹Uᵀ, the tangents of the set
                    along = self._systems(ways[0], right, *ways[1:], solved.largest)
                    own.append(self.evaluator.solve(x, gradients, along, None, n).d)
            # A system that was ended by its first product has no solution, and no distance of 0;
            # unless its right-hand side is rounding, as on a surface that is exact.
            solvable = ~solved.negative | (solved.products > 1)
            solvable &= nodes.usable & (solved.residual < numbers.gain)
            solvable &= np.arange(len(rows)) < n  # copies that fill up a batch are no directions
            exact = nodes.usable & ~solvable & (solved.size <= ROUNDINGS * self.rounding)
            d = _across(self.memory.span.layout, solved.d, tuple(own), solvable)
            y, T = self._coordinates(d, 8 * self.rounding * self.diameter, keep), tangents[rows]
            if not whole:
                y = y - np.einsum("nlk,nk->nl", T, np.einsum("nlk,nl->nk", T, y))
            miss = solved.residual * np.linalg.norm(y, axis=1)
            if keep:
                miss += self._miss(points[rows], y, faces[rows], nodes.residual, n)
            minimal = (solvable & ~solved.negative) | exact
            seen = (points[rows], values, slopes, miss, nodes.multipliers, nodes.residual)
            seen = (*seen, y, T, minimal, solvable | exact)
            parts.append([part[:n] for part in seen])
        x, values, slopes, miss, *rest = map(np.concatenate, zip(*parts, strict=True))
        derivatives = Derivatives(x, values, slopes, None)
        return Sight(derivatives, Linearization(*rest), miss if keep else None)

    def _with_support(self, sight: Sight, faces: np.ndarray, keep: bool) -> Sight:
        """With those rows seen again whose multipliers say that they lie beyond the boundary."""
        first = sight.linearization
        rows = np.flatnonzero(first.beyond(faces))
        if not len(rows):
            return sight
        again = self._see(sight.derivatives.points[rows], faces[rows], None, keep, support=True)
        return sight._replace(linearization=first.with_rows(rows, again.linearization))

    def _coordinates(self, vectors: Array, least: float, keep: bool = True) -> Rows:
        """Coordinates of vectors, which are used up; what the span lacks of them is added to it,
        or, unless they are kept, becomes a length in the last column."""
        layout = self.memory.span.layout
        longest = float(lengths(layout, vectors).max())
        within, rest = self.memory.span.project(vectors)
        found = resize(within, self.reserved)
        if not keep:
            found[:, -1] = np.hypot(found[:, -1], lengths(layout, rest))
            return found
        # what a projection leaves of a vector within the span is rounding of its length
        span = self.memory.span.extended(rest, max(least, 8 * self.rounding * longest))
        if span.used > self.reserved:
            raise ValueError(
                f"{self.reserved} numbers per point were reserved, got {span.used}; reserve one for"
                " each point before looking"
            )
        if span.used > self.width:
            found = found + resize(span.coordinates(rest), self.reserved)
        self.memory, self.width = replace(self.memory, span=span), span.used
        return found

    def _miss(
        self, points: Rows, y: Rows, faces: np.ndarray, residual: np.ndarray, n: int
    ) -> Column:
        """By how much x + y misses the set: the share of |ρ| that is left there is the share of the
        way that is left.

        How far a linearization can be believed differs too much between problems.
        """
        _, _, gram = self.evaluator.look(self.memory.span.points(points + y), n)
        left = read_nodes(gram, faces, self.n_tangents, self.rounding).residual
        length = np.linalg.norm(y, axis=1)
        share = np.minimum(left / np.maximum(residual, 1e-300), 1.0)
        return np.maximum(share * length, length - self.schedule.straight * self.diameter)

    def _preconditioner(self, points: Rows, nodes: Nodes) -> tuple[Array, np.ndarray] | None:
        """Diagonals of Hessians elsewhere, borrowed: H_m is of the size |g_m|/r_m, with r_m the
        distance to the minimizer."""
        diagonals, steepness = self.memory.diagonals, self.memory.steepness
        if diagonals is None or steepness is None:
            return None
        away, least = points[:, None] - self.corners[None], self.schedule.negligible
        away = np.maximum(np.linalg.norm(away, axis=2), least * self.diameter)
        share = nodes.multipliers / (away * steepness)
        return diagonals, np.maximum(share, least * share.max(axis=1, keepdims=True))


@partial(jax.jit, static_argnums=0)
def _across(layout: Layout, rows: Array, others: tuple[Array, ...], usable: Array) -> Array:
    """Each row without its part in the span of the others of its row; zeros where it is not usable,
    whatever it holds."""
    if others:
        stacked = jnp.stack(others, axis=1)
        gram = jnp.einsum("nil,njl->nij", stacked, stacked, precision=HIGHEST)
        right = jnp.einsum("nil,nl->ni", stacked, rows, precision=HIGHEST)
        trace = jnp.trace(gram, axis1=1, axis2=2)[:, None, None]
        # zero vectors among the others are no directions
        ridge = (jnp.finfo(rows.dtype).eps * trace + 1e-30) * jnp.eye(len(others))
        share = jnp.linalg.solve(gram + ridge.astype(gram.dtype), right[:, :, None])[:, :, 0]
        rows = rows - jnp.einsum("nk,nkl->nl", share, stacked)
    return layout.split(jnp.where(usable[:, None], rows, 0.0))


@partial(jax.jit, static_argnums=0)
def _randomized(layout: Layout, rows: Array, chosen: Array) -> Array:
    """With random vectors in place of the chosen rows."""
    random = jax.random.normal(jax.random.key(0), rows.shape, rows.dtype)
    return layout.split(jnp.where(chosen[..., None], random, rows))
