"""Looking at the set without Hessian matrices: in coordinates of a span, by gradients and products
of Hessians with vectors."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Array, Bool, Float

from ..objectives import Derivatives
from .conjugate import Solved, Systems
from .displacement import CRITICAL, Linearization
from .free_exploration import values_of
from .free_multipliers import Nodes, read_nodes
from .long_evaluator import LongEvaluator
from .schedule import Schedule
from .span import Span, leave_out, lengths
from .survey import AbstractSurvey, Sight

SLOPPY = 0.5
"""A system that ends with a larger relative residual gives no displacement."""

BENT = 2.0
"""Where the curvature is negative across U, so many times the largest curvature met is added along
ρ."""


@dataclass
class FreeSurvey(AbstractSurvey):
    """Points, corners and displacements are coordinates in a span, which grows with every look. It
    lives for one step.

    Tangents are those of the surface that is looked at, which its caller knows; only beyond the
    boundary of the set, where a surface has none that count, are they solved for.

    Attributes:
        evaluator: the objectives on long arrays.
        span: the subspace seen so far.
        corners: coordinates of the minimizers.
        diameter: of the set, as far as it is known.
        error: the latest error of the surface, relative to the diameter: systems are solved more
            exactly where it is small.
        scales: diagonals of the Hessians at some point near the set, as a preconditioner; and
            |g_m|/r_m there.
        schedule: the tuned numbers.
    """

    evaluator: LongEvaluator
    span: Span
    corners: Float[np.ndarray, "n_objectives n_variables"]
    diameter: float
    error: float = 1.0
    scales: tuple[Array, Float[np.ndarray, " n_objectives"]] | None = None
    schedule: Schedule = field(default_factory=Schedule)

    has_own_tangents: ClassVar[bool] = True

    @property
    def n_tangents(self) -> int:
        """The dimension of the set where all objectives take part."""
        return min(self.evaluator.n_objectives - 1, self.evaluator.n_variables)

    @property
    def left(self) -> float:
        """How many points may still be evaluated."""
        return self.evaluator.left

    @property
    def width(self) -> int:
        """The rows of the basis by now."""
        return self.span.used

    @property
    def tolerance(self) -> float:
        """The relative residual that systems are solved to: the error is to fall by more than that
        leaves."""
        numbers = self.schedule.free
        return float(np.clip(self.error, numbers.finest, numbers.coarsest))

    def values(self, points: Float[np.ndarray, "n width"]) -> Float[np.ndarray, "n n_objectives"]:
        """The objectives at points given by coordinates."""
        return values_of(self.evaluator, self.span, points)

    def see(
        self,
        points: Float[np.ndarray, "n n_variables"],
        faces: Bool[np.ndarray, "n n_objectives"],
        tangents: Float[np.ndarray, "n n_variables n_tangents"] | None = None,
        support: bool = False,
    ) -> Sight:
        """The normal displacements at points; with `support`, those beyond the boundary of the set
        with support rows."""
        sight = self._in_chunks(points, faces, tangents, keep=True)
        if not support:
            return sight
        return self._with_support(sight, faces, keep=True)

    def follow(
        self,
        points: Float[np.ndarray, "n n_variables"],
        faces: Bool[np.ndarray, "n n_objectives"],
        tangents: Float[np.ndarray, "n n_variables n_tangents"] | None = None,
    ) -> Sight:
        """The whole of d: it ends on the set, while y would leave out a part of the way where the
        tangents are not the set's."""
        return self._in_chunks(points, faces, tangents, keep=True, whole=True)

    def see_beyond(
        self, derivatives: Derivatives, faces: Bool[np.ndarray, "n n_objectives"]
    ) -> Linearization:
        """Displacements with support rows at points beyond the boundary."""
        return self._in_chunks(
            derivatives.points, faces, None, keep=True, support=True
        ).linearization

    def measure(self, points: np.ndarray, faces: np.ndarray, tangents: np.ndarray) -> Sight:
        """Displacements with support rows; of those that are not far only the length is right, and
        the span does not grow."""
        sight = self._with_support(
            self._in_chunks(points, faces, tangents, keep=False), faces, keep=False
        )
        far = (
            np.linalg.norm(sight.linearization.displacement, axis=1)
            > self.schedule.report.far * self.diameter
        )
        rows = np.flatnonzero(far & np.asarray(sight.linearization.valid))
        return (
            sight.with_rows(rows, self.see(points[rows], faces[rows], tangents[rows], support=True))
            if len(rows)
            else sight
        )

    def _with_support(self, sight: Sight, faces: np.ndarray, keep: bool) -> Sight:
        """With those rows seen again whose multipliers say that they lie beyond the boundary."""
        seen = sight.linearization
        unused = (np.asarray(seen.multipliers) == 0) & faces
        rows = np.flatnonzero(
            np.asarray(seen.valid) & unused.any(axis=1) & (np.asarray(seen.residual) > CRITICAL)
        )
        if not len(rows):
            return sight
        return sight.with_rows(
            rows,
            self._in_chunks(sight.derivatives.points[rows], faces[rows], None, keep, support=True),
        )

    def _in_chunks(
        self,
        points: np.ndarray,
        faces: np.ndarray,
        tangents: np.ndarray | None,
        keep: bool,
        support: bool = False,
        whole: bool = False,
    ) -> Sight:
        """All points, a chunk at a time; `keep` adds their displacements to the span, `whole`
        leaves tangents in them."""
        parts = []
        for rows, n in self.evaluator.batches(len(points)):
            along = None if tangents is None else tangents[rows]
            parts.append(self._see_chunk(points[rows], faces[rows], along, n, keep, support, whole))
        return Sight.joined(parts)

    def _see_chunk(
        self,
        points: np.ndarray,
        faces: np.ndarray,
        tangents: np.ndarray | None,
        n: int,
        keep: bool,
        support: bool,
        whole: bool,
    ) -> Sight:
        """The first n of a chunk of points."""
        x = self.span.points(points)
        values, gradients, gram = self.evaluator.look(x, n)
        slopes = np.zeros((*values.shape, points.shape[1]))
        if not keep:  # of use to the error estimate alone
            slopes = np.stack(
                [self.span.coordinates(gradients[:, m]) for m in range(values.shape[1])], axis=1
            )
        nodes = read_nodes(gram, faces, self.n_tangents, self.span.layout.rounding, support)
        solved = self._displaced(x, gradients, nodes, self._preconditioner(points, nodes), n)
        tangents_there = self._tangents(x, gradients, nodes, solved.largest, n) if support else ()
        came_far = ~solved.negative | (solved.products > 1)
        valid = nodes.usable & (solved.residual < SLOPPY) & came_far & np.isfinite(solved.residual)
        minimal = valid & ~solved.negative
        displacement = self._noted(
            leave_out(self.span.layout, solved.d, tangents_there, valid), keep
        )
        if tangents is None:
            tangents = np.zeros((*displacement.shape, self.n_tangents))
        along = np.einsum("nlk,nl->nk", tangents, displacement) * (not whole)
        y = displacement - np.einsum("nlk,nk->nl", tangents, along)
        found = Linearization(nodes.multipliers, nodes.residual, y, tangents, minimal, valid)
        derivatives = Derivatives(points[:n], values[:n], slopes[:n], None)
        miss = (
            self._miss(points, y, faces, nodes.residual, n)
            + solved.residual * np.linalg.norm(y, axis=1)
            if keep
            else None
        )
        return Sight(derivatives, found.take(np.arange(n)), None if miss is None else miss[:n])

    def _displaced(
        self, x: Array, gradients: Array, nodes: Nodes, preconditioner: tuple | None, n: int
    ) -> Solved:
        """D of all nodes; where the curvature across U is negative it is bent along ρ, and where
        that does not help stays so."""
        size = len(nodes.residual)
        systems = Systems(
            curvature=nodes.curvature,
            right=-nodes.curvature,
            absorbed=nodes.absorbed,
            projected=np.ones(size),
            shift=np.zeros(size),
            bend=np.zeros(size),
            tolerance=np.full(size, self.tolerance),
        )
        solved = self.evaluator.solve(x, gradients, systems, preconditioner, n)
        if not solved.negative[:n].any():
            return solved
        bend = np.where(
            solved.negative, BENT * solved.largest / np.maximum(nodes.residual, 1e-150) ** 2, 0.0
        )
        return self.evaluator.solve(x, gradients, systems._replace(bend=bend), None, n)

    def _tangents(
        self, x: Array, gradients: Array, nodes: Nodes, strength: np.ndarray, n: int
    ) -> tuple[Array, ...]:
        """The tangents of the set, H⁻¹Uᵀ, solved for."""
        size, tangents = len(nodes.residual), []
        for k in range(self.n_tangents):
            right = nodes.absorbed[:, k]
            systems = Systems(
                nodes.curvature,
                right,
                nodes.absorbed,
                np.zeros(size),
                strength,
                np.zeros(size),
                np.full(size, self.tolerance),
            )
            if right[:n].any():
                tangents.append(self.evaluator.solve(x, gradients, systems, None, n).d)
        return tuple(tangents)

    def _noted(self, d: Array, keep: bool) -> Float[np.ndarray, "n n_variables"]:
        """Coordinates of displacements; what the span lacks of them is added to it, or becomes a
        length in the last column."""
        layout = self.span.layout
        coordinates, rest = self.span.project(d)
        if not keep:
            coordinates[:, -1] = np.hypot(coordinates[:, -1], lengths(layout, rest))
            return coordinates
        self.span, new = self.span.extended(rest, 8 * layout.rounding * self.diameter)
        return coordinates + new

    def _miss(
        self, points: np.ndarray, y: np.ndarray, faces: np.ndarray, residual: np.ndarray, n: int
    ) -> Float[np.ndarray, " n"]:
        """By how much x + y misses the set: the share of |ρ| that is left there is the share of the
        way that is left.

        Gradients at x + y are evaluated for that. How far a linearization can be believed differs
        too much between problems.
        """
        _, _, gram = self.evaluator.look(self.span.points(points + y), n)
        left = read_nodes(gram, faces, self.n_tangents, self.span.layout.rounding).residual
        length = np.linalg.norm(y, axis=1)
        share = np.minimum(left / np.maximum(residual, 1e-300), 1.0)
        return np.maximum(share * length, length - self.schedule.look.longest * self.diameter)

    def _preconditioner(self, points: np.ndarray, nodes: Nodes) -> tuple[Array, np.ndarray] | None:
        """Diagonals of Hessians elsewhere, borrowed: H_m is of the size |g_m|/r_m, with r_m the
        distance to the minimizer."""
        if self.scales is None:
            return None
        diagonals, steepness = self.scales
        away = np.linalg.norm(points[:, None] - self.corners[None], axis=2)
        share = nodes.multipliers / (np.maximum(away, 1e-6 * self.diameter) * steepness)
        return diagonals, np.maximum(share, 1e-6 * share.max(axis=1, keepdims=True))
