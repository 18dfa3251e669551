"""A surface through Pareto points: designs and objective values side by side, so that both have the
same t.

Points that no other one dominates in the objectives J alone lie near the Pareto set of those
objectives, which is the face Δ_J of a simplicial problem (Kobayashi et al., "Bézier simplex
fitting", AAAI 2019). So the points themselves say where the faces are: the corner m is the point
with the least f_m, an edge is fitted to points nondominated in two objectives, and so on. Inner
points, too, may be nondominated in J for want of points on the face itself. Of those beside each
other the outermost one is taken, with the worst values of the other objectives: a face is where
these end.
"""

import warnings
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from ..bezier import (
    BezierSimplex,
    FitOptions,
    design_matrix,
    fit_skeleton,
    project,
    surface_tangents,
)
from ..metrics import nondominated
from ..simplex import faces, grid, largest_degree_within, n_controls
from .schedule import SCHEDULE


class Cloud(NamedTuple):
    """Points (x, f), one per row, in units of ranges; all variables together count like one
    objective at most. x and f lie side by side in `rows`, f in the last columns; `lower` and
    `upper` are bounds of the others.
    """

    rows: Float[np.ndarray, "n width"]
    n_objectives: int
    lower: Float[np.ndarray, " n_variables"]
    upper: Float[np.ndarray, " n_variables"]

    @property
    def f(self) -> Float[np.ndarray, "n n_objectives"]:
        """The objective values, from 0 to 1."""
        return self.rows[:, -self.n_objectives :]


def corner_rows(f: Float[np.ndarray, "n n_objectives"]) -> Int[np.ndarray, " n_objectives"]:
    """The point with the least f_m for each m; of equally good ones the one with the least sum of
    all objectives."""
    return np.array([np.lexsort([f.sum(axis=1), column])[0] for column in f.T])


def face_rows(
    f: Float[np.ndarray, "n n_objectives"], face: tuple[int, ...]
) -> Int[np.ndarray, " k"]:
    """The points on a face, as far as the points tell; of a corner its best point."""
    from scipy.spatial import KDTree

    inside = list(face)
    if len(face) == 1:
        return corner_rows(f)[inside]
    candidates = np.flatnonzero(nondominated(f[:, inside], keep_equal=True))
    if len(face) == f.shape[1] or len(candidates) <= SCHEDULE.beside:
        return candidates
    along = f[candidates][:, inside]
    outward = np.delete(f[candidates], inside, axis=1).sum(axis=1)
    # where on the face, however far from the ideal point
    along = along - along.mean(axis=1, keepdims=True)
    beside = np.asarray(KDTree(along).query(along, k=SCHEDULE.beside)[1])
    return candidates[outward >= outward[beside].max(axis=1)]


def fit_surface(cloud: Cloud, degree: int) -> BezierSimplex:
    """The surface of a degree through the points, face by face, its designs within the bounds."""
    M = cloud.n_objectives
    options = FitOptions(tol=SCHEDULE.fit_tol, max_iterations=SCHEDULE.fit_iterations)
    members = {
        face: cloud.rows[face_rows(cloud.f, face)] for face in faces(M) if len(face) <= degree
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that could still improve is measured like any other
        surface = fit_skeleton(members, M, degree, options=options)
    points = np.array(surface.control_points)
    designs = points[:, :-M]
    outside = np.flatnonzero(((designs < cloud.lower) | (designs > cloud.upper)).any(axis=0))
    if not len(outside):
        return surface
    from scipy.optimize import lsq_linear

    # A Bézier simplex lies in the hull of its control points, so that bounds on these are bounds on
    # all designs: the control points of a variable that leaves its bounds are fitted within them.
    design = design_matrix(project(surface, cloud.rows)[0], degree)
    for column in outside:
        low, high = cloud.lower[column], cloud.upper[column]
        points[:, column] = low
        if high > low:
            fitted = lsq_linear(design, cloud.rows[:, column], (low, high)).x
            points[:, column] = fitted.clip(low, high)
    return BezierSimplex(points, M, degree)


def fit_best(cloud: Cloud) -> tuple[BezierSimplex, dict[int, Float[np.ndarray, "n width"]]]:
    """The surface of the degree that serves held-out points best, and the residuals of all degrees.

    Of degrees within one standard error of the least mean squared distance the lowest is taken.
    Where its front folds, a lower degree without folds is taken if it is not much farther off.
    """
    trials = _cross_validate(cloud)
    squares = {degree: np.sum(residuals**2, axis=1) for degree, residuals in trials.items()}
    best = min(squares.values(), key=np.mean)
    most = best.mean() + best.std() / np.sqrt(len(best))
    chosen = next(degree for degree, one in squares.items() if one.mean() <= most)
    for degree in range(chosen, 0, -1):
        surface = fit_surface(cloud, degree)
        near = squares[degree].mean() <= SCHEDULE.worth_a_fold**2 * squares[chosen].mean()
        if near and folded_share(surface) <= SCHEDULE.most_folded:
            return surface, trials
    return fit_surface(cloud, chosen), trials


def _cross_validate(cloud: Cloud) -> dict[int, Float[np.ndarray, "n width"]]:
    """Points minus surfaces that were fitted without them, for rising degrees, until that helps no
    more. Corners are always fitted, and count with what is left there."""
    n, corners, M = len(cloud.rows), corner_rows(cloud.f), cloud.n_objectives
    # Points of optimizers come in order along the front: parts are random, and the same each time.
    part = np.random.default_rng(0).permutation(n) % min(SCHEDULE.folds, n)
    trials: dict[int, np.ndarray] = {}
    least, waited, share = np.inf, 0, 1 - 1 / SCHEDULE.folds
    for degree in range(1, SCHEDULE.largest_degree + 1):
        # each part must have enough points for the surface, and for each of its faces
        sizes = [(n, SCHEDULE.points_per_control * n_controls(M, degree))] + [
            (len(face_rows(cloud.f, face)), n_controls(len(face), degree - len(face)) + 1)
            for face in faces(M)
            if 1 < len(face) <= degree
        ]
        if degree > 1 and any(size * share < needed for size, needed in sizes):
            break
        residuals = trials[degree] = np.empty_like(cloud.rows)
        for k in range(part.max() + 1):
            held_out = part == k
            fitted = ~held_out
            fitted[corners] = True  # without its corners a set would end early
            surface = fit_surface(cloud._replace(rows=cloud.rows[fitted]), degree)
            nearest = surface(project(surface, cloud.rows[held_out])[0])
            residuals[held_out] = cloud.rows[held_out] - np.asarray(nearest)
        rms = np.sqrt(np.sum(residuals**2, axis=1).mean())
        waited = 0 if rms < least else waited + 1
        least = min(least, rms)
        if waited == SCHEDULE.patience or least < SCHEDULE.exact:
            break
    return trials


def n_groups(rows: Float[np.ndarray, "n width"]) -> int:
    """How many groups of points lie clearly apart: single linkage, cut at gaps that are wide beside
    the usual ones."""
    from scipy.cluster.hierarchy import linkage

    if len(rows) > SCHEDULE.most_compared:
        rows = rows[np.random.default_rng(0).permutation(len(rows))[: SCHEDULE.most_compared]]
    links = linkage(rows, "single")
    usual = float(np.quantile(links[:, 2], SCHEDULE.usual))
    apart = links[:, 2] > max(SCHEDULE.wide_gap * usual, SCHEDULE.long_gap)
    sizes = np.concatenate([np.ones(len(rows)), links[:, 3]])
    smaller = np.minimum(sizes[links[:, 0].astype(int)], sizes[links[:, 1].astype(int)])
    return 1 + int(np.sum(apart & (smaller >= SCHEDULE.group * len(rows))))


def has_lost_a_dimension(f: Float[np.ndarray, "n n_objectives"]) -> bool:
    """Whether points fill fewer than M − 1 dimensions: the neighbors of most of them lie along a
    thinner set."""
    from scipy.spatial import KDTree

    M = f.shape[1]
    around = f[np.asarray(KDTree(f).query(f, k=min(len(f), 4 * (M - 1) + 1))[1])]
    widths = np.linalg.svd(around - around.mean(axis=1, keepdims=True), compute_uv=False)
    # of M − 1 dimensions that a front has, the least
    thinness = widths[:, M - 2] / np.maximum(widths[:, 0], np.finfo(float).tiny)
    return bool(np.median(thinness) < SCHEDULE.thin)


def folded_share(surface: BezierSimplex) -> float:
    """The share of t where the front, the last M columns of a surface, runs backwards, against the
    majority.

    A front has a normal with no negative entry, so that the determinant of its tangents and (1, …,
    1) keeps its sign.
    """
    M, t = surface.n_objectives, _inner_parameters(surface.n_objectives)
    tangents = surface_tangents(np.asarray(surface.control_points)[:, -M:], t, surface.degree)
    columns = np.concatenate([tangents, np.ones((len(t), M, 1))], axis=2)
    lengths = np.linalg.norm(columns, axis=1, keepdims=True)
    determinant = np.linalg.det(columns / np.maximum(lengths, np.finfo(float).tiny))
    return min(float(np.mean(side * determinant > SCHEDULE.clear)) for side in (1, -1))


def dominated_share(surface: BezierSimplex) -> float:
    """The share of the front, the last M columns of a surface, that other parts of it clearly
    dominate."""
    M = surface.n_objectives
    values = np.asarray(surface(_inner_parameters(M)))[:, -M:]
    # A point is clearly dominated if it still is after all others have become worse.
    best = values[nondominated(values)] + SCHEDULE.clear
    return float(np.mean([(best <= value).all(axis=1).any() for value in values]))


def _inner_parameters(n_objectives: int) -> Float[np.ndarray, "n n_objectives"]:
    """Points inside the simplex: tangents of a degenerate edge have no direction."""
    t = grid(n_objectives, largest_degree_within(n_objectives, SCHEDULE.n_parameters))
    return (1 - SCHEDULE.inward) * t + SCHEDULE.inward / n_objectives
