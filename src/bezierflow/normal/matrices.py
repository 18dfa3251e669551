"""Curvature from Hessian matrices, which are computed, or borrowed from points nearby.

What is borrowed of H_m is r_m H_m/|g_m|, with r_m the distance to the minimizer of f_m. For any
power of a norm it does not change along rays from there, and across the gradient, where it matters,
it is the same for every increasing function of f_m.

With a Hessian that is a little off, the displacement y₁ at x leaves a share q of the distance. A
second one, from x + y₁ with the same Hessian, measures that share, q = |y₂|/|y₁|, and x + y₁ + y₂
misses the set by about q|y₂|: a *chord*. So two Jacobians replace a Jacobian and a Hessian, for 2M
gradients instead of (L + 1)M, and measure their own error.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Float

from ..evaluations import Evaluations
from ..kinds import kind
from ..objectives import Derivatives, FlatObjectives, JaxEvaluator, bridges, replace_rows
from ..precision import ROUNDING
from .curvature import (
    Curvature,
    Descent,
    Frames,
    Record,
    Rows,
    Sample,
    Sight,
    steepness,
    uneven,
)
from .displacement import Column, Faces, Linearization, Values, linearize
from .settings import Settings

INDEFINITE = 1e-10
"""Below this, in units of its norm, an eigenvalue makes a Hessian count as indefinite."""


@kind("normal.known_hessians/1")
@dataclass(frozen=True)
class KnownHessians:
    """Derivatives with Hessians at all points where a run computed them: what `Matrices` keep
    between steps."""

    derivatives: Derivatives | None = None

    def open(
        self,
        objectives: FlatObjectives,
        settings: Settings,
        corners: Rows,
        diameter: float = 0.0,
        error: float = 1.0,
        spent: Evaluations | None = None,
    ) -> "Matrices":
        """The curvature for one step of a run that has spent so much."""
        n_objectives, n_variables = corners.shape
        evaluator = JaxEvaluator(objectives, n_objectives, n_variables, settings.budget, spent)
        return Matrices(
            evaluator, corners, diameter, settings.schedule, settings.noise, error, memory=self
        )

    def points(self, rows: Rows) -> Float[np.ndarray, "n n_variables"]:
        """Points as variables, which the rows are."""
        return rows

    def tidied(self, record: Record, spare: float) -> tuple["KnownHessians", Record]:
        """The memory without what nothing in the record needs any more, and the record in its
        coordinates: variables stay what they are."""
        return self, record

    def lenders(self, corners: Rows, apart: float) -> Derivatives | None:
        """The points that can lend a Hessian, given the minimizers; None if there are none.

        One at a corner has no gradient of that corner's objective, and so nothing to lend.
        """
        if self.derivatives is None:
            return None
        away = _distances(self.derivatives.points, corners)
        clear = away > apart * _distances(corners, corners).max()
        usable = (clear & (np.linalg.norm(self.derivatives.gradients, axis=2) > 0)).all(axis=1)
        return self.derivatives.take(usable) if usable.any() else None


@dataclass
class Matrices(Curvature[JaxEvaluator, KnownHessians]):
    """Hessian matrices with their factors: up to some hundred variables."""

    memory: KnownHessians = field(kw_only=True, default_factory=KnownHessians)

    def __post_init__(self) -> None:
        numbers, self.width = self.schedule, self.evaluator.n_variables
        self.rounding = self.product_rounding = float(np.finfo(float).eps)
        self.precision, self.far = numbers.descent_precision, numbers.far
        # A displacement that is the noise of differences does not shrink when it is followed.
        parts = [one for one in bridges(self.evaluator.objectives) if not one.order]
        noise = max((one.differences.accuracy for one in parts), default=0.0)
        self.far = max(self.far, min(numbers.far_in_noise * noise, numbers.near))

    def reserve(self, n: int) -> int:
        """L, whatever is looked at."""
        return self.width

    def values(self, points: Rows) -> Values:
        """The objectives at points."""
        return self.evaluator.values(points)

    def slopes(self, points: Rows) -> Values:
        """|g_m| at points."""
        return np.linalg.norm(self.evaluator.jacobians(points).gradients, axis=2)

    def sample(self, descent: Descent) -> Sample:
        """Newton steps H⁻¹g with a positive definite stand-in for each H."""
        derivatives = self.compute(descent.trial)
        weights, used = descent.weights, np.asarray(descent.weights != 0)
        sums = []
        with np.errstate(invalid="ignore"):
            for part in (derivatives.values, derivatives.gradients, derivatives.hessians):
                assert part is not None
                # An objective without weight may be undefined here (0 · nan is nan): it is left
                # out, not multiplied by 0.
                shape = (*weights.shape, *[1] * (part.ndim - 2))
                weighted = np.where(used.reshape(shape), part * weights.reshape(shape), 0.0)
                sums.append(np.sum(weighted, axis=1))
            value, gradient, hessian = sums
            slope = np.linalg.norm(gradient, axis=1)
        usable = np.isfinite(gradient).all(axis=1) & np.isfinite(hessian).all(axis=(1, 2))
        usable = np.asarray(usable)
        g = np.where(usable[:, None], gradient, 0.0)
        h = np.where(usable[:, None, None], hessian, np.eye(gradient.shape[1]))
        size, strength = np.linalg.norm(g, axis=1), np.linalg.norm(h, axis=(1, 2))
        # In units where the gradient and the Hessian have length 1, so that no scale of f can over-
        # or underflow.
        direction = g / np.where(size > 0, size, 1.0)[:, None]
        h = h / np.where(strength > 0, strength, 1.0)[:, None, None]
        own = np.linalg.eigvalsh(h)
        # A Hessian of zeros says nothing: it is what a function with a kink at its minimizer may be
        # made to return there.
        flatness = np.where(strength > 0, np.abs(own).min(axis=1), 1.0)
        bend = np.where(own[:, 0] <= INDEFINITE, self.schedule.bend, 0.0)
        bent = h + bend[:, None, None] * (direction[:, :, None] * direction[:, None, :])
        own, vectors = np.linalg.eigh(bent)
        own = np.maximum(np.abs(own), ROUNDING)
        step = np.einsum("nij,nj->ni", vectors, np.einsum("nji,nj->ni", vectors, direction) / own)
        step = step * (size / np.where(strength > 0, strength, 1.0))[:, None]
        newton = np.where(usable[:, None], step, np.nan)
        sums = (derivatives.points, derivatives.values, value, slope)
        return Sample(*sums, newton, flatness, strength)

    def flatness(self, sample: Sample, weights: Values) -> tuple[Column, Column]:
        """Known from the eigenvalues behind the Newton step."""
        return sample.flatness, sample.strength

    def look(
        self,
        points: Rows,
        faces: Faces,
        tangents: Frames,
        near: bool = False,
        support: bool = False,
        whole: bool = False,
    ) -> Sight:
        """With a Hessian at every point, whose tangents are better than any other; or along chords,
        where the surface is near the set and its own tangents are better than borrowed ones."""
        start = self.borrow(points) if near else self.compute(points)
        first = linearize(start, faces, support)
        if not near:
            return Sight(start, first)
        start, first, miss = self.along_chords(start, first, faces, support)
        return Sight(start, first._replace(tangents=tangents), miss)

    def look_back(self, sight: Sight, rows: Bool[np.ndarray, " n"], faces: Faces) -> Linearization:
        """From the same derivatives."""
        return linearize(sight.derivatives.take(rows), faces[rows], support=True)

    def measure(self, points: Rows, faces: Faces, tangents: Frames) -> Sight:
        """With borrowed Hessians along chords where points are near the set, and with Hessians of
        their own where borrowed ones make no sense; far points are followed with such in any
        case."""
        borrows = self.memory.lenders(self.corners, self.schedule.negligible) is not None
        start = self.borrow(points)
        first = linearize(start, faces, support=True)
        if borrows:
            length = np.linalg.norm(first.displacement, axis=1)
            near = np.flatnonzero(first.valid & (length <= self.far * self.diameter))
            settled = self.along_chords(start.take(near), first.take(near), faces[near], True)[1]
            first = first.with_rows(near, settled)
            lost = np.flatnonzero(~first.valid)
            if len(lost):
                own = linearize(self.compute(points[lost]), faces[lost], support=True)
                first = first.with_rows(lost, own)
        return Sight(start, first)

    def directions(self, n: int) -> Rows:
        """The same always."""
        return uneven(n, self.width)

    def settle(self, corners: Rows, diameter: float, memory: object = None) -> None:
        """With the Hessians of a memory, unless it has none."""
        self.corners, self.diameter = corners, diameter
        if memory is not None:
            self.memory = memory if isinstance(memory, KnownHessians) else KnownHessians()

    def compute(self, points: Rows) -> Derivatives:
        """Derivatives with Hessians computed at the points; those that are finite are
        remembered."""
        found, known = self.evaluator.hessians(points), self.memory.derivatives
        assert found.hessians is not None
        kept = found.take(np.asarray(np.isfinite(found.hessians).all(axis=(1, 2, 3))))
        kept = kept if known is None else known.join(kept)
        assert kept.hessians is not None
        if kept.hessians.size <= self.schedule.lent_numbers:
            self.memory = KnownHessians(kept)
        return found

    def borrow(self, points: Rows) -> Derivatives:
        """Gradients at the points, with Hessians lent by the nearest ones that can; computed ones
        if there are none."""
        lenders = self.memory.lenders(self.corners, self.schedule.negligible)
        if lenders is None:
            return self.compute(points)
        assert lenders.hessians is not None
        borrowers = self.evaluator.jacobians(points)
        nearest = np.argmin(_distances(points, lenders.points), axis=1)
        own, lent = (
            steepness(one.points, one.gradients, self.corners) for one in (borrowers, lenders)
        )
        scale = own / lent[nearest]
        return replace(borrowers, hessians=lenders.hessians[nearest] * scale[:, :, None, None])

    def along_chords(
        self, start: Derivatives, first: Linearization, faces: Faces, support: bool = False
    ) -> tuple[Derivatives, Linearization, Column]:
        """Linearizations with borrowed Hessians, followed along their chords; where a chord is
        rejected a Hessian is computed.

        Returns the derivatives, with computed Hessians where they were needed; the linearizations
        with the chords as displacements; and by how much each may miss the set, not a number where
        that follows from the displacement as usual.
        """
        step = first.displacement
        there = replace(self.evaluator.jacobians(start.points + step), hessians=start.hessians)
        second = linearize(there, faces, support)
        length, remaining = (np.linalg.norm(one, axis=1) for one in (step, second.displacement))
        share = remaining / np.maximum(length, 1e-300)
        # the ratio of such steps to the first ones means nothing
        rounding = remaining <= ROUNDING * self.diameter
        miss = np.where(rounding, remaining, np.minimum(share, 1.0) * remaining)
        accepted = ((share <= self.schedule.gain) | rounding) & first.valid & second.valid
        settled = first._replace(displacement=step + second.displacement)
        rejected = np.flatnonzero(~accepted)
        if not len(rejected):
            return start, settled, miss
        own = self.compute(start.points[rejected])
        assert start.hessians is not None
        assert own.hessians is not None
        start = replace(start, hessians=replace_rows(start.hessians, rejected, own.hessians))
        again, left = linearize(own, faces[rejected], support), np.full(len(rejected), np.nan)
        return start, settled.with_rows(rejected, again), replace_rows(miss, rejected, left)


def _distances(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None] - others[None], axis=2)
