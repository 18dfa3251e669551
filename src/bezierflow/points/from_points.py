"""`from_points`: Pareto points of any optimizer as a solution, with a set, a front and a held-out
error."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from ..answer import ErrorEstimate, FittedFront, Flag, Reason, Result, Solution, Stats
from ..arguments import read_doubles
from ..bezier import BezierSimplex, Raveling
from ..evaluations import Evaluations
from ..metrics import nondominated
from ..names import Names
from ..objectives import FeasibleSet, feasible_set
from .fitting import (
    Cloud,
    dominated_share,
    fit_best,
    folded_share,
    has_lost_a_dimension,
    n_groups,
)
from .schedule import SCHEDULE

Designs = ArrayLike | dict[str, ArrayLike]
"""One design per row: a table, a data frame too, or a dict of arrays."""


def from_points(
    X: Designs,
    F: ArrayLike,
    *,
    names: Names | Mapping[str, Sequence[str]] | None = None,
    bounds: object = None,
) -> Solution:
    """A solution from Pareto points: of NSGA-II or another optimizer, of a study, of measurements.
    All objectives are minimized.

    One Bézier simplex is fitted to designs and objective values together, of the degree that serves
    held-out points best (5-fold cross-validation). Corner m is near the point with the least f_m,
    and a face near the points that no other one dominates in its objectives alone. Dominated points
    are counted but not fitted. There are no objectives to call: everything that needs values reads
    the fitted front. `solution.error` is the distance from points to surfaces that were fitted
    without them: where the points stop short of the true Pareto set, so does the surface.
    `solution.result` is suspect, and says why, where the points are not one curved simplex.

    Args:
        X: the designs, one per row: an array (N, L), a vector for one variable, a data frame, or a
            dict of arrays with leading axis N. Its column names become the names of the variables.
        F: their objective values, one row per point: an array (N, M) or a data frame.
        names: a `bezierflow.problems.Names`, or a mapping such as {"objectives": ["cost", "mass"],
            "variables": [...]}.
        bounds: lower and upper bounds of x, as in `minimize`. All designs of the surface then keep
            them.
    """
    began = time.perf_counter()
    raveling, x, f = _read_points(X, F)
    (n_given, L), M = x.shape, f.shape[1]
    named = _read_names(X, F, names).complete(M, L)
    feasible = _read_box(bounds, raveling, named, x)
    distinct = np.sort(np.unique(np.hstack([x, f]), axis=0, return_index=True)[1])
    kept = distinct[nondominated(f[distinct], keep_equal=True)]
    n, n_dominated, n_repeated = len(kept), len(distinct) - len(kept), n_given - len(distinct)
    if n < SCHEDULE.points_per_control * M:
        raise ValueError(
            f"F must have at least {SCHEDULE.points_per_control * M} distinct points that no other"
            f" one dominates, for a surface of {M} objectives, got {n} ({n_given} points,"
            f" {n_dominated} dominated, {n_repeated} repeated)"
        )
    x, f = x[kept], f[kept]
    # Fits, their errors and folds must not depend on units.
    cloud, offset, scale = _scaled(x, f, feasible)
    surface, trials = fit_best(cloud)
    residuals, degree = trials[surface.degree], surface.degree
    error = _estimate(x, cloud, surface, residuals, scale)
    controls = np.asarray(surface.control_points) * scale + offset
    misses = np.abs(residuals * scale)[:, L:]
    front = BezierSimplex(controls[:, L:], M, degree)
    squares = [np.sum(one**2, axis=1).mean() for one in trials.values()]
    counts = ((n_dominated, "dominated"), (n_repeated, "repeated"))
    aside = ", ".join(f"{count} {what}" for count, what in counts if count)
    points = f"{n} points of {n_given} ({aside})" if aside else f"{n} points"
    worth = (
        f"a surface of degree {degree} through {points}",
        f"held-out points lie {error.rms:.2g} rms and {error.max:.2g} at most from surfaces fitted"
        f" without them, on a set of diameter {error.diameter:.3g}",
    )
    result = Result(Reason.CONVERGED, "", worth)
    if error.flags:
        result = result.doubted("; ".join(flag.value for flag in error.flags))
    return Solution(
        pareto_set=BezierSimplex(raveling.unravel(controls[:, :L]), M, degree),
        objectives=None,
        names=named,
        result=result,
        stats=Stats(Evaluations(), len(trials), time.perf_counter() - began),
        history={"held_out": np.sqrt(squares), "degree": np.array(list(trials))},
        made_by={"method": "from_points", "points": n, "dominated": n_dominated},
        raveling=raveling,
        known_error=error,
        known_front=FittedFront(front, np.sqrt(np.mean(misses**2, axis=0)), misses.max(axis=0)),
        feasible=feasible,
    )


def _read_points(
    X: Designs, F: ArrayLike
) -> tuple[Raveling, Float[np.ndarray, "n n_variables"], Float[np.ndarray, "n n_objectives"]]:
    """How a design lies in a flat vector, the designs as such vectors, and their values, all
    finite."""
    f = _matrix(F, "F")
    if isinstance(X, dict):
        wanted = "an array of numbers with one point per row"
        designs = {key: read_doubles(X[key], f"X[{key!r}]", wanted) for key in X}
        for key in designs:
            if designs[key].ndim < 1:
                raise ValueError(
                    f"X[{key!r}] must be an array with one point per row, got a single number"
                )
    else:
        designs = _matrix(X, "X")
    raveling = Raveling.of(designs, batch_axes=1)
    x = np.asarray(raveling.ravel(designs, batch_axes=1))
    if len(x) != len(f):
        raise ValueError(
            f"X and F must have one row for each point, got {len(x)} and {len(f)} rows"
        )
    if f.shape[1] < 2:
        best = int(np.argmin(np.nan_to_num(f, nan=np.inf)))
        raise ValueError(
            "F must have a column for each of two objectives or more, got 1; a single objective has"
            f" no trade-off, and its best point is row {best}"
        )
    bad = np.flatnonzero(~(np.isfinite(x).all(axis=1) & np.isfinite(f).all(axis=1)))
    if len(bad):
        more = len(bad) - SCHEDULE.named_rows
        rows = ", ".join(map(str, bad[: SCHEDULE.named_rows]))
        rows += f" and {more} more" if more > 0 else ""
        raise ValueError(
            f"X and F must be finite; these rows are not: {rows}; leave such points out"
        )
    return raveling, x, f


def _matrix(table: ArrayLike, argument: str) -> Float[np.ndarray, "n width"]:
    """A table of numbers as float64, one point per row; a plain vector is one column."""
    try:
        array = np.asarray(table, dtype=float)
    except (TypeError, ValueError):
        columns = getattr(table, "items", dict)()  # of a data frame
        wrong = ", ".join(repr(str(name)) for name, column in columns if not _is_numeric(column))
        where = f"; its columns {wrong} do not" if wrong else ""
        raise TypeError(f"{argument} must hold numbers alone, one point per row{where}") from None
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"{argument} must be a matrix with one point per row, got shape {array.shape}"
        )
    return array


def _is_numeric(column: ArrayLike) -> bool:
    try:
        np.asarray(column, dtype=float)
    except (TypeError, ValueError):
        return False
    return True


def _read_names(X: Designs, F: ArrayLike, names: object) -> Names:
    """The names given; what they leave open comes from the columns of data frames, or from the name
    of a single column."""
    given = Names.read(names)
    for kind, table in (("variables", X), ("objectives", F)):
        texts: tuple[Any, ...] = tuple(getattr(table, "columns", (getattr(table, "name", None),)))
        # a data frame without names has numbers in their place
        if texts and all(isinstance(text, str) for text in texts) and not getattr(given, kind):
            given = given.replaced(**{kind: texts})
    return given


def _read_box(
    bounds: object, raveling: Raveling, names: Names, x: np.ndarray
) -> FeasibleSet | None:
    """The bounds, which the points must obey."""
    if bounds is None:
        return None
    box = feasible_set(bounds, None, raveling, names.variables)
    violation = np.maximum(box.lower - x, x - box.upper)
    wrong = np.argwhere(violation > SCHEDULE.slack * (1 + np.abs(x).max(axis=0)))
    if len(wrong):
        row, column = map(int, wrong[0])
        raise ValueError(
            f"X must obey the bounds, but {names.variables[column]} is {x[row, column]:g} in row"
            f" {row}, outside of [{box.lower[column]:g}, {box.upper[column]:g}]"
        )
    return None if box.unbounded else box


def _scaled(
    x: np.ndarray, f: np.ndarray, feasible: FeasibleSet | None
) -> tuple[Cloud, np.ndarray, np.ndarray]:
    """The points in units of ranges, what was taken off each column and what it was divided by.

    A variable counts for the share of its variance that neighbors on the front have in common:
    variables that the objectives hardly depend on are left at random by many optimizers, and would
    draw the front after them.
    """
    from scipy.spatial import KDTree

    rows, L = np.hstack([x, f]), x.shape[1]
    offset, span = rows.min(axis=0), np.ptp(rows, axis=0)
    scale = np.where(span > 0, span, 1.0)
    z = f / scale[L:]
    beside = np.asarray(KDTree(z).query(z, k=2)[1])[:, 1]
    scatter = np.mean((x - x[beside]) ** 2, axis=0) / 2
    noise = scatter / np.maximum(x.var(axis=0), np.finfo(float).tiny)
    # √L: however many variables there are, they count like one objective.
    scale[:L] *= np.sqrt(L) / np.clip(1 - noise, SCHEDULE.least_signal, 1)
    box = (np.full(L, -np.inf), np.full(L, np.inf))
    box = box if feasible is None else (feasible.lower, feasible.upper)
    lower, upper = ((side - offset[:L]) / scale[:L] for side in box)
    return Cloud((rows - offset) / scale, f.shape[1], lower, upper), offset, scale


def _estimate(
    x: np.ndarray, cloud: Cloud, surface: BezierSimplex, residuals: np.ndarray, scale: np.ndarray
) -> ErrorEstimate:
    """How far held-out points are from surfaces fitted without them, in units of x, and what is
    wrong with the points."""
    L, nan = x.shape[1], float("nan")
    distances = np.linalg.norm((residuals * scale)[:, :L], axis=1)
    diameter = float(np.linalg.norm(x - x[np.argmax(cloud.f[:, 0])], axis=1).max())
    rms, largest = float(np.sqrt(np.mean(distances**2))), float(distances.max())
    folded, dominated = folded_share(surface), dominated_share(surface)
    in_ranges = np.sqrt(np.mean(residuals[:, L:] ** 2, axis=0)).max()
    found = {
        Flag.POINTS_APART: n_groups(cloud.rows) > 1,
        Flag.POINTS_DEGENERATE: has_lost_a_dimension(cloud.f),
        Flag.POINTS_MISSED: rms > SCHEDULE.far * diameter or in_ranges > SCHEDULE.far,
        Flag.NOT_SIMPLICIAL: (folded > SCHEDULE.most_folded or dominated > SCHEDULE.most_dominated),
        Flag.FEW_VARIABLES: cloud.n_objectives - 1 > L,
    }
    return ErrorEstimate(
        rms=rms,
        max=largest,
        expected=3 * largest,  # as every error estimate has it
        diameter=diameter,
        n_samples=len(distances),
        n_invalid=0,
        residual=nan,
        folded=folded,
        gap=nan,
        dominated=dominated,
        flags=tuple(flag for flag, raised in found.items() if raised),
        evaluations=0,
    )
