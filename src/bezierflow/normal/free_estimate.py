"""The error estimate of `estimate` without Hessian matrices: the same samples, distances and flags,
on coordinates in a span."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Array, Float

from ..answer import ErrorEstimate
from ..bezier import BezierSimplex
from ..objectives import Derivatives
from .conjugate import Curvature
from .estimate import POINT, Corners, Measured, draw_samples, follow_far, report, set_diameter
from .free_descent import descend_freely, singular_minimizers, start_free_descent
from .free_survey import FreeSurvey
from .layout import Layout
from .long_evaluator import LongEvaluator
from .patch import resize
from .schedule import Schedule
from .span import Span, lengths, start_span
from .tangents import face_tangents


def estimate_error_freely(  # noqa: PLR0913
    objectives: Callable[[Array], Array],
    surface: BezierSimplex,
    layout: Layout,
    kind: Curvature = "free",
    seed: int = 0,
    n: int | None = None,
    tol: float | None = None,
    schedule: Schedule | None = None,
) -> ErrorEstimate:
    """The error of a surface with long control points (n_controls, L), by gradients and products of
    Hessians with vectors.

    As `estimate_error`, but that tangents are those of the surface, and that displacements are
    solved for to a thousandth.
    """
    schedule = schedule or Schedule()
    schedule = replace(schedule, report=replace(schedule.report, far=schedule.free.far))
    long_points, M = np.asarray(surface.control_points), surface.n_objectives
    evaluator = LongEvaluator(objectives, M, long_points.shape[1], layout, kind)
    span, control_points = start_span(evaluator.place(long_points), evaluator.chunk, layout)
    control_points = control_points[: len(long_points)]
    short = BezierSimplex(control_points, M, surface.degree)
    samples = draw_samples(short, n or schedule.report.samples, seed)
    n_inside = len(samples.t) - M
    room = span.used + M + (schedule.report.corrections + 2) * (n_inside + evaluator.chunk)
    corners, span = _measure_corners(evaluator, span.widened(room), samples.corners, schedule, tol)
    x, t = resize(samples.points, span.width), samples.t[M:]
    diameter = set_diameter(np.concatenate([x, corners.minimizers[corners.found]]))
    size = max(_largest(layout, span), 1.0)
    diameter = size if diameter <= POINT * size else diameter
    survey = FreeSurvey(
        evaluator, span, resize(samples.corners, span.width), diameter, error=0.0, schedule=schedule
    )
    tangents = face_tangents(control_points, t, surface.degree, survey.n_tangents)
    tangents = np.pad(tangents, ((0, 0), (0, span.width - tangents.shape[1]), (0, 0)))
    sight = survey.measure(x[M:], t > 0, tangents)
    followed = follow_far(survey, x[M:], sight.linearization, t > 0, tangents)
    inside = Measured(sight.derivatives, sight.linearization, *followed)
    wide = BezierSimplex(resize(control_points, span.width), M, surface.degree)
    samples = samples._replace(points=x)
    return report(wide, samples, corners, inside, survey, tol, int(evaluator.evaluations.objective))


def _measure_corners(
    evaluator: LongEvaluator,
    span: Span,
    corners: Float[np.ndarray, "n_objectives width"],
    schedule: Schedule,
    tol: float | None,
) -> tuple[Corners, Span]:
    """Each objective minimized from its corner; the minimizers have coordinates in the span that is
    returned."""
    layout, start, M = span.layout, resize(corners, span.width), len(corners)
    ((rows, _),) = evaluator.batches(M)
    x = span.points(start[rows])
    values, gradients, _ = evaluator.look(x, M)
    slopes = np.stack([span.coordinates(gradients[:, m])[:M] for m in range(M)], axis=1)
    precision = schedule.free.corner * (tol or 1e-6)
    descent = start_free_descent(np.eye(M), x, layout)
    while descent.active.any():
        descent = descend_freely(evaluator, descent, schedule, precision)
    moved = descent.x - x
    distance = lengths(layout, moved)[:M]
    within, rest = span.project(moved)
    span, beyond = span.extended(rest, 8 * layout.rounding * float(np.abs(start).max()))
    minimizers = start + (within + beyond)[:M]
    singular = singular_minimizers(evaluator, descent.x, schedule)
    return (
        Corners(
            Derivatives(start, values[:M], slopes, None),
            minimizers,
            descent.converged[:M],
            distance,
            singular,
        ),
        span,
    )


def _largest(layout: Layout, span: Span) -> float:
    """The largest number of the points around which the set lies."""
    return float(np.abs(np.asarray(span.origin)).max()) if span.origin.is_fully_addressable else 0.0
