"""Where the normal flow looks at the surface: recursive Lobatto nodes on every face, the vertices left out, with weights."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..simplex import controls_on_face, lobatto_nodes, n_controls
from .polynomial import design_matrix

LARGEST_SYSTEM = 4000
"""The slide system of the refit has n (M − 1) unknowns; for many objectives fewer nodes are taken to stay below this."""


@dataclass(frozen=True)
class FlowNodes:
    """Nodes t, their weights ω in the refit, the design matrix of the free control points, and which ones are free."""

    t: np.ndarray
    weights: np.ndarray
    design: np.ndarray
    free: np.ndarray
    full_design: np.ndarray


def node_order(n_objectives: int, degree: int) -> int:
    """The order q of the nodes: D + 2, or as much as the size of the refit allows, and at least D."""
    for order in (degree + 2, degree + 1):
        if (n_controls(n_objectives, order) - n_objectives) * (n_objectives - 1) <= LARGEST_SYSTEM:
            return max(order, 2)
    return max(degree, 2)


def largest_degree(n_objectives: int) -> int:
    """The default of max_degree: as high as pays for few objectives, and as the refit allows for many."""
    if n_objectives <= 5:
        return {1: 1, 2: 14, 3: 10, 4: 7, 5: 5}[n_objectives]
    degree = 2
    while (n_controls(n_objectives, degree + 2) - n_objectives) * (n_objectives - 1) <= LARGEST_SYSTEM:
        degree += 1
    return degree


@lru_cache(maxsize=64)
def flow_nodes(n_objectives: int, degree: int, order: int) -> FlowNodes:
    """Nodes of this order for a surface of this degree; ω² = (Π_m (t_m + 0.3/q²))^{1/2}, the largest 1.

    Lobatto nodes crowd towards the faces, with the density that this weight makes up for.
    """
    t = lobatto_nodes(n_objectives, order).t
    t = t[t.max(axis=1) < 1]
    squared = np.sqrt(np.prod(t + 0.3 / order**2, axis=1))
    pinned = [controls_on_face((m,), n_objectives, degree)[0] for m in range(n_objectives)]
    free = np.setdiff1d(np.arange(n_controls(n_objectives, degree)), pinned)
    full = design_matrix(t, degree)
    return FlowNodes(t, np.sqrt(squared / squared.max()), full[:, free], free, full)


@lru_cache(maxsize=64)
def inner_nodes(n_objectives: int, order: int) -> np.ndarray:
    """The Lobatto nodes of this order that lie on no edge: three or more objectives take part."""
    t = lobatto_nodes(n_objectives, order).t
    return t[(t > 0).sum(axis=1) > 2]
