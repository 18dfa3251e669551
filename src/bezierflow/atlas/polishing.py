"""One design made exact: the point of the front above its objectives, by a search from there and
Newton's method on its label."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Array, Float

from ..answer import centered
from ..objectives import FeasibleSet
from .labels import newton
from .local_solves import judge, solve
from .program import Program

N_LAST_STEPS = 4
"""Newton steps at the end, on the label that was found: each squares the error."""


def settle(
    objectives: Callable[[Array], Array],
    feasible: FeasibleSet,
    box: tuple[np.ndarray, np.ndarray],
    scales: tuple[Float[np.ndarray, " n_objectives"], Float[np.ndarray, " n_objectives"]],
    x: Float[np.ndarray, " n_variables"],
) -> Float[np.ndarray, " n_variables"] | None:
    """The solution above the chart point of x that a search from x ends at, up to rounding; None
    where it ends at none.

    Args:
        objectives: of a flat vector, all to be minimized.
        feasible: bounds and constraints on it.
        box: finite bounds that give the variables their units.
        scales: ideal point and ranges of the objectives.
        x: a design near the set, with any values for auxiliary variables.
    """
    ideal, span = scales
    program = Program(objectives, len(ideal), feasible, box)
    program.ideal, program.span = ideal, span
    z = program.clip((x[None, program.free] - program.origin) / program.unit)
    at, M = program.look(z), program.n_objectives
    slopes = np.linalg.norm(at.J[0, M:], axis=1)
    program.row_scale = np.where(slopes > 0, slopes, 1.0)
    a = centered(at.r[:, :M])
    answers = solve(program, a, z)
    if not answers.good[0]:
        return None
    exact = judge(program, newton(program, answers.found, N_LAST_STEPS))
    return program.x((exact if exact.good[0] else answers).found.z)[0]
