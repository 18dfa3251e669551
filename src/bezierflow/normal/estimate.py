"""An honest error estimate for any surface: its normal distance to the Pareto-critical set at t
that no fit ever saw."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy.spatial import KDTree

from ..answer import ErrorEstimate, Flag, Solution, why_not_estimated
from ..bezier import BezierSimplex, design_matrix, surface_tangents
from ..flows import touches
from ..objectives import FlatObjectives, JaxEvaluator, bridges, find_multipliers
from .curvature import Curvature, Frames, Rows, Sight, steepness
from .descent import descend, start_descent
from .displacement import Column, linearize
from .products import Memory, start_memory
from .schedule import Schedule
from .settings import Settings
from .shape import (
    ROUNDINGS,
    dominated_rows,
    face_tangents,
    fold_fraction,
    held_out_points,
    largest_gap,
    rounding_of,
    suspect_points,
    weakly_pareto_vertices,
)
from .span import resize


class Corners(NamedTuple):
    """The corners of a surface, beside the minimizers that descents from there find.

    Attributes:
        values: the objectives at the corners.
        slope: |g_m| at the corner of f_m.
        minimizers: where the descents ended.
        found: which of them found a minimizer.
        distance: from each corner to its minimizer.
        flatness: smallest curvature over the largest there.
        strength: the largest curvature there.
    """

    values: Float[np.ndarray, "n_objectives n_objectives"]
    slope: Float[np.ndarray, " n_objectives"]
    minimizers: Rows
    found: Bool[np.ndarray, " n_objectives"]
    distance: Float[np.ndarray, " n_objectives"]
    flatness: Float[np.ndarray, " n_objectives"]
    strength: Float[np.ndarray, " n_objectives"]


def estimate_error(
    objectives: FlatObjectives,
    surface: BezierSimplex,
    seed: int = 0,
    n: int | None = None,
    tol: float | None = None,
    settings: Settings | None = None,
    memory: Memory | None = None,
) -> ErrorEstimate:
    """The error of a surface, whichever flow made it: the distance to the critical set of face J(t)
    at held-out t.

    Each distance is the normal displacement with support rows (see `displacement`); where it is
    large, the point is followed to the set by repeating it, and the length of its path counts.
    Corners count with the distance to the minimizer that a descent from there finds. The estimate
    needs Hessians at about n points, or gradients at about 2n where a run has left Hessians nearby;
    or products with Hessians at these points. It does not know the true set: a surface on a local
    Pareto set is told apart only where `dominated` or the curvature shows it.

    Args:
        objectives: x (L,) -> (M,), twice differentiable, in double precision.
        surface: control points (n_controls, L).
        seed: draws the held-out t.
        n: about how many held-out t, 200 by default; vertices come on top.
        tol: relative to the diameter; a larger estimate raises the flag NOT_AT_TOLERANCE.
        settings: where curvature comes from, and the tuned numbers. The budget does not count.
        memory: of a run, to borrow curvature from.
    """
    settings = replace(settings or Settings(), budget=None)
    numbers, M, degree = settings.schedule, surface.n_objectives, surface.degree
    n = n or numbers.samples
    evaluator = JaxEvaluator(objectives, M, np.shape(surface.control_points)[1])
    # Corners take about as much as the samples do where there are few.
    affordable = evaluator.affordable / 2 - numbers.few_samples * M
    if affordable < n:
        n = int(affordable)
        if n < numbers.few_samples:
            diameter = _diameter(np.asarray(surface.control_points))
            return ErrorEstimate.unknown(diameter, Flag.BUDGET_SPENT)
    empty, points = start_memory(objectives, np.asarray(surface.control_points), settings)
    held_out = held_out_points(points, M, degree, n, seed)
    suspects = suspect_points(points, M, degree, numbers.folds, seed)
    scanned, hidden = _scan(evaluator, points, degree, n, seed, numbers)
    suspects = np.concatenate([suspects, hidden])
    t, n_even = np.concatenate([np.eye(M), held_out, suspects]), M + len(held_out)
    x = design_matrix(t, degree) @ points
    # Hessians far from the set, where a descent may start, are not lent to others: the memory of
    # the run comes in afterwards.
    curvature = empty.open(objectives, settings, x[:M], error=0.0)
    ends = _measure_corners(curvature, x[:M])
    width = curvature.reserve((numbers.corrections + 2) * (len(t) - M) + 1)
    x, points, minimizers = (resize(rows, width) for rows in (x, points, ends.minimizers))
    ends = ends._replace(minimizers=minimizers)
    diameter, size = _diameter(np.concatenate([x, minimizers[ends.found]])), _size(x)
    one_point = diameter <= numbers.singular * size
    # curvature is borrowed in units of distances to the corners
    lent = empty if memory is None or one_point else memory
    curvature.settle(x[:M], size if one_point else diameter, lent)
    tangents = face_tangents(points, t[M:], degree, curvature.n_tangents)
    sight = curvature.measure(x[M:], t[M:] > 0, tangents)
    seen = _follow_far(curvature, x[M:], sight, t[M:] > 0, tangents)
    spent = curvature.evaluator.evaluations
    error = _report(curvature, points, degree, t[:n_even], x, ends, seen)
    # A tolerance is for what is seen.
    above = tol is not None and error.max > numbers.stated_margin * tol * error.diameter
    flags = (Flag.NOT_AT_TOLERANCE, *error.flags) if above else error.flags
    error = replace(error, flags=flags, evaluations=int(spent.objective))
    if one_point:
        return error
    # how far a point of the surface may be from the nearest one that was looked at
    looked = np.vstack([t, scanned])
    fresh = held_out_points(points, M, degree, len(looked) // 4, seed + 2)
    known = KDTree(design_matrix(looked, degree) @ points)
    away = known.query(design_matrix(fresh, degree) @ points)[0]
    return replace(error, resolution=float(away.max() / diameter))


def _scan(
    evaluator: JaxEvaluator, points: Rows, degree: int, n: int, seed: int, numbers: Schedule
) -> tuple[np.ndarray, np.ndarray]:
    """Many t at which gradients are looked at, and t uphill of those where they balance least:
    there something narrow may hide. None of both where that costs calls, or too much, or n, how
    many held-out t there are, is that of a first look."""
    M, (_, width) = evaluator.n_objectives, points.shape
    none, many = np.zeros((0, M)), numbers.scanned * M * width > numbers.scanned_numbers
    costs = many or n < numbers.samples or bool(bridges(evaluator.objectives))
    if M == 1 or width != evaluator.n_variables or costs:
        return none, none
    # Of this estimate's own: what is scanned is not counted as looked at in its samples.
    own = JaxEvaluator(evaluator.objectives, M, width)
    t = held_out_points(points, M, degree, numbers.scanned, seed + 1)
    gradients = own.jacobians(design_matrix(t, degree) @ points).gradients
    slopes = np.median(np.nan_to_num(np.linalg.norm(gradients, axis=2)), axis=0)
    slopes = np.where(slopes > 0, slopes, 1.0)
    residual = _imbalance(gradients, t > 0, slopes)
    worst = np.argsort(-residual)[: numbers.followed]
    best, residual = t[worst], residual[worst]
    # What is narrow shows at its rim first: from there uphill, in ever smaller steps.
    rng, reach = np.random.default_rng(seed), len(t) ** (-1 / (M - 1))
    for _ in range(numbers.climbs):
        drawn = rng.exponential(size=(2, len(best), numbers.climbers, M)) * (best > 0)[:, None]
        drawn /= drawn.sum(axis=-1, keepdims=True)
        near = np.maximum(best[:, None] + 2 * reach * (drawn[0] - drawn[1]), 0.0)
        near = (near / near.sum(axis=-1, keepdims=True)).reshape(-1, M)
        gradients = own.jacobians(design_matrix(near, degree) @ points).gradients
        there = _imbalance(gradients, near > 0, slopes)
        both_t = np.concatenate([best[:, None], near.reshape(len(best), -1, M)], axis=1)
        both = np.column_stack([residual, there.reshape(len(best), -1)])
        first = np.arange(len(best)), both.argmax(axis=1)
        best, residual = both_t[first], both[first]
        reach *= np.sqrt(0.5)
    return t, best


def _imbalance(gradients: np.ndarray, faces: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """How long the convex combination of gradients is whose directions balance best, for each
    point, where the objectives have these slopes elsewhere."""
    lengths = np.linalg.norm(gradients, axis=2)
    known = np.isfinite(lengths) & (lengths > 0)
    lengths = np.where(known, lengths, np.finfo(float).tiny)
    units = np.where(known[..., None], gradients, 0.0) / lengths[..., None]
    gram = np.einsum("nml,nkl->nmk", units, units)
    w = find_multipliers(gram, faces)
    residual = np.sqrt(np.maximum(np.einsum("nm,nmk,nk->n", w, gram, w), 0.0))
    # w_m are weights of directions, so that w_m / |g_m| are those of gradients.
    return residual / np.sum(w * (slopes / lengths), axis=1)


def _diameter(points: Rows) -> float:
    """The diameter of points, up to a factor √2 at most: the largest distance from the one farthest
    from their mean."""
    farthest = points[np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1))]
    return float(np.linalg.norm(points - farthest, axis=1).max())


def _size(points: Rows) -> float:
    """|x|, at least 1."""
    return max(float(np.linalg.norm(points, axis=1).max()), 1.0)


def _measure_corners(curvature: Curvature, x: Rows) -> Corners:
    """Each objective minimized from its corner. The last Newton step, too short to be worth an
    evaluation, counts as well."""
    M = len(x)
    descent = descend(curvature, start_descent(np.eye(M), x))
    values, slope = descent.best.values, descent.best.slope
    while descent.active.any():
        descent = descend(curvature, descent)
    step = np.nan_to_num(descent.factor[:, None] * descent.best.newton)
    minimizers = descent.x - np.where(descent.converged[:, None], step, 0.0)
    distance = np.linalg.norm(minimizers - resize(x, minimizers.shape[1]), axis=1)
    flatness = curvature.flatness(descent.best, np.eye(M)) if M > 1 else (np.ones(1), np.ones(1))
    return Corners(values, slope, minimizers, descent.converged, distance, *flatness)


def _follow_far(
    curvature: Curvature, points: Rows, sight: Sight, faces: np.ndarray, tangents: Frames
) -> tuple[Sight, Column]:
    """The sight with far points followed to the set, so that displacements are the whole ways
    there; and their lengths, the diameter where they are not valid."""
    numbers, diameter = curvature.schedule, curvature.diameter
    first = sight.linearization
    valid, minimal, moved = map(np.array, (first.valid, first.minimal, first.displacement))
    start = np.linalg.norm(moved, axis=1)
    last = start.copy()
    far = np.flatnonzero(valid & (start > curvature.far * diameter))
    for _ in range(numbers.corrections):
        if len(far) == 0 or len(far) > curvature.evaluator.left:
            break
        longest = numbers.straight * diameter
        moved[far] *= np.minimum(1, longest / np.linalg.norm(moved[far], axis=1))[:, None]
        again = curvature.look(points[far] + moved[far], faces[far], tangents[far], support=True)
        following = again.linearization
        moved[far] += following.displacement
        valid[far], minimal[far] = following.valid, following.minimal
        last[far] = np.linalg.norm(following.displacement, axis=1)
        far = far[following.valid & (last[far] > curvature.far * diameter)]
    # A point that does not come nearer has no distance that could be vouched for.
    valid[far] &= last[far] < start[far] / 2
    length = np.maximum(np.linalg.norm(moved, axis=1), last)
    followed = first._replace(displacement=moved, valid=valid, minimal=minimal)
    return sight._replace(linearization=followed), np.where(valid, length, diameter)


def _report(
    curvature: Curvature,
    points: Rows,
    degree: int,
    t: np.ndarray,
    x: Rows,
    ends: Corners,
    seen: tuple[Sight, Column],
) -> ErrorEstimate:
    """The figures and flags of all samples, of which those at these t are evenly spread. Corners
    with a singular Hessian are no single points, and do not count."""
    M, numbers, diameter = len(ends.found), curvature.schedule, curvature.diameter
    sight, distance = seen
    gradients, inside = sight.derivatives.gradients, sight.linearization
    # A Hessian leaves the minimizer undetermined where its corner is a smooth minimum: with a
    # gradient that is small beside those elsewhere (else it is a kink, like a norm's) and a Hessian
    # that is not small beside |g_m|/r_m there (else the objective is flatter than quadratic, like a
    # high power of a norm, and nothing can be said).
    slopes = np.linalg.norm(gradients, axis=2)
    smooth = ends.slope < numbers.clear * np.nanmedian(slopes, axis=0)
    steep = np.nanmedian(steepness(x[M:], gradients, x[:M]), axis=0)
    singular = ends.found & smooth & (ends.strength > numbers.clear * steep)
    singular &= ends.flatness <= curvature.singular
    counted = np.concatenate([~singular, np.ones(len(inside.valid), dtype=bool)])
    valid = np.concatenate([ends.found, inside.valid])
    lengths = np.concatenate([np.where(ends.found, ends.distance, diameter), distance])
    distance = lengths[counted]
    values = np.concatenate([ends.values, sight.derivatives.values])
    even = np.flatnonzero((t > 0).all(axis=1) & valid[: len(t)])
    even = even[even >= M]
    tangents = surface_tangents(points, t[even], degree)
    point = _diameter(x) <= numbers.singular * _size(x)
    # Values of one point differ by rounding, which dominates nothing.
    dominated = np.zeros(len(values), dtype=bool) if point else dominated_rows(values)
    largest = numbers.stated_margin * float(distance.max(initial=0.0))
    # covered: near the set, not beaten by another sample, and a minimum across the set
    near = lengths <= numbers.near * diameter
    good = valid & near & ~dominated & np.concatenate([np.ones(M, dtype=bool), inside.minimal])
    invalid = float(np.mean(~valid[counted]))
    saddles = float(np.sum(~inside.minimal) / counted.sum())
    folded = fold_fraction(gradients[even - M], tangents, inside.multipliers[even - M])
    missed = ends.distance[ends.found] > numbers.missed_corner * diameter
    not_simplicial = folded > numbers.folded or dominated.mean() > numbers.flagged
    # the most general first
    flags = {
        Flag.CORNERS_MISSED: bool(missed.any()),
        Flag.NOT_SIMPLICIAL: not point and not_simplicial,
        Flag.MINIMIZER_NOT_UNIQUE: bool(singular.any()),
        Flag.WEAKLY_PARETO_VERTEX: not point and weakly_pareto_vertices(values, M).any(),
        Flag.FEW_VARIABLES: curvature.evaluator.n_variables < M - 1,
        Flag.WRONG_BRANCH: saddles - invalid > numbers.flagged,
        Flag.ESTIMATE_INVALID: invalid > numbers.flagged,
    }
    return ErrorEstimate(
        rms=float(np.sqrt(np.mean(distance**2))),
        max=largest,
        expected=3 * largest,
        diameter=diameter,
        n_samples=int(counted.sum()),
        n_invalid=int(np.sum(~valid[counted])),
        residual=float(np.max(np.where(inside.valid, inside.residual, 0.0), initial=0.0)),
        folded=folded,
        gap=largest_gap(points, M, degree),
        dominated=float(dominated.mean()),
        flags=tuple(flag for flag, raised in flags.items() if raised),
        evaluations=0,
        # objectives of one point have no ranges
        front=None if point else _front_error(curvature, ends, sight, counted),
        coverage=float(good[counted].mean()) if counted.any() else 0.0,
    )


def _front_error(curvature: Curvature, ends: Corners, sight: Sight, counted: np.ndarray) -> float:
    """The largest change of an objective on the way to the set, in units of its range, with the
    margin of what is stated: of corners by values, else by slopes. No objective is known to less
    than a rounding of its values, which an offset makes large."""
    derivatives, inside = sight.derivatives, sight.linearization
    change = np.abs(np.einsum("nml,nl->nm", derivatives.gradients, inside.displacement))
    there = curvature.values(ends.minimizers) if (ends.distance > 0).any() else ends.values
    change = np.concatenate([np.abs(there - ends.values), change])
    values = np.concatenate([ends.values, derivatives.values, there])
    finite = np.isfinite(values).all(axis=1)
    span = np.ptp(values[finite], axis=0) if finite.any() else np.ones(len(there))
    rounding = rounding_of(values)
    change = np.maximum(np.nan_to_num(change, nan=0.0), rounding / ROUNDINGS)
    share = change / np.maximum(span, np.finfo(float).tiny)
    share = np.where(span > rounding, share, 0.0).max(axis=1)
    share = np.minimum(curvature.schedule.stated_margin * share, 1.0)
    valid = np.concatenate([ends.found, inside.valid])
    return float(np.where(valid, share, 1.0)[counted].max(initial=0.0))


class NormalEstimator:
    """The estimator of every smooth surface: normal displacements at held-out t."""

    def estimate(self, solution: Solution) -> ErrorEstimate:
        """The error at held-out t, however long that takes."""
        error = estimate_error(solution.flat_objectives, solution.flat_surface)
        if solution.feasible is None or not touches(solution.feasible, solution.flat_surface):
            return error
        return replace(error, flags=(*error.flags, Flag.BOUNDS_IGNORED))

    def at(self, solution: Solution, t: Float[np.ndarray, "n n_objectives"]) -> Column:
        """The distance of b(t) to the Pareto set at each t; not a number where there is none."""
        surface = solution.flat_surface
        if why_not_estimated(solution.flat_objectives, surface):
            return np.full(len(t), np.nan)
        evaluator = JaxEvaluator(
            solution.flat_objectives, surface.n_objectives, surface.n_variables
        )
        found = evaluator.hessians(np.asarray(surface(t)))
        seen = linearize(found, np.asarray(t) > 0, support=True)
        return np.where(seen.valid, np.linalg.norm(seen.displacement, axis=1), np.nan)
