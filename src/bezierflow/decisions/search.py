"""The search behind every question: from the best places of a grid to the lowest point."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .program import Program, first_order, solve
from .terrain import AbstractTerrain

MOST_MINIMA, LOWEST = 6, 4
"""A search starts at so many of the lowest local minima of the grid; and at so many of its lowest
points, if there are several goals or bounds: where constraints meet, basins may be narrower than
steps of the grid."""

PENALTY = 10.0
"""What one unit of violation counts against one unit of the goal when points of the grid are
ranked."""

SCREENING = 1e-10
"""SLSQP's tolerance before it is known which start leads to the best end."""

CLOSE = 1e-6
"""Violations below this do not keep an end from being refined, and ends whose goals differ by less
agree."""

ROUNDING = 1e-9
"""Violations, differences of goals and residuals of the first-order conditions below this are
none."""


class Found(NamedTuple):
    """The best end of a search: where and how low it is, what each value counts for there, and the
    residual (`first_order`).

    Also from how many places the search started, and how many of these led to a point as good.
    """

    t: Float[np.ndarray, " n_objectives"]
    goal: float
    weights: Float[np.ndarray, " n_values"]
    residual: float
    starts: int
    agreed: int


def search(
    terrain: AbstractTerrain,
    program: Program,
    starts: Float[np.ndarray, "n n_objectives"] | None = None,
) -> Found:
    """The best of the local solutions from several starts, which are `good_starts` if not given;
    never worse than a start."""
    starts = good_starts(terrain, program) if starts is None else starts
    n, ends = len(starts), [solve(terrain, program, start, SCREENING) for start in starts]
    t = np.stack([*ends, *starts])
    best = t[_lowest(program, terrain.front_values(t), CLOSE)]
    if first_order(terrain, program, best)[1] > ROUNDING:
        t = np.stack([solve(terrain, program, best), *t])
    values = terrain.front_values(t)
    k, goals, violations = (
        _lowest(program, values, ROUNDING),
        program.goals(values),
        program.violations(values),
    )
    agrees = (goals <= goals[k] + CLOSE) & (violations <= violations[k] + CLOSE)
    return Found(
        t[k],
        float(goals[k]),
        *first_order(terrain, program, t[k]),
        n,
        int(agrees[-2 * n : -n].sum()),
    )


def good_starts(terrain: AbstractTerrain, program: Program) -> Float[np.ndarray, "n n_objectives"]:
    """The best point of the grid, and the local minima and the lowest points of goal and violation
    together."""
    rank = program.goals(terrain.values) + PENALTY * program.violations(terrain.values)
    lowest = np.argsort(rank)[:LOWEST] if len(program.c) + len(program.d) > 1 else []
    positions = [
        _lowest(program, terrain.values, ROUNDING),
        *terrain.local_minima(rank)[:MOST_MINIMA],
        *lowest,
    ]
    return terrain.t[list(dict.fromkeys(positions))]


def _lowest(program: Program, values: Float[np.ndarray, "n n_values"], allowed: float) -> int:
    """The first row with the lowest goal among those that violate bounds least, where what is
    allowed counts as no violation."""
    violations = program.violations(values)
    broken = np.where(violations > allowed, violations, 0.0)
    goals = np.where(
        broken == broken.min(), np.nan_to_num(program.goals(values), nan=np.inf), np.inf
    )
    return int(np.argmax(goals <= goals.min() + ROUNDING))
