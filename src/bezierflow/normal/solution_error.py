"""The error estimate of a finished solution, made when somebody asks for it."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from ..answer import ErrorEstimate, Flag, Solution, why_not_estimated
from ..flows import corners, touches
from ..objectives import JaxEvaluator, bridges
from .estimate import estimate_error
from .free_estimate import estimate_error_freely
from .layout import Layout
from .settings import FREE_VARIABLES
from .survey import Survey


class NormalEstimator:
    """The estimator of every smooth surface: normal displacements at held-out t."""

    def estimate(self, solution: Solution) -> ErrorEstimate:
        """The error at held-out t, however long that takes."""
        objectives, surface = solution.flat_objectives, solution.flat_surface
        many = surface.n_variables >= FREE_VARIABLES and not bridges(objectives)
        error = (
            estimate_error_freely(objectives, surface, Layout())
            if many
            else estimate_error(objectives, surface)
        )
        if solution.feasible is None or not touches(solution.feasible, surface):
            return error
        return replace(error, flags=(*error.flags, Flag.BOUNDS_IGNORED))

    def at(
        self, solution: Solution, t: Float[np.ndarray, "n n_objectives"]
    ) -> Float[np.ndarray, " n"]:
        """The distance of b(t) to the Pareto set at each t; not a number where there is none."""
        surface = solution.flat_surface
        if why_not_estimated(solution.flat_objectives, surface):
            return np.full(len(t), np.nan)
        evaluator = JaxEvaluator(
            solution.flat_objectives, surface.n_objectives, surface.n_variables
        )
        survey = Survey(evaluator, corners(surface), diameter=0.0)
        linearized = survey.linearize(
            evaluator.hessians(np.asarray(surface(t))), np.asarray(t) > 0, support=True
        )
        distances = np.linalg.norm(np.asarray(linearized.displacement), axis=1)
        return np.where(np.asarray(linearized.valid), distances, np.nan)
