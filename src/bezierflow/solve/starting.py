"""Where a run starts: at a point, a surface, or what an earlier solution has found."""

import jax
import numpy as np
from jaxtyping import PyTree

from ..answer import BezierAtlas, Solution
from ..bezier import BezierSimplex


def start_of(x0: PyTree) -> PyTree:
    """The point or surface that x0 stands for: an atlas is one of its designs."""
    found = x0.pareto_set if isinstance(x0, Solution) else x0
    if not isinstance(found, BezierAtlas):
        return found
    design = jax.tree.map(
        lambda leaf: np.asarray(leaf)[None],
        found(np.full(found.n_objectives, 1 / found.n_objectives)),
    )
    return BezierSimplex(design, found.n_objectives, 0)
