"""The objectives evaluated at points on the host: every evaluation of this room but those of a lifted flow's iterations."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, Float, PyTree

from ..methods import Evaluations
from ..normal import BudgetSpentError, Evaluator, descend, start_descent
from ..precision import double_precision

Objectives = Callable[[Float[Array, " n_variables"]], Float[Array, " n_objectives"]]


@eqx.filter_jit
def values(objectives: Any, x: PyTree, batch_axes: int) -> Float[Array, "*batch n_objectives"]:
    """F at a batch of x, which may be pytrees. Traceable."""
    for _ in range(batch_axes):
        objectives = jax.vmap(objectives)
    return objectives(x)


def jacobians(objectives: Objectives, x: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n n_objectives n_variables"]:
    """The gradients of all objectives at each x."""
    with double_precision():
        return np.asarray(_jacobians(objectives, x))


@eqx.filter_jit
def _jacobians(objectives: Objectives, x: Array | np.ndarray) -> Array:
    return jax.vmap(jax.jacobian(objectives))(x)


class Minimizers(NamedTuple):
    """Minimizers of weighted sums of the objectives."""

    x: Float[np.ndarray, "n n_variables"]
    found: Bool[np.ndarray, " n"]
    evaluations: Evaluations
    within_budget: bool


def minimizers(
    objectives: Objectives,
    weights: Float[np.ndarray, "n n_objectives"],
    start: Float[np.ndarray, "n n_variables"],
    budget: int | None = None,
) -> Minimizers:
    """The minimizer of Σ_m weights[i, m] f_m from start[i], for every row i; where the budget ends, the best points so far."""
    evaluator = Evaluator(objectives, weights.shape[1], start.shape[1], budget)
    descent, within_budget = start_descent(weights, start), True
    try:
        while descent.active.any():
            descent = descend(evaluator, descent)
    except BudgetSpentError:
        within_budget = False
    return Minimizers(descent.x, descent.converged, Evaluations(**evaluator.counts), within_budget)


def normal_distances(
    objectives: Objectives, x: Float[np.ndarray, "n n_variables"], faces: Bool[np.ndarray, "n n_objectives"]
) -> Float[np.ndarray, " n"]:
    """The length of the normal displacement at each x towards the Pareto set of its face; not a number where there is none."""
    evaluator = Evaluator(objectives, faces.shape[1], x.shape[1])
    linearized = evaluator.linearize(evaluator.at(x), faces, support=True)
    return np.where(np.asarray(linearized.valid), np.linalg.norm(np.asarray(linearized.displacement), axis=1), np.nan)
