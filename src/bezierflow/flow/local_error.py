"""How far a surface is from the Pareto set at given t, one number each."""

import numpy as np
from jaxtyping import Float

from ..normal import Evaluator
from .solution import Solution


def local_error(solution: Solution, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, " n"]:
    """The estimated distance of b(t) to the Pareto set at each t: its normal displacement; not a number where there is none.

    It needs the objectives' gradients and Hessians at all t. `solution.error` sums up the same at held-out t.
    """
    points = np.asarray(solution.flat_surface(t), dtype=float)
    count = Evaluator(solution.flat_objectives, solution.n_objectives, points.shape[1])
    linearized = count.linearize(count.at(points), np.asarray(t) > 0, support=True)
    distance = np.linalg.norm(np.asarray(linearized.displacement), axis=1)
    return np.where(np.asarray(linearized.valid), distance, np.nan)
