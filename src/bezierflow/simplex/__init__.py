"""The domain: multi-indices, points and nodes of the simplex Δ^{M−1}, its faces, and samplers for flows."""

from .faces import check_face, controls_on_face, faces, include, support
from .indices import index_positions, multi_indices, multinomial, multinomials, n_controls, raised_positions
from .nodes import Nodes, gauss_nodes, lobatto_nodes, lobatto_points, quadrature_nodes, spread_nodes
from .points import check_on_simplex, from_cube, grid, kronecker, low_discrepancy, tangent_basis, uniform
from .samplers import AbstractSampler, Fixed, LowDiscrepancy, Uniform

__all__ = [
    "AbstractSampler",
    "Fixed",
    "LowDiscrepancy",
    "Nodes",
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
    "lobatto_nodes",
    "lobatto_points",
    "low_discrepancy",
    "multi_indices",
    "multinomial",
    "multinomials",
    "n_controls",
    "quadrature_nodes",
    "raised_positions",
    "spread_nodes",
    "support",
    "tangent_basis",
    "uniform",
]
