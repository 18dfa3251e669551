"""The ideal point and the ranges of the objectives, found before a run that needs them."""

import equinox as eqx
import numpy as np

from ..methods import Evaluations
from ..normal import Evaluator, descend, start_descent
from ..scalarizations import AbstractReferencedScalarization, Reference
from .lift import Flow, Objectives


def settle_reference(flow: Flow, objectives: Objectives, start: np.ndarray, n_objectives: int) -> tuple[Flow, Evaluations]:
    """The flow with a reference where its scalarization needs one, and what finding it cost.

    Each objective is minimized apart from the others, from `start`; the ideal point has the least values, and an objective's
    range is from there to its largest value at the others' minimizers.
    """
    scalarization = flow.scalarization
    if not isinstance(scalarization, AbstractReferencedScalarization) or scalarization.reference is not None:
        return flow, Evaluations()
    count = Evaluator(objectives, n_objectives, start.shape[-1])
    descent = start_descent(np.eye(n_objectives), np.broadcast_to(start, (n_objectives, start.shape[-1])))
    while descent.active.any():
        descent = descend(count, descent)
    values = count.values(descent.x)
    ideal = values.min(axis=0)
    scale = np.maximum(values.max(axis=0) - ideal, np.finfo(float).tiny)
    if not (np.isfinite(ideal).all() and np.isfinite(scale).all()):
        raise ValueError(f"an objective has no finite minimum to measure from, found {ideal.tolist()}; give a reference yourself")
    settled = scalarization.with_reference(Reference(ideal, scale))
    return eqx.tree_at(lambda flow: flow.scalarization, flow, settled), Evaluations(**count.counts)
