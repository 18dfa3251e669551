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
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from ..bezier import BezierSimplex, FitOptions, design_matrix, fit_skeleton, project
from ..simplex import faces, n_controls
from .reading import nondominated
from .shape import MOST_FOLDED, folded_share

FOLDS = 5
"""Cross-validation fits to all but one of so many parts of the points, and measures at that
part."""

LARGEST_DEGREE = 6
"""Of a surface through points."""

POINTS_PER_CONTROL = 2
"""So many points at least for each control point."""

PATIENCE, EXACT = 2, 1e-4
"""The degree is raised until the held-out distance has not fallen for so many degrees in a row, or
is below the second, in units of ranges."""

BESIDE = 3
"""A point is on a face if it is the outermost of so many nearest ones, itself included, among those
that may be."""

OPTIONS = FitOptions(tol=1e-3, max_iterations=60)
"""Of every fit: held-out distances change little beyond that."""

WORTH_A_FOLD = 2.0
"""A surface without folds is taken if it misses held-out points by at most so many times as much as
one with folds."""


class Cloud(NamedTuple):
    """Points (x, f), one a row, in units of ranges; all variables together count like one objective
    at most.

    Attributes:
        rows: x and f side by side.
        n_objectives: M, the number of last columns.
        lower: bounds of the other columns.
        upper: likewise.
    """

    rows: Float[np.ndarray, "n width"]
    n_objectives: int
    lower: Float[np.ndarray, " n_variables"]
    upper: Float[np.ndarray, " n_variables"]

    @property
    def f(self) -> Float[np.ndarray, "n n_objectives"]:
        """The objective values, from 0 to 1."""
        return self.rows[:, -self.n_objectives :]

    def subset(self, rows: np.ndarray) -> "Cloud":
        """Some of the points."""
        return self._replace(rows=self.rows[rows])


class Trial(NamedTuple):
    """How surfaces of a degree do at points that they have not seen.

    Attributes:
        degree: D.
        residuals: held-out points minus the surface, one a row. Corners are always fitted and count
            with what is left there.
    """

    degree: int
    residuals: Float[np.ndarray, "n width"]

    @property
    def squares(self) -> Float[np.ndarray, " n"]:
        """Squared distances."""
        return np.sum(self.residuals**2, axis=1)

    @property
    def rms(self) -> float:
        """Root mean square distance."""
        return float(np.sqrt(self.squares.mean()))


def corner_rows(f: Float[np.ndarray, "n n_objectives"]) -> Int[np.ndarray, " n_objectives"]:
    """The point with the least f_m for each m; of equally good ones the one with the least sum of
    all objectives."""
    return np.array([np.lexsort([f.sum(axis=1), column])[0] for column in f.T])


def face_rows(
    f: Float[np.ndarray, "n n_objectives"], face: tuple[int, ...]
) -> Int[np.ndarray, " k"]:
    """The points on a face, as far as the points tell; of a corner its best point."""
    from scipy.spatial import KDTree

    inside, n_objectives = list(face), f.shape[1]
    if len(face) == 1:
        return corner_rows(f)[inside]
    candidates = np.flatnonzero(nondominated(f[:, inside]))
    if len(face) == n_objectives or len(candidates) <= BESIDE:
        return candidates
    along = f[candidates][:, inside]
    outward = np.delete(f[candidates], inside, axis=1).sum(axis=1)
    # where on the face, however far from the ideal point
    along = along - along.mean(axis=1, keepdims=True)
    beside = np.asarray(KDTree(along).query(along, k=BESIDE)[1])
    return candidates[outward >= outward[beside].max(axis=1)]


def fit_surface(cloud: Cloud, degree: int) -> BezierSimplex:
    """The surface of a degree through the points, face by face, its designs within the bounds."""
    members = {
        face: cloud.rows[face_rows(cloud.f, face)]
        for face in faces(cloud.n_objectives)
        if len(face) <= degree
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that could still improve is measured like any other
        surface = fit_skeleton(members, cloud.n_objectives, degree, options=OPTIONS)
    return _within_bounds(surface, cloud)


def front_part(surface: BezierSimplex) -> BezierSimplex:
    """The objective values of a surface through designs and values."""
    M = surface.n_objectives
    return BezierSimplex(np.asarray(surface.control_points)[:, -M:], M, surface.degree)


def fit_best(cloud: Cloud) -> tuple[BezierSimplex, Trial, list[Trial]]:
    """The surface that serves held-out points best, how it does so, and all trials in order.

    Of several degrees that cannot be told apart, within one standard error of the least mean
    squared distance, the lowest is taken. Where its front folds and that of a lower degree does
    not, the lower one is taken if it is not much farther off.
    """
    trials = list(_raise_degree(cloud))
    chosen = _lowest_good(trials)
    for trial in reversed([trial for trial in trials if trial.degree <= chosen.degree]):
        surface = fit_surface(cloud, trial.degree)
        if (
            trial.rms <= WORTH_A_FOLD * chosen.rms
            and folded_share(front_part(surface)) <= MOST_FOLDED
        ):
            return surface, trial, trials
    return fit_surface(cloud, chosen.degree), chosen, trials


def _raise_degree(cloud: Cloud) -> Iterator[Trial]:
    """Trials of rising degree, until that helps no more."""
    least, waited, degree = np.inf, 0, 1
    while waited < PATIENCE and least >= EXACT and (degree == 1 or _determined(cloud, degree)):
        trial = Trial(degree, _held_out_residuals(cloud, degree))
        waited = 0 if trial.rms < least else waited + 1
        least, degree = min(least, trial.rms), degree + 1
        yield trial


def _lowest_good(trials: list[Trial]) -> Trial:
    """The lowest degree within one standard error of the least mean squared distance."""
    best = min(trials, key=lambda trial: trial.rms)
    deviation = best.squares.std() / np.sqrt(len(best.squares))
    return next(
        trial for trial in trials if trial.squares.mean() <= best.squares.mean() + deviation
    )


def _determined(cloud: Cloud, degree: int) -> bool:
    """Whether there are enough points for the surface, and for each of its faces, in each part of a
    cross-validation."""
    M, share = cloud.n_objectives, 1 - 1 / FOLDS
    if degree > LARGEST_DEGREE or len(cloud.rows) * share < POINTS_PER_CONTROL * n_controls(
        M, degree
    ):
        return False
    inner = {
        face: n_controls(len(face), degree - len(face))
        for face in faces(M)
        if 1 < len(face) <= degree
    }
    return all(len(face_rows(cloud.f, face)) * share >= count + 1 for face, count in inner.items())


def _held_out_residuals(cloud: Cloud, degree: int) -> Float[np.ndarray, "n width"]:
    """What a surface misses each point by that was fitted to other parts of the points; it is
    fitted to corners always."""
    n, corners = len(cloud.rows), corner_rows(cloud.f)
    part = np.random.default_rng(0).permutation(n) % min(FOLDS, n)
    residuals = np.empty_like(cloud.rows)
    for k in range(part.max() + 1):
        held_out = part == k
        fitted = ~held_out
        fitted[corners] = True
        surface = fit_surface(cloud.subset(fitted), degree)
        residuals[held_out] = cloud.rows[held_out] - np.asarray(
            surface(project(surface, cloud.rows[held_out])[0])
        )
    return residuals


def _within_bounds(surface: BezierSimplex, cloud: Cloud) -> BezierSimplex:
    """The surface with designs within the bounds: control points of variables that leave them are
    fitted anew within them.

    A Bézier simplex lies in the hull of its control points, so that bounds on these are bounds on
    all designs.
    """
    points = np.array(surface.control_points)
    n_variables = points.shape[1] - cloud.n_objectives
    designs = points[:, :n_variables]
    outside = np.flatnonzero(((designs < cloud.lower) | (designs > cloud.upper)).any(axis=0))
    if not len(outside):
        return surface
    from scipy.optimize import lsq_linear

    design = design_matrix(project(surface, cloud.rows)[0], surface.degree)
    for column in outside:
        low, high = cloud.lower[column], cloud.upper[column]
        fixed = high - low <= 0
        points[:, column] = (
            low
            if fixed
            else lsq_linear(design, cloud.rows[:, column], (low, high)).x.clip(low, high)
        )
    return BezierSimplex(points, surface.n_objectives, surface.degree)
