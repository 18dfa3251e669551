"""An honest error estimate for any surface: its normal distance to the Pareto-critical set at t
that no fit ever saw."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Float

from ..answer import ErrorEstimate, Flag
from ..bezier import BezierSimplex, design_matrix, surface_tangents
from ..objectives import Derivatives, JaxEvaluator
from .chord import settle_chords
from .descent import descend, start_descent
from .displacement import Linearization
from .held_out import held_out_points, suspect_points
from .lending import KnownHessians
from .schedule import ReportSchedule, Schedule
from .shape import dominated_rows, fold_fraction, largest_gap, rounding_of, weakly_pareto_vertices
from .survey import AbstractSurvey, Survey

POINT = 1e-9
"""A set smaller than this share of |x|, or of 1 near the origin, is taken for a single point, and
has that for its diameter."""

LONGEST_CORRECTION = 0.5
"""A displacement is shortened to this share of the diameter before the point is moved by it: a
longer one could lead anywhere."""

CURVED = 1e-3
"""A corner is a smooth minimum if its gradient is below this share of the usual one, and quadratic
if its Hessian is above it."""


def estimate_error(
    objectives: Callable[[Array], Array],
    surface: BezierSimplex,
    seed: int = 0,
    n: int | None = None,
    tol: float | None = None,
    known: KnownHessians | None = None,
    schedule: Schedule | None = None,
) -> ErrorEstimate:
    """The error of a surface, whichever flow made it: the distance to the critical set of face J(t)
    at held-out t.

    Each distance is the normal displacement with support rows (see `displacement`); where it is
    large, the point is followed to the set by repeating it, and the length of its path counts.
    Corners count with the distance to the minimizer that a descent from there finds. The estimate
    needs Hessians at about n points, or gradients at about 2n where a run has left Hessians nearby
    (see `chord`). It does not know the true set: a surface on a local Pareto set is told apart only
    where `dominated` or the curvature shows it.

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
    samples = draw_samples(surface, n or schedule.report.samples, seed)
    evaluator = JaxEvaluator(objectives, *samples.corners.shape)
    # Hessians far from the set, where a descent may start, are not lent to others.
    corners = _measure_corners(Survey(evaluator, samples.corners, 0.0, schedule=schedule))
    diameter = set_diameter(np.concatenate([samples.points, corners.minimizers[corners.found]]))
    size = max(float(np.abs(samples.points).max()), 1.0)
    one_point = diameter <= POINT * size
    if known is None or one_point:  # Hessians are lent in units of distances to the corners
        known = KnownHessians()
    survey = Survey(evaluator, samples.corners, size if one_point else diameter, known, schedule)
    inside = _measure(
        survey, samples.points[surface.n_objectives :], samples.t[surface.n_objectives :] > 0
    )
    corners = corners._replace(
        singular=_singular_corners(
            corners.derivatives.join(inside.derivatives), surface.n_objectives
        )
    )
    return report(
        surface, samples, corners, inside, survey, tol, int(evaluator.evaluations.objective)
    )


def set_diameter(points: Float[np.ndarray, "n n_variables"]) -> float:
    """The diameter of points, up to a factor √2 at most: the largest distance from the one farthest
    from their mean."""
    farthest = points[np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1))]
    return float(np.linalg.norm(points - farthest, axis=1).max())


class Samples(NamedTuple):
    """Held-out t with the corners first, their points, and how many there are before those near
    corners and folds."""

    t: Float[np.ndarray, "n n_objectives"]
    points: Float[np.ndarray, "n n_variables"]
    n_even: int

    @property
    def corners(self) -> Float[np.ndarray, "n_objectives n_variables"]:
        """The corners of the surface."""
        return self.points[: self.t.shape[1]]


def draw_samples(surface: BezierSimplex, n: int, seed: int) -> Samples:
    """Corners, about n held-out t, and some near corners and folds."""
    control_points, M, D = (
        np.asarray(surface.control_points, dtype=float),
        surface.n_objectives,
        surface.degree,
    )
    held_out = held_out_points(control_points, M, D, n, seed)
    t = np.concatenate([np.eye(M), held_out, suspect_points(control_points, M, D, n // 5, seed)])
    return Samples(t, design_matrix(t, D) @ control_points, M + len(held_out))


class Corners(NamedTuple):
    """Derivatives at the corners, the minimizers found from there, whether they were found, how far
    they are.

    `singular` says which are no single points.
    """

    derivatives: Derivatives
    minimizers: Float[np.ndarray, "n_objectives n_variables"]
    found: Bool[np.ndarray, " n_objectives"]
    distance: Float[np.ndarray, " n_objectives"]
    singular: Bool[np.ndarray, " n_objectives"]


def _measure_corners(survey: Survey) -> Corners:
    """Each objective minimized from its corner. The last Newton step, too short to be worth an
    evaluation, counts as well."""
    corners, schedule = survey.corners, survey.schedule.descent
    first = survey.look(corners)
    descent = descend(lambda points: first, start_descent(np.eye(len(corners)), corners), schedule)
    while descent.active.any():
        descent = descend(survey.look, descent, schedule)
    step = np.nan_to_num(descent.factor[:, None] * descent.best.newton)
    minimizers = descent.best.x - np.where(descent.converged[:, None], step, 0.0)
    unknown = np.zeros(len(corners), dtype=bool)
    return Corners(
        first, minimizers, descent.converged, np.linalg.norm(minimizers - corners, axis=1), unknown
    )


class Measured(NamedTuple):
    """Derivatives and linearizations at points; the ways to the set, their lengths, whether valid;
    whether points are minimal."""

    derivatives: Derivatives
    first: Linearization
    moved: Float[np.ndarray, "n n_variables"]
    distance: Float[np.ndarray, " n"]
    valid: Bool[np.ndarray, " n"]
    minimal: Bool[np.ndarray, " n"]


def _measure(survey: Survey, points: np.ndarray, faces: np.ndarray) -> Measured:
    """Distances of points to the critical sets of their faces; invalid ones are the diameter."""
    borrowed = survey.can_borrow
    derivatives = survey.look_by_gradients(points)
    first = survey.linearize(derivatives, faces, support=True)
    far = survey.schedule.report.far * survey.diameter
    if borrowed:
        near = np.flatnonzero(first.valid & (np.linalg.norm(first.displacement, axis=1) <= far))
        first = _along_chords(survey, derivatives, first, faces, near)
    return Measured(derivatives, first, *follow_far(survey, points, first, faces, None))


def _along_chords(
    survey: Survey,
    derivatives: Derivatives,
    first: Linearization,
    faces: np.ndarray,
    rows: np.ndarray,
) -> Linearization:
    """The linearizations with borrowed Hessians in these rows followed along their chords."""
    settled = settle_chords(
        survey, derivatives.take(rows), first.take(rows), faces[rows], support=True
    )[1]
    parts = [np.array(part) for part in first]
    for part, better in zip(parts, settled, strict=True):
        part[rows] = better
    return Linearization(*parts)


def follow_far(
    survey: AbstractSurvey,
    points: np.ndarray,
    first: Linearization,
    faces: np.ndarray,
    tangents: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Ways to the set, their lengths, whether they are valid and whether points are minimal, with
    far points followed to it."""
    numbers, diameter = survey.schedule.report, survey.diameter
    valid, minimal, moved = (
        np.array(first.valid),
        np.array(first.minimal),
        np.array(first.displacement),
    )
    start = np.linalg.norm(moved, axis=1)
    last = start.copy()
    far = np.flatnonzero(valid & (start > numbers.far * diameter))
    for _ in range(numbers.corrections):
        if len(far) == 0 or len(far) > survey.left:
            break
        moved[far] *= np.minimum(
            1, LONGEST_CORRECTION * diameter / np.linalg.norm(moved[far], axis=1)
        )[:, None]
        along = None if tangents is None else tangents[far]
        following = survey.see(
            points[far] + moved[far], faces[far], along, support=True
        ).linearization
        moved[far] += following.displacement
        valid[far], minimal[far] = following.valid, following.minimal
        last[far] = np.linalg.norm(following.displacement, axis=1)
        far = far[following.valid & (last[far] > numbers.far * diameter)]
    # A point that does not come nearer has no distance that could be vouched for.
    valid[far] &= last[far] < start[far] / 2
    return (
        moved,
        np.where(valid, np.maximum(np.linalg.norm(moved, axis=1), last), diameter),
        valid,
        minimal,
    )


def report(
    surface: BezierSimplex,
    samples: Samples,
    corners: Corners,
    inside: Measured,
    survey: AbstractSurvey,
    tol: float | None,
    evaluations: int,
) -> ErrorEstimate:
    """The figures and flags of all samples. Corners with a singular Hessian are no single points,
    and do not count."""
    M, degree, numbers = surface.n_objectives, surface.degree, survey.schedule.report
    control_points = np.asarray(surface.control_points, dtype=float)
    derivatives = corners.derivatives.join(inside.derivatives)
    counted = np.concatenate([~corners.singular, np.ones(len(inside.valid), dtype=bool)])
    valid = np.concatenate([corners.found, inside.valid])
    lengths = np.concatenate(
        [np.where(corners.found, corners.distance, survey.diameter), inside.distance]
    )
    distance = lengths[counted]
    even = np.flatnonzero(
        (samples.t > 0).all(axis=1) & valid & (np.arange(len(valid)) < samples.n_even)
    )
    even = even[even >= M]
    tangents = surface_tangents(control_points, samples.t[even], degree)
    largest = float(distance.max(initial=0.0))
    dominated = dominated_rows(derivatives.values)
    near = lengths <= survey.schedule.rounds.near * survey.diameter
    good = valid & near & ~dominated & np.concatenate([np.ones(M, dtype=bool), inside.minimal])
    shares = _Shares(
        folded=fold_fraction(
            derivatives.gradients[even], tangents, np.asarray(inside.first.multipliers)[even - M]
        ),
        dominated=float(dominated.mean()),
        invalid=float(np.mean(~valid[counted])),
        saddles=float(np.sum(~inside.minimal) / counted.sum()),
        point=set_diameter(samples.points) <= POINT * max(float(np.abs(samples.points).max()), 1.0),
        singular=bool(corners.singular.any()),
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
        evaluations=evaluations,
        front=_front_error(corners, inside, counted, survey),
        coverage=float(good[counted].mean()) if counted.any() else 0.0,
    )


def _front_error(
    corners: Corners, inside: Measured, counted: np.ndarray, survey: AbstractSurvey
) -> float:
    """The largest change of an objective on the way to the set, in units of its range: of corners
    by values, else by slopes."""
    M = len(corners.found)
    change = np.abs(np.einsum("nml,nl->nm", inside.derivatives.gradients, inside.moved))
    values = np.concatenate([corners.derivatives.values, inside.derivatives.values])
    there = survey.values(corners.minimizers) if (corners.distance > 0).any() else values[:M]
    change = np.concatenate([np.abs(there - values[:M]), change])
    values = np.concatenate([values, there])
    span = (
        np.ptp(values[np.isfinite(values).all(axis=1)], axis=0)
        if np.isfinite(values).all(axis=1).any()
        else np.ones(M)
    )
    valid = np.concatenate([corners.found, inside.valid])
    share = np.where(
        span > rounding_of(values),
        np.nan_to_num(change, nan=0.0) / np.maximum(span, np.finfo(float).tiny),
        0.0,
    )
    return float(np.where(valid, np.minimum(share.max(axis=1), 1.0), 1.0)[counted].max(initial=0.0))


def _singular_corners(derivatives: Derivatives, n_objectives: int) -> np.ndarray:
    """Which objectives have a Hessian at their corner (the first rows) that leaves the minimizer
    undetermined.

    The corner must be a smooth minimum for that: its gradient small beside those elsewhere (else it
    is a kink, like a norm's) and its Hessian not (else the objective is flatter than quadratic,
    like a high power of a norm, and nothing can be said).
    """
    assert derivatives.hessians is not None
    corner = np.arange(n_objectives)
    own, slope = (
        derivatives.hessians[corner, corner],
        np.asarray(np.linalg.norm(derivatives.gradients, axis=2)),
    )
    curvature = np.asarray(np.linalg.norm(derivatives.hessians, axis=(2, 3)))
    usable = np.asarray(np.isfinite(own).all(axis=(1, 2)))
    smooth = slope[corner, corner] < CURVED * np.nanmedian(slope, axis=0)
    quadratic = curvature[corner, corner] > CURVED * np.nanmedian(curvature, axis=0)
    values = np.abs(np.linalg.eigvalsh(np.where(usable[:, None, None], own, np.eye(own.shape[-1]))))
    return (
        usable
        & smooth
        & quadratic
        & (values.min(axis=1) <= Schedule().descent.singular * values.max(axis=1))
    )


class _Shares(NamedTuple):
    """Shares of samples on folds, dominated, without a valid distance, or no minima across the set;
    is it a single point?

    `singular` says whether a corner is none.
    """

    folded: float
    dominated: float
    invalid: float
    saddles: float
    point: bool
    singular: bool


def _flags(
    derivatives: Derivatives,
    shares: _Shares,
    missed: bool,
    above_tol: bool,
    numbers: ReportSchedule,
) -> tuple[Flag, ...]:
    """What is wrong with a surface, the most general first."""
    n_objectives, n_variables = derivatives.gradients.shape[1:]
    found = {
        Flag.NOT_AT_TOLERANCE: above_tol,
        Flag.CORNERS_MISSED: missed,
        Flag.NOT_SIMPLICIAL: (
            not shares.point
            and (shares.folded > numbers.folded or shares.dominated > numbers.dominated)
        ),
        Flag.MINIMIZER_NOT_UNIQUE: shares.singular,
        Flag.WEAKLY_PARETO_VERTEX: (
            not shares.point and weakly_pareto_vertices(derivatives.values, n_objectives).any()
        ),
        Flag.FEW_VARIABLES: n_variables < n_objectives - 1,
        Flag.WRONG_BRANCH: shares.saddles - shares.invalid > numbers.invalid,
        Flag.ESTIMATE_INVALID: shares.invalid > numbers.invalid,
    }
    return tuple(flag for flag, raised in found.items() if raised)
