"""`from_points`: Pareto points of any optimizer as a solution, with a set, a front and a held-out
error."""

import time

import numpy as np
from numpy.typing import ArrayLike

from ..answer import ErrorEstimate, FittedFront, Flag, Reason, Result, Solution, Stats
from ..bezier import BezierSimplex
from ..evaluations import Evaluations
from .fitting import Cloud, Trial, fit_best, front_part
from .reading import Designs, Given, GivenNames, read
from .shape import (
    MOST_DOMINATED,
    MOST_FOLDED,
    dominated_share,
    folded_share,
    has_lost_a_dimension,
    n_groups,
)

LEAST_POINTS = 2
"""So many Pareto points at least for each objective."""

LEAST_SIGNAL = 0.01
"""What a variable counts for at least."""

FAR = 0.1
"""Held-out points that are missed by more than this share of the set's diameter, or of an
objective's range, make a surface suspect."""


def from_points(
    X: Designs, F: ArrayLike, *, names: GivenNames | None = None, bounds: object = None
) -> Solution:
    """A solution from Pareto points: of NSGA-II or another optimizer, of a study, of measurements.
    All objectives are minimized.

    One Bézier simplex is fitted to designs and objective values together, of the degree that serves
    held-out points best (5-fold cross-validation). Corner m is near the point with the least f_m,
    and a face near the points that no other one dominates in its objectives alone. Points that
    another one dominates are counted but not fitted. There are no objectives to call: everything
    that needs values reads the fitted front. `solution.error` is the distance from points to
    surfaces that were fitted without them. It knows the points, not the true Pareto set: where the
    points stop short of it, so does the surface. `solution.result` is suspect, and says why, where
    the points are not one curved simplex.

    Args:
        X: the designs, one a row: an array (N, L), a vector for one variable, a data frame, or a
            dict of arrays with leading axis N. Its column names become the names of the variables.
        F: their objective values, one row a point: an array (N, M) or a data frame.
        names: a `bezierflow.problems.Names`, or a mapping such as {"objectives": ["cost", "mass"],
            "variables": [...]}.
        bounds: lower and upper bounds of x, as in `minimize`. All designs of the surface then keep
            them.
    """
    began = time.perf_counter()
    given = read(X, F, names, bounds)
    n, M = given.f.shape
    if n < LEAST_POINTS * M:
        raise ValueError(
            f"F must have at least {LEAST_POINTS * M} distinct points that no other one dominates,"
            f" for a surface of {M} objectives, got {n} ({given.n_given} points,"
            f" {given.n_dominated} dominated, {given.n_repeated} repeated)"
        )
    cloud, offset, scale = _scaled(given)
    surface, trial, trials = fit_best(cloud)
    error = _estimate(given, cloud, trial, surface, scale)
    controls, n_variables = np.asarray(surface.control_points) * scale + offset, given.x.shape[1]
    misses = np.abs(trial.residuals * scale)[:, n_variables:]
    front = BezierSimplex(controls[:, n_variables:], M, surface.degree)
    return Solution(
        pareto_set=BezierSimplex(
            given.raveling.unravel(controls[:, :n_variables]), M, surface.degree
        ),
        objectives=None,
        names=given.names,
        result=_judge(given, trial, error),
        stats=Stats(Evaluations(), len(trials), time.perf_counter() - began),
        history={
            "held_out": np.array([one.rms for one in trials]),
            "degree": np.array([one.degree for one in trials]),
        },
        made_by={"method": "from_points", "points": n, "dominated": given.n_dominated},
        raveling=given.raveling,
        known_error=error,
        known_front=FittedFront(front, np.sqrt(np.mean(misses**2, axis=0)), misses.max(axis=0)),
        feasible=given.feasible,
    )


def _scaled(given: Given) -> tuple[Cloud, np.ndarray, np.ndarray]:
    """The points in units of ranges, what was taken off each column and what it was divided by."""
    rows, n_variables = np.hstack([given.x, given.f]), given.x.shape[1]
    offset, span = rows.min(axis=0), np.ptp(rows, axis=0)
    scale = np.where(span > 0, span, 1.0)
    scale[:n_variables] *= np.sqrt(n_variables) / _signal(given.x, given.f / scale[n_variables:])
    infinite = np.full(n_variables, np.inf)
    sides = (
        (-infinite, infinite)
        if given.feasible is None
        else (given.feasible.lower, given.feasible.upper)
    )
    lower, upper = ((side - offset[:n_variables]) / scale[:n_variables] for side in sides)
    return Cloud((rows - offset) / scale, given.f.shape[1], lower, upper), offset, scale


def _signal(x: np.ndarray, f: np.ndarray) -> np.ndarray:
    """What each variable counts for: the share of its variance that neighbors on the front have in
    common.

    Variables that the objectives hardly depend on are left at random by many optimizers, and would
    draw the front after them.
    """
    from scipy.spatial import KDTree

    beside = np.asarray(KDTree(f).query(f, k=2)[1])[:, 1]
    scatter = np.mean((x - x[beside]) ** 2, axis=0) / 2
    return np.clip(1 - scatter / np.maximum(x.var(axis=0), np.finfo(float).tiny), LEAST_SIGNAL, 1)


def _estimate(
    given: Given, cloud: Cloud, trial: Trial, surface: BezierSimplex, scale: np.ndarray
) -> ErrorEstimate:
    """How far held-out points are from surfaces fitted without them, in units of x, and what is
    wrong with the points."""
    M, n_variables = cloud.n_objectives, given.x.shape[1]
    distances = np.linalg.norm((trial.residuals * scale)[:, :n_variables], axis=1)
    diameter = float(np.linalg.norm(given.x - given.x[np.argmax(given.f[:, 0])], axis=1).max())
    rms, largest = float(np.sqrt(np.mean(distances**2))), float(distances.max())
    front = front_part(surface)
    folded, dominated = folded_share(front), dominated_share(front)
    in_ranges = np.sqrt(np.mean(trial.residuals[:, n_variables:] ** 2, axis=0)).max()
    found = {
        Flag.POINTS_APART: n_groups(cloud.rows) > 1,
        Flag.POINTS_DEGENERATE: has_lost_a_dimension(cloud.f),
        Flag.POINTS_MISSED: rms > FAR * diameter or in_ranges > FAR,
        Flag.NOT_SIMPLICIAL: folded > MOST_FOLDED or dominated > MOST_DOMINATED,
        Flag.FEW_VARIABLES: n_variables < M - 1,
    }
    flags = tuple(flag for flag, raised in found.items() if raised)
    n = len(distances)
    return ErrorEstimate(
        rms,
        largest,
        3 * largest,
        diameter,
        n,
        0,
        float("nan"),
        folded,
        float("nan"),
        dominated,
        flags,
        0,
    )


def _judge(given: Given, trial: Trial, error: ErrorEstimate) -> Result:
    """What the surface is worth, in words."""
    aside = [
        f"{n} {what}"
        for n, what in ((given.n_dominated, "dominated"), (given.n_repeated, "repeated"))
        if n
    ]
    left = f" of {given.n_given} ({', '.join(aside)})" if aside else ""
    found = (
        f"a surface of degree {trial.degree} through {error.n_samples} points{left}; held-out"
        f" points lie {error.rms:.2g} rms and {error.max:.2g} at most from surfaces fitted without"
        f" them, on a set of diameter {error.diameter:.3g}"
    )
    if error.flags:
        return Result(
            Reason.SUSPECT,
            f"{'; '.join(flag.value for flag in error.flags)}. For what it is worth: {found}",
        )
    return Result(Reason.CONVERGED, found)
