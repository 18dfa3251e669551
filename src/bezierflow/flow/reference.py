"""The ideal point and the ranges of the objectives, found before a run that needs them."""

import numpy as np

from ..bezier import BezierSimplex
from ..methods import Evaluations
from ..scalarizations import AbstractReferencedScalarization, AbstractScalarization, Reference
from .contract import corners
from .objectives_on_host import Objectives, minimizers, values


def find_reference(
    scalarization: AbstractScalarization, objectives: Objectives, start: BezierSimplex
) -> tuple[AbstractScalarization, Evaluations]:
    """The scalarization with a reference where it needs one, and what finding it cost.

    Each objective is minimized apart from the others, from its corner of `start`; the ideal point has the least values, and an
    objective's range is from there to its largest value at the others' minimizers.
    """
    if not isinstance(scalarization, AbstractReferencedScalarization) or scalarization.reference is not None:
        return scalarization, Evaluations()
    best = minimizers(objectives, np.eye(start.n_objectives), corners(start))
    f = np.asarray(values(objectives, best.x, 1))
    ideal = f.min(axis=0)
    scale = np.maximum(f.max(axis=0) - ideal, np.finfo(float).tiny)
    if not (np.isfinite(ideal).all() and np.isfinite(scale).all()):
        raise ValueError(f"an objective has no finite minimum to measure from, found {ideal.tolist()}; give a reference yourself")
    spent = best.evaluations._replace(objective=best.evaluations.objective + len(f))
    return scalarization.with_reference(Reference(ideal, scale)), spent
