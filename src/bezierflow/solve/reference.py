"""The ideal point and the ranges of the objectives, found before a run that needs them."""

import equinox as eqx
import numpy as np

from ..bezier import BezierSimplex
from ..evaluations import Evaluations
from ..flows import AbstractFlow, Flow, corners
from ..normal import find_minimizers
from ..objectives import FlatObjectives, JaxEvaluator
from ..scalarizations import AbstractReferencedScalarization, Reference


def with_reference(
    flow: AbstractFlow, objectives: FlatObjectives, start: BezierSimplex
) -> tuple[AbstractFlow, Evaluations]:
    """The flow, its scalarization with a reference where it needs one, and what finding it cost.

    Each objective is minimized apart from the others, from its corner of `start`; the ideal point
    has the least values, and an objective's range is from there to its largest value at the others'
    minimizers.
    """
    scalarization = flow.scalarization if isinstance(flow, Flow) else None
    if (
        not isinstance(scalarization, AbstractReferencedScalarization)
        or scalarization.reference is not None
    ):
        return flow, Evaluations()
    evaluator = JaxEvaluator(objectives, start.n_objectives, start.n_variables)
    f = evaluator.values(
        find_minimizers(evaluator.hessians, np.eye(start.n_objectives), corners(start)).x
    )
    ideal = f.min(axis=0)
    scale = np.maximum(f.max(axis=0) - ideal, np.finfo(float).tiny)
    if not (np.isfinite(ideal).all() and np.isfinite(scale).all()):
        raise ValueError(
            f"an objective has no finite minimum to measure from, found {ideal.tolist()}; give a"
            " reference yourself"
        )
    settled = scalarization.with_reference(Reference(ideal, scale))
    return eqx.tree_at(lambda flow: flow.scalarization, flow, settled), evaluator.evaluations
