"""An honest error estimate for any surface: its normal distance to the Pareto-critical set at t that no fit ever saw."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Float

from ..bezier import BezierSimplex, design_matrix, surface_tangents
from ..evaluation import Derivatives, JaxEvaluator
from .chord import settle_chords
from .descent import descend, start_descent
from .displacement import Linearization
from .flags import Flag, by_cause
from .held_out import held_out_points, suspect_points
from .lending import KnownHessians
from .schedule import ReportSchedule, Schedule
from .shape import dominated_fraction, fold_fraction, largest_gap, weakly_pareto_vertices
from .survey import Survey

POINT = 1e-9
"""A set smaller than this share of |x| is taken for a single point, and distances are measured in units of this."""

LONGEST_CORRECTION = 0.5
"""A displacement is shortened to this share of the diameter before the point is moved by it: a longer one could lead anywhere."""

CURVED = 1e-3
"""A corner is a smooth minimum if its gradient is below this share of the usual one, and quadratic if its Hessian is above it."""


@dataclass(frozen=True)
class ErrorEstimate:
    """How far a surface is from the Pareto set, measured at held-out t. Distances are in the units of x; float() gives the rms.

    Attributes:
        rms: Root mean square of the distances.
        max: The largest of them.
        bound: What the true largest distance, both ways, is expected to stay below: three times `max`.
        diameter: Of the surface together with the minimizers that its corners should be; divide by it for relative errors.
        n_samples: How many held-out t there were, vertices included.
        n_invalid: At how many of them the distance could not be estimated; they count with the diameter.
        residual: The largest |ρ| = |Σ w_m ĝ_m| among them but for the vertices: scale-free, between 0 and 1.
        folded: Share of inner t where the surface runs backwards.
        gap: The largest jump between neighboring points of an edge over the median jump: how unevenly t is spread.
        dominated: Share of the sampled points that another sampled point clearly dominates.
        flags: What is wrong, if anything, with advice as their values.
        evaluations: How many points were evaluated for this estimate.
        front: The largest distance of objective values in units of their ranges; of an atlas only.
        coverage: The share of fresh chart points with a certified answer; of an atlas only.
        violation: The largest violation of a constraint in units of its scale; of an atlas only.
        by_objective: Of a surrogate only: the RMS error of predictions of held-out evaluations, for each objective in its units.
            All distances are then such errors in units of the objectives' ranges, and `diameter` is 1.
    """

    rms: float
    max: float
    bound: float
    diameter: float
    n_samples: int
    n_invalid: int
    residual: float
    folded: float
    gap: float
    dominated: float
    flags: tuple[Flag, ...]
    evaluations: int
    front: float | None = None
    coverage: float | None = None
    violation: float | None = None
    by_objective: tuple[float, ...] | None = None

    def __float__(self) -> float:
        return self.rms

    @classmethod
    def unknown(cls, diameter: float) -> "ErrorEstimate":
        """That nothing was estimated, for a surface of this diameter."""
        nan = float("nan")
        return cls(nan, nan, nan, diameter, 0, 0, nan, nan, nan, nan, (Flag.NOT_ESTIMATED,), 0)

    @property
    def advice(self) -> tuple[str, ...]:
        """What to tell a person about the flags, causes first."""
        return tuple(flag.value for flag in by_cause(self.flags))

    @property
    def relative(self) -> float:
        """The largest distance over the diameter: what `tol` is compared with."""
        return self.max / self.diameter if self.diameter > 0 else self.max


def estimate_error(
    objectives: Callable[[Array], Array],
    surface: BezierSimplex,
    seed: int = 0,
    n: int | None = None,
    tol: float | None = None,
    known: KnownHessians | None = None,
    schedule: Schedule | None = None,
) -> ErrorEstimate:
    """The error of a surface, whichever flow made it: the distance to the critical set of face J(t) at held-out t.

    Each distance is the normal displacement with support rows (see `displacement`); where it is large, the point is followed to
    the set by repeating it, and the length of its path counts. Corners count with the distance to the minimizer that a descent
    from there finds. The estimate needs Hessians at about n points, or gradients at about 2n where a run has left Hessians nearby
    (see `chord`). It does not know the true set: a surface on a local Pareto set is told apart only where `dominated` or the
    curvature shows it.

    Args:
        objectives: x (L,) -> (M,), twice differentiable, in double precision.
        surface: control points (n_controls, L).
        seed: draws the held-out t.
        n: about how many held-out t, 200 by default; vertices come on top.
        tol: relative to the diameter; a larger estimate raises the flag NOT_AT_TOLERANCE.
        known: Hessians that a run has computed, to borrow from.
        schedule: the tuned numbers.
    """
    schedule = schedule or Schedule()
    samples = _draw(surface, n or schedule.report.samples, seed)
    evaluator = JaxEvaluator(objectives, *samples.corners.shape)
    # Hessians far from the set, where a descent may start, are not lent to others.
    corners = _measure_corners(Survey(evaluator, samples.corners, 0.0, schedule=schedule))
    diameter = set_diameter(np.concatenate([samples.points, corners.minimizers[corners.found]]))
    diameter = max(diameter, POINT * float(np.abs(samples.points).max()))
    survey = Survey(evaluator, samples.corners, diameter, known or KnownHessians(), schedule)
    inside = _measure(survey, samples.points[surface.n_objectives :], samples.t[surface.n_objectives :] > 0)
    return _report(surface, samples, corners, inside, survey, tol)


def set_diameter(points: Float[np.ndarray, "n n_variables"]) -> float:
    """The diameter of points, up to a factor √2 at most: the largest distance from the one farthest from their mean."""
    farthest = points[np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1))]
    return float(np.linalg.norm(points - farthest, axis=1).max())


class _Samples(NamedTuple):
    """Held-out t with the corners first, their points, and how many there are before those near corners and folds."""

    t: Float[np.ndarray, "n n_objectives"]
    points: Float[np.ndarray, "n n_variables"]
    n_even: int

    @property
    def corners(self) -> Float[np.ndarray, "n_objectives n_variables"]:
        """The corners of the surface."""
        return self.points[: self.t.shape[1]]


def _draw(surface: BezierSimplex, n: int, seed: int) -> _Samples:
    """Corners, about n held-out t, and some near corners and folds."""
    control_points, M, D = np.asarray(surface.control_points, dtype=float), surface.n_objectives, surface.degree
    held_out = held_out_points(control_points, M, D, n, seed)
    t = np.concatenate([np.eye(M), held_out, suspect_points(control_points, M, D, n // 5, seed)])
    return _Samples(t, design_matrix(t, D) @ control_points, M + len(held_out))


class _Corners(NamedTuple):
    """Derivatives at the corners, the minimizers found from there, whether they were found, and how far they are."""

    derivatives: Derivatives
    minimizers: Float[np.ndarray, "n_objectives n_variables"]
    found: Bool[np.ndarray, " n_objectives"]
    distance: Float[np.ndarray, " n_objectives"]


def _measure_corners(survey: Survey) -> _Corners:
    """Each objective minimized from its corner. The last Newton step, too short to be worth an evaluation, counts as well."""
    corners, schedule = survey.corners, survey.schedule.descent
    first = survey.look(corners)
    descent = descend(lambda points: first, start_descent(np.eye(len(corners)), corners), schedule)
    while descent.active.any():
        descent = descend(survey.look, descent, schedule)
    step = np.nan_to_num(descent.factor[:, None] * descent.best.newton)
    minimizers = descent.best.x - np.where(descent.converged[:, None], step, 0.0)
    return _Corners(first, minimizers, descent.converged, np.linalg.norm(minimizers - corners, axis=1))


class _Measured(NamedTuple):
    """Derivatives and linearizations at points; their distances, whether those are valid, and whether points are minimal."""

    derivatives: Derivatives
    first: Linearization
    distance: Float[np.ndarray, " n"]
    valid: Bool[np.ndarray, " n"]
    minimal: Bool[np.ndarray, " n"]


def _measure(survey: Survey, points: np.ndarray, faces: np.ndarray) -> _Measured:
    """Distances of points to the critical sets of their faces; invalid ones are the diameter."""
    borrowed = survey.can_borrow
    derivatives = survey.look_by_gradients(points)
    first = survey.linearize(derivatives, faces, support=True)
    far = survey.schedule.report.far * survey.diameter
    if borrowed:
        near = np.flatnonzero(first.valid & (np.linalg.norm(first.displacement, axis=1) <= far))
        first = _along_chords(survey, derivatives, first, faces, near)
    return _Measured(derivatives, first, *_follow(survey, points, first, faces))


def _along_chords(
    survey: Survey, derivatives: Derivatives, first: Linearization, faces: np.ndarray, rows: np.ndarray
) -> Linearization:
    """The linearizations with borrowed Hessians in these rows followed along their chords."""
    settled = settle_chords(survey, derivatives.take(rows), first.take(rows), faces[rows], support=True)[1]
    parts = [np.array(part) for part in first]
    for part, better in zip(parts, settled, strict=True):
        part[rows] = better
    return Linearization(*parts)


def _follow(
    survey: Survey, points: np.ndarray, first: Linearization, faces: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances, whether they are valid and whether points are minimal, with far points followed to the set."""
    numbers, diameter = survey.schedule.report, survey.diameter
    valid, minimal, moved = np.array(first.valid), np.array(first.minimal), np.array(first.displacement)
    start = np.linalg.norm(moved, axis=1)
    last = start.copy()
    far = np.flatnonzero(valid & (start > numbers.far * diameter))
    for _ in range(numbers.corrections):
        if len(far) == 0 or len(far) > survey.evaluator.left:
            break
        moved[far] *= np.minimum(1, LONGEST_CORRECTION * diameter / np.linalg.norm(moved[far], axis=1))[:, None]
        following = survey.linearize(survey.look(points[far] + moved[far]), faces[far], support=True)
        moved[far] += following.displacement
        valid[far], minimal[far] = following.valid, following.minimal
        last[far] = np.linalg.norm(following.displacement, axis=1)
        far = far[following.valid & (last[far] > numbers.far * diameter)]
    # A point that does not come nearer has no distance that could be vouched for.
    valid[far] &= last[far] < start[far] / 2
    return np.where(valid, np.maximum(np.linalg.norm(moved, axis=1), last), diameter), valid, minimal


def _report(
    surface: BezierSimplex, samples: _Samples, corners: _Corners, inside: _Measured, survey: Survey, tol: float | None
) -> ErrorEstimate:
    """The figures and flags of all samples. Corners with a singular Hessian are no single points, and do not count."""
    M, degree, numbers = surface.n_objectives, surface.degree, survey.schedule.report
    control_points = np.asarray(surface.control_points, dtype=float)
    derivatives = corners.derivatives.join(inside.derivatives)
    counted = np.concatenate([~_singular_corners(derivatives, M), np.ones(len(inside.valid), dtype=bool)])
    distance = np.concatenate([np.where(corners.found, corners.distance, survey.diameter), inside.distance])[counted]
    valid = np.concatenate([corners.found, inside.valid])
    even = np.flatnonzero((samples.t > 0).all(axis=1) & valid & (np.arange(len(valid)) < samples.n_even))
    even = even[even >= M]
    tangents = surface_tangents(control_points, samples.t[even], degree)
    largest = float(distance.max(initial=0.0))
    shares = _Shares(
        folded=fold_fraction(derivatives.gradients[even], tangents, np.asarray(inside.first.multipliers)[even - M]),
        dominated=dominated_fraction(derivatives.values),
        invalid=float(np.mean(~valid[counted])),
        saddles=float(np.sum(~inside.minimal) / counted.sum()),
        point=set_diameter(samples.points) <= POINT * float(np.abs(samples.points).max()),
    )
    missed = bool((corners.distance[corners.found] > numbers.missed_corner * survey.diameter).any())
    above_tol = tol is not None and largest > tol * survey.diameter
    return ErrorEstimate(
        rms=float(np.sqrt(np.mean(distance**2))),
        max=largest,
        bound=numbers.safety * largest,
        diameter=survey.diameter,
        n_samples=int(counted.sum()),
        n_invalid=int(np.sum(~valid[counted])),
        residual=float(np.max(np.where(inside.valid, inside.first.residual, 0.0), initial=0.0)),
        folded=shares.folded,
        gap=largest_gap(control_points, M, degree),
        dominated=shares.dominated,
        flags=_flags(derivatives, shares, missed, above_tol, numbers),
        evaluations=int(survey.evaluator.evaluations.objective),
    )


def _singular_corners(derivatives: Derivatives, n_objectives: int) -> np.ndarray:
    """Which objectives have a Hessian at their corner (the first rows) that leaves the minimizer undetermined.

    The corner must be a smooth minimum for that: its gradient small beside those elsewhere (else it is a kink, like a norm's)
    and its Hessian not (else the objective is flatter than quadratic, like a high power of a norm, and nothing can be said).
    """
    assert derivatives.hessians is not None
    corner = np.arange(n_objectives)
    own, slope = derivatives.hessians[corner, corner], np.asarray(np.linalg.norm(derivatives.gradients, axis=2))
    curvature = np.asarray(np.linalg.norm(derivatives.hessians, axis=(2, 3)))
    usable = np.asarray(np.isfinite(own).all(axis=(1, 2)))
    smooth = slope[corner, corner] < CURVED * np.nanmedian(slope, axis=0)
    quadratic = curvature[corner, corner] > CURVED * np.nanmedian(curvature, axis=0)
    values = np.abs(np.linalg.eigvalsh(np.where(usable[:, None, None], own, np.eye(own.shape[-1]))))
    return usable & smooth & quadratic & (values.min(axis=1) <= Schedule().descent.singular * values.max(axis=1))


class _Shares(NamedTuple):
    """Shares of samples on folds, dominated, without a valid distance, or no minima across the set; is the set a single point?"""

    folded: float
    dominated: float
    invalid: float
    saddles: float
    point: bool


def _flags(derivatives: Derivatives, shares: _Shares, missed: bool, above_tol: bool, numbers: ReportSchedule) -> tuple[Flag, ...]:
    """What is wrong with a surface, the most general first."""
    n_objectives, n_variables = derivatives.gradients.shape[1:]
    found = {
        Flag.NOT_AT_TOLERANCE: above_tol,
        Flag.CORNERS_MISSED: missed,
        Flag.NOT_SIMPLICIAL: not shares.point and (shares.folded > numbers.folded or shares.dominated > numbers.dominated),
        Flag.MINIMIZER_NOT_UNIQUE: _singular_corners(derivatives, n_objectives).any(),
        Flag.WEAKLY_PARETO_VERTEX: not shares.point and weakly_pareto_vertices(derivatives.values, n_objectives).any(),
        Flag.FEW_VARIABLES: n_variables < n_objectives - 1,
        Flag.WRONG_BRANCH: shares.saddles - shares.invalid > numbers.invalid,
        Flag.ESTIMATE_INVALID: shares.invalid > numbers.invalid,
    }
    return tuple(flag for flag, raised in found.items() if raised)
