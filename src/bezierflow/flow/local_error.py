"""How far a surface is from the Pareto set at given t, one number each."""

import numpy as np
from jaxtyping import Float

from ..evaluation import JaxEvaluator
from ..normal import Survey
from .contract import corners
from .solution import Solution
from .verdict import why_not_estimated


def local_error(
    solution: Solution, t: Float[np.ndarray, "n n_objectives"]
) -> Float[np.ndarray, " n"]:
    """The estimated distance of b(t) to the Pareto set at each t: its normal displacement; not a
    number where there is none.

    It needs the objectives' gradients and Hessians at all t, and is no number anywhere where these
    are too large. `solution.error` sums up the same at held-out t, with many variables too.
    """
    surface = solution.flat_surface
    if why_not_estimated(solution.flat_objectives, surface):
        return np.full(len(t), np.nan)
    evaluator = JaxEvaluator(solution.flat_objectives, surface.n_objectives, surface.n_variables)
    survey = Survey(evaluator, corners(surface), diameter=0.0)
    linearized = survey.linearize(
        evaluator.hessians(np.asarray(surface(t))), np.asarray(t) > 0, support=True
    )
    return np.where(
        np.asarray(linearized.valid),
        np.linalg.norm(np.asarray(linearized.displacement), axis=1),
        np.nan,
    )
