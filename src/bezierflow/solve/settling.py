"""A design of an atlas made exact: the problem behind a solution put together again, for one
search."""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..answer import BezierAtlas, Solution
from ..atlas import settle
from ..bezier import BezierSimplex
from ..kinks import CannotLiftError
from ..objectives import FeasibleSet, feasible_set
from .kinked import lift_problem


class InUnits(eqx.Module):
    """Objectives as a function of variables in units of their own."""

    objectives: Callable[[Array], Array]
    units: np.ndarray

    def __call__(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_objectives"]:
        """f(units · x)."""
        return self.objectives(x * jnp.asarray(self.units))


def settle_on_atlas(
    solution: Solution, x: Float[np.ndarray, " n_variables"]
) -> Float[np.ndarray, " n_variables"] | None:
    """The Pareto point next to a design near an atlas, up to rounding; None where a search from
    there ends at none.

    It is the solution above the chart point of f(x): no objective is above its value at x by more
    than x is below the front. Bounds and constraints hold. Flat vectors of the solver's variables.
    """
    assert isinstance(solution.pareto_set, BezierAtlas)
    atlas = solution.pareto_set.turned(solution.names.signs)
    feasible = _feasible(solution, atlas)
    scale = np.ones(len(x)) if feasible.scale is None else np.array(feasible.scale)
    objectives = InUnits(solution.flat_objectives, scale)
    scales = atlas.units.ideal, atlas.units.span
    if atlas.units.n_auxiliary:
        start = BezierSimplex(np.tile(x / scale, (atlas.n_objectives, 1)), atlas.n_objectives, 1)
        try:
            kinked = lift_problem(
                objectives, start, feasible, found=atlas.units.x(atlas.points.z) / scale
            )
        except CannotLiftError:
            return None
        if kinked is not None:
            begin = np.append(x / scale, np.zeros(kinked.objectives.n_auxiliary))
            found = settle(kinked.objectives, kinked.feasible, kinked.box, scales, begin)
            return None if found is None else scale * found[: len(x)]
    found = settle(objectives, feasible, _box(atlas, scale), scales, x / scale)
    return None if found is None else scale * found


def _feasible(solution: Solution, atlas: BezierAtlas) -> FeasibleSet:
    """The bounds and constraints of the run; of a solution from a file, which has no constraints,
    the bounds."""
    if solution.feasible is not None:
        return solution.feasible
    n, units = atlas.n_variables, atlas.units
    if units.n_auxiliary == 0 and len(atlas.patches[0].label.constraints):
        raise ValueError(
            "this solution has constraints, and files do not keep their code: polish before saving"
        )
    return feasible_set((units.lower[:n], units.upper[:n]), None, n)


def _box(
    atlas: BezierAtlas, scale: Float[np.ndarray, " n_variables"]
) -> tuple[np.ndarray, np.ndarray]:
    """The box that gave the variables of the atlas their units."""
    units = atlas.units
    low, high = units.lower.copy(), units.upper.copy()
    low[units.free], high[units.free] = units.origin, units.origin + units.unit
    return low / scale, high / scale
