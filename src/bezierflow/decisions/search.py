"""The search behind every question: from the best places of a grid to the lowest point."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .domain import SimplexDomain
from .front_map import AbstractFrontMap
from .program import Program, first_order, solve

MOST_MINIMA = 6
"""A search starts at so many of the lowest local minima of the grid, at most."""

LOWEST = 4
"""A search with several goals or bounds starts at so many of the lowest points of the grid as well: where constraints meet,
basins may be narrower than its spacing."""

PENALTY = 10.0
"""What one range of violation counts against one unit of the goal when points of the grid are ranked."""

SCREENING = 1e-10
"""SLSQP's tolerance before it is known which start leads to the best end."""

NEARLY_KEPT = 1e-6
"""Violations up to this, in units of ranges, do not keep an end from being refined."""

KEPT = 1e-9
"""Violations up to this, in units of ranges, are rounding of a refined search."""

AGREES = 1e-6
"""Ends whose goals differ by less, in units of the goal's range, agree."""

TIE = 1e-9
"""Goals that differ by less are equally good; of such points the one that was refined last is taken."""

ARRIVED = 1e-9
"""A residual of the first-order conditions that needs no refinement."""

MOST_REFINEMENTS = 2
"""So often the best end so far is refined."""


@dataclass(frozen=True, eq=False)
class Terrain:
    """What is searched: a map over a domain, and its values on the grid of the domain."""

    front: AbstractFrontMap
    domain: SimplexDomain
    values: Float[np.ndarray, "n n_values"]

    def starts(self, program: Program) -> Float[np.ndarray, "n_starts n_objectives"]:
        """The best point of the grid, and the local minima and the lowest points of goal and violation together.

        Without minima whose basins can hardly hold the lowest point: the bottom of a basin is taken to be no deeper below its
        lowest grid point than the highest neighbor is above it.
        """
        rank = program.goals(self.values) + PENALTY * program.violations(self.values)
        beside = rank[self.domain.neighbors]
        minima = np.flatnonzero((rank <= beside.min(axis=1)) & (2 * rank - beside.max(axis=1) <= rank.min()))
        lowest = np.argsort(rank)[:LOWEST] if len(program.c) + len(program.d) > 1 else []
        positions = [_lowest(program, self.values, KEPT), *minima[np.argsort(rank[minima])][:MOST_MINIMA], *lowest]
        return self.domain.grid[list(dict.fromkeys(positions))]


class Found(NamedTuple):
    """The best end of a search.

    Attributes:
        t: where.
        goal: the largest goal there.
        weights: what each value counts for, by the multipliers.
        residual: of the first-order conditions.
        starts: from how many places the search began.
        agreed: how many of them ended at a point as good.
    """

    t: Float[np.ndarray, " n_objectives"]
    goal: float
    weights: Float[np.ndarray, " n_values"]
    residual: float
    starts: int
    agreed: int


def search(terrain: Terrain, program: Program, starts: Float[np.ndarray, "n n_objectives"] | None = None) -> Found:
    """The best of several local solutions; never worse than the best point of the grid, which is among the starts.

    Args:
        terrain: what is searched.
        program: the question.
        starts: where to start from, if not from the best points of the grid.
    """
    front, domain = terrain.front, terrain.domain
    starts = terrain.starts(program) if starts is None else starts
    ends = np.stack([solve(front, domain, program, start, SCREENING) for start in starts])
    t = np.concatenate([ends, starts])
    for _ in range(MOST_REFINEMENTS):
        best = t[_lowest(program, front.values(t), NEARLY_KEPT)]
        if first_order(front, domain, program, best).residual <= ARRIVED:
            break
        t = np.concatenate([solve(front, domain, program, best)[None], t])
    values = front.values(t)
    k = _lowest(program, values, KEPT)
    goals, violations = program.goals(values), program.violations(values)
    agrees = (goals <= goals[k] + AGREES) & (violations <= violations[k] + AGREES)
    n, conditions = len(starts), first_order(front, domain, program, t[k])
    return Found(t[k], float(goals[k]), conditions.weights, conditions.residual, n, int(agrees[-2 * n : -n].sum()))


def _lowest(program: Program, values: Float[np.ndarray, "n n_values"], allowed: float) -> int:
    """The first row with the lowest goal among those that violate bounds least; violations up to what is allowed count as none."""
    violations = program.violations(values)
    broken = np.where(violations > allowed, violations, 0.0)
    goals = np.where(broken == broken.min(), program.goals(values), np.inf)
    return int(np.argmax(goals <= goals.min() + TIE))
