"""A search for a feasible point near another one, by SciPy."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from jaxtyping import Float

MOST_STEPS = 200
"""Iterations of SLSQP and evaluations of least squares in one search."""

PRECISION = 1e-15
"""What SciPy is asked for: more than `contains` needs."""


class RowValues(NamedTuple):
    """Constraints g(x) <= 0 and h(x) = 0 at a point, with their Jacobians."""

    g: Float[np.ndarray, " n_inequalities"]
    dg: Float[np.ndarray, "n_inequalities n_variables"]
    h: Float[np.ndarray, " n_equalities"]
    dh: Float[np.ndarray, "n_equalities n_variables"]


def find_feasible(
    rows: Callable[[np.ndarray], RowValues],
    accepts: Callable[[np.ndarray], bool],
    box: tuple[np.ndarray, np.ndarray],
    start: Float[np.ndarray, " n_variables"],
    x: Float[np.ndarray, " n_variables"],
) -> Float[np.ndarray, " n_variables"]:
    """A point of the box near x that violates the constraints as little as a search from `start`
    achieves.

    Args:
        rows: the constraints.
        accepts: whether a point is feasible.
        box: lower and upper bounds.
        start: where the search begins.
        x: the point to stay near to.
    """
    lower, upper = box
    free = lower < upper
    if not free.any():
        return start
    memory = _Remembered(rows, free, start)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # SciPy warns of steps that it clips to the box
        y = _nearest(memory, lower[free], upper[free], start[free], x[free])
        found = np.clip(memory.whole(y), lower, upper)
        if accepts(found):
            return found
        y = found[free] if np.isfinite(found).all() else start[free]
        return np.clip(
            memory.whole(_least_violation(memory, lower[free], upper[free], y)), lower, upper
        )


class _Remembered:
    """The rows as functions of the free variables; SciPy asks for values and slopes at the same
    point one by one."""

    def __init__(
        self, rows: Callable[[np.ndarray], RowValues], free: np.ndarray, fixed: np.ndarray
    ):
        self.rows, self.free, self.fixed = rows, free, fixed
        self.y: np.ndarray | None = None

    def whole(self, y: np.ndarray) -> np.ndarray:
        x = self.fixed.copy()
        x[self.free] = y
        return x

    def __call__(self, y: np.ndarray) -> RowValues:
        if self.y is None or not np.array_equal(y, self.y):
            found = self.rows(self.whole(y))
            self.y, self.found = (
                y.copy(),
                RowValues(found.g, found.dg[:, self.free], found.h, found.dh[:, self.free]),
            )
        return self.found


def _nearest(
    rows: _Remembered, lower: np.ndarray, upper: np.ndarray, start: np.ndarray, x: np.ndarray
) -> np.ndarray:
    """The feasible point nearest to x, by SLSQP, whose inequalities are those at least 0."""
    from scipy.optimize import minimize

    first, size = rows(start), 1 + np.sum(x**2)  # all rows and the distance are brought to size 1
    s_g, s_h = _scales(first.dg), _scales(first.dh)
    constraints = []
    if len(first.g):
        constraints.append(
            {
                "type": "ineq",
                "fun": lambda y: -rows(y).g / s_g,
                "jac": lambda y: -rows(y).dg / s_g[:, None],
            }
        )
    if len(first.h):
        constraints.append(
            {
                "type": "eq",
                "fun": lambda y: rows(y).h / s_h,
                "jac": lambda y: rows(y).dh / s_h[:, None],
            }
        )
    return minimize(
        lambda y: np.sum((y - x) ** 2) / (2 * size),
        start,
        jac=lambda y: (y - x) / size,
        method="SLSQP",
        bounds=list(zip(lower, upper, strict=True)),
        constraints=constraints,
        options={"maxiter": MOST_STEPS, "ftol": PRECISION},
    ).x


def _scales(slopes: np.ndarray) -> np.ndarray:
    """The length of each row's gradient, 1 where it is 0 or not finite."""
    lengths = np.linalg.norm(slopes, axis=1)
    return np.where(np.isfinite(lengths) & (lengths > 0), lengths, 1.0)


def _least_violation(
    rows: _Remembered, lower: np.ndarray, upper: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """From a point nearly feasible to one that is: least squares of max(g, 0) and h. The start, if
    they fail there."""
    from scipy.optimize import least_squares

    def residuals(y: np.ndarray) -> np.ndarray:
        return np.concatenate([np.maximum(rows(y).g, 0.0), rows(y).h])

    def slopes(y: np.ndarray) -> np.ndarray:
        return np.vstack([rows(y).dg * (rows(y).g > 0)[:, None], rows(y).dh])

    start = np.clip(start, lower, upper)
    before = residuals(start)
    if not np.isfinite(before).all() or not before.any():
        return start
    tolerances = {"xtol": PRECISION, "ftol": PRECISION, "gtol": PRECISION, "max_nfev": MOST_STEPS}
    after = least_squares(
        residuals,
        start,
        cast(Any, slopes),
        bounds=(lower, upper),
        x_scale=1 + np.abs(start),
        **tolerances,
    )
    return after.x if np.sum(residuals(after.x) ** 2) < np.sum(before**2) else start
