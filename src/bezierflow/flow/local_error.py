"""How far a surface is from the Pareto set at given t, one number each."""

import numpy as np
from jaxtyping import Float

from .objectives_on_host import normal_distances
from .solution import Solution


def local_error(solution: Solution, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, " n"]:
    """The estimated distance of b(t) to the Pareto set at each t: its normal displacement; not a number where there is none.

    It needs the objectives' gradients and Hessians at all t. `solution.error` sums up the same at held-out t.
    """
    x = np.asarray(solution.flat_surface(t), dtype=float)
    return normal_distances(solution.flat_objectives, x, np.asarray(t) > 0)
