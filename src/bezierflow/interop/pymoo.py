"""pymoo: a `Result` as a solution, the same points polished with exact derivatives, and a solution
as a starting population."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import PyTree
from numpy.typing import ArrayLike

from ..answer import Points, Solution
from ..names import Names
from ..objectives import from_pymoo as problem
from ..points import from_points
from ..solve import minimize
from . import require

__all__ = ["Result", "from_result", "polish", "problem", "to_population"]

if TYPE_CHECKING:
    from pymoo.core.population import Population


Result = Any
"""A pymoo `Result`: designs `X`, values `F` and the `problem` with its bounds are read."""


def from_result(result: Result, names: Names | None = None) -> Solution:
    """The solution through the points of a pymoo `Result`, within the bounds of its problem (see
    `bezierflow.from_points`).

    Constraints of the problem are kept at the points, and between them as far as the surface
    follows the points.

    Args:
        result: what `pymoo.optimize.minimize` returned, for real variables.
        names: of objectives and variables.
    """
    if result.X is None or result.F is None:
        raise ValueError(
            "result holds no feasible points (result.X is None): run the optimizer longer, or relax"
            " the constraints"
        )
    if np.ndim(result.F) != 2:
        raise ValueError(
            "result must be of several objectives and hold several points, got F of shape"
            f" {np.shape(result.F)}"
        )
    # pymoo's mixed variables are dicts in an array of objects
    if np.asarray(result.X).dtype.kind not in "fiu":
        raise TypeError(
            "result must be of real variables (an array of numbers), got designs of another kind"
        )
    return from_points(result.X, result.F, names=names, bounds=_bounds(result))


def polish(
    result: Result,
    objectives: Callable[[PyTree], PyTree],
    n: int | None = None,
    *,
    constraints: object = None,
    tol: float | None = None,
) -> Points:
    """Points on the Pareto set itself, found by `bezierflow.minimize` from the points of a pymoo
    `Result`: `X`, `F` and `t`.

    Args:
        result: what `pymoo.optimize.minimize` returned.
        objectives: the same objectives as a JAX function x -> (M,).
        n: how many points; by default as many as the result holds.
        constraints: as in `bezierflow.minimize`; by default none. Bounds are those of the problem.
        tol: as in `bezierflow.minimize`.
    """
    # a warm start from the surface, not from the points: these have no t
    start = from_result(result).pareto_set
    solution = minimize(objectives, start, bounds=_bounds(result), constraints=constraints, tol=tol)
    return solution.spread(
        max(len(np.asarray(result.F)) if n is None else n, solution.n_objectives)
    )


def to_population(solution: Solution, n: int = 100) -> "Population":
    """A pymoo `Population` of n designs spread evenly over the front, to be given as `sampling=` to
    an algorithm."""
    population = require("pymoo.core.population", "pymoo")
    x = np.asarray(solution.raveling.ravel(solution.spread(n).X, batch_axes=1))
    return population.Population.new("X", x)


def _bounds(result: Result) -> tuple[ArrayLike, ArrayLike] | None:
    """(lower, upper) of the problem, or None where it has none."""
    lower, upper = getattr(result.problem, "xl", None), getattr(result.problem, "xu", None)
    if lower is None and upper is None:
        return None
    return -np.inf if lower is None else np.asarray(lower, float), (
        np.inf if upper is None else np.asarray(upper, float)
    )
