"""The domain: multi-indices, points and nodes of the simplex Δ^{M−1}, its faces, and samplers for
flows."""

from .faces import check_face, controls_on_face, faces, include, support
from .indices import (
    index_positions,
    largest_degree_within,
    multi_indices,
    multinomial,
    multinomials,
    n_controls,
    neighbor_positions,
    raised_positions,
)
from .nearest import Nearest, SmoothMap, nearest, nearest_from, nearest_of_grid
from .nodes import Nodes, gauss_nodes, lobatto_nodes, lobatto_points, quadrature_nodes, spread_nodes
from .points import (
    check_on_simplex,
    from_cube,
    grid,
    kronecker,
    low_discrepancy,
    stratified,
    tangent_basis,
    uniform,
)
from .samplers import AbstractSampler, Fixed, LowDiscrepancy, Stratified, Uniform

__all__ = [
    "AbstractSampler",
    "Fixed",
    "LowDiscrepancy",
    "Nearest",
    "Nodes",
    "SmoothMap",
    "Stratified",
    "Uniform",
    "check_face",
    "check_on_simplex",
    "controls_on_face",
    "faces",
    "from_cube",
    "gauss_nodes",
    "grid",
    "include",
    "index_positions",
    "kronecker",
    "largest_degree_within",
    "lobatto_nodes",
    "lobatto_points",
    "low_discrepancy",
    "multi_indices",
    "multinomial",
    "multinomials",
    "n_controls",
    "nearest",
    "nearest_from",
    "nearest_of_grid",
    "neighbor_positions",
    "quadrature_nodes",
    "raised_positions",
    "spread_nodes",
    "stratified",
    "support",
    "tangent_basis",
    "uniform",
]
