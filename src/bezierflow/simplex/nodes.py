"""Node sets on the simplex, with weights: where to sample when chance has no part in it.

* `gauss_nodes`: the conical product of Gauss–Jacobi rules. Exact for polynomials of degree 2q − 1,
  positive weights, all nodes inside. q^{M−1} nodes, so for few objectives.
* `spread_nodes`: a fixed low-discrepancy set with equal weights. Any number of nodes, so for many
  objectives.
* `lobatto_nodes`: recursive Legendre–Gauss–Lobatto nodes. As many as control points of degree q,
  and nodes on every face.
* `quadrature_nodes`: the first where it is affordable, else the second.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..precision import double_precision
from .indices import multi_indices, multinomials, n_controls
from .points import from_cube, kronecker


@dataclass(frozen=True)
class Nodes:
    """Points of the simplex with the weights of a quadrature rule for its uniform distribution
    (they sum to 1)."""

    t: np.ndarray
    weights: np.ndarray

    def __post_init__(self) -> None:
        for name in ("t", "weights"):  # read-only views: node sets are cached and shared
            view = np.asarray(getattr(self, name)).view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)

    def __len__(self) -> int:
        return len(self.t)


def _jacobi_rule(order: int, exponent: int, other: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gauss–Jacobi points of [0, 1] and their weights, summing to 1, for the density ∝
    (1−s)^exponent s^other."""
    from scipy.special import roots_jacobi  # a tenth of a second that only node sets need

    root, mass = roots_jacobi(order, exponent, other)
    return (1 + root) / 2, mass / mass.sum()


@lru_cache(maxsize=64)
def gauss_nodes(n_objectives: int, order: int) -> Nodes:
    """The conical product of `order`-point Gauss–Jacobi rules: exact for polynomials of degree
    2·order − 1 on Δ^{M−1}.

    Stick breaking as in `from_cube`: the share of objective m in what is left has density ∝
    (1−s)^{M−1−m}, so a Gauss–Jacobi rule for that weight function is used along it.
    """
    if order < 1:
        raise ValueError(f"order must be at least 1, got {order}")
    t, weights, left = np.zeros((1, 0)), np.ones(1), np.ones(1)
    for exponent in range(n_objectives - 2, -1, -1):
        share, mass = _jacobi_rule(order, exponent)
        t = np.column_stack([np.repeat(t, order, axis=0), np.outer(left, share).ravel()])
        weights = np.outer(weights, mass).ravel()
        left = np.outer(left, 1 - share).ravel()
    return Nodes(np.column_stack([t, left]), weights)


@lru_cache(maxsize=64)
def spread_nodes(n_objectives: int, n: int) -> Nodes:
    """`n` evenly spread nodes of equal weight: a Kronecker sequence carried to the simplex.
    Deterministic."""
    with double_precision():
        t = np.asarray(from_cube(kronecker(n, n_objectives - 1)))
    return Nodes(t, np.full(n, 1 / n))


AFFORDABLE_OVERSAMPLING = 8
"""Gauss nodes are used while there are at most this many for each control point; past that
low-discrepancy nodes win."""

SPREAD_OVERSAMPLING = 3
"""Low-discrepancy nodes for each control point: enough for a condition number below about 10² up to
M = 20."""


def quadrature_nodes(n_objectives: int, degree: int) -> Nodes:
    """Nodes that make least squares of this degree close to the L² projection, for any number of
    objectives.

    Gauss nodes with two more a direction than the degree (25 for M = 3, D = 3: within 0.1 % of the
    best surface of that degree on scaled-MED); low-discrepancy nodes where their number q^{M−1}
    outgrows the number of control points.
    """
    order, controls = degree + 2, n_controls(n_objectives, degree)
    if order ** (n_objectives - 1) <= AFFORDABLE_OVERSAMPLING * controls:
        return gauss_nodes(n_objectives, order)
    return spread_nodes(n_objectives, SPREAD_OVERSAMPLING * controls)


@lru_cache(maxsize=64)
def lobatto_points(degree: int) -> np.ndarray:
    """The degree + 1 Legendre–Gauss–Lobatto points of [0, 1], ascending: the ends and the extrema
    of P_degree."""
    if degree == 0:
        return np.array([0.5])
    inner = _jacobi_rule(degree - 1, 1, 1)[0] if degree > 1 else np.zeros(0)
    return np.concatenate([[0.0], inner, [1.0]])


@lru_cache(maxsize=64)
def lobatto_nodes(n_objectives: int, degree: int) -> Nodes:
    """Recursive Legendre–Gauss–Lobatto nodes, one a multi-index of N^M_degree, in the canonical
    order.

    A node is the weighted mean of the nodes its multi-index gives on the facets (one entry
    dropped), with weights x_{n, n−d_m} from the one-dimensional Lobatto points (Isaac, "Recursive,
    parameter-free, explicitly defined interpolation nodes for simplices", SIAM J. Sci. Comput. 42,
    2020). On each face they are that face's own nodes, and vertices are nodes. The weights
    integrate every polynomial of this degree exactly; some are negative from degree 4 on for three
    objectives, from degree 2 on for more.
    """
    if degree < 1:
        raise ValueError(f"degree must be at least 1, got {degree}")
    t = np.array(
        [
            _recursive_node(tuple(int(d) for d in index))
            for index in multi_indices(n_objectives, degree)
        ]
    )
    return Nodes(t, _interpolatory_weights(t, degree))


@lru_cache(maxsize=200_000)
def _recursive_node(index: tuple[int, ...]) -> np.ndarray:
    if len(index) == 1:
        return np.ones(1)
    total = sum(index)
    points = lobatto_points(total)
    node, mass = np.zeros(len(index)), 0.0
    for m in range(len(index)):
        weight = points[total - index[m]]
        if weight > 0:
            node[np.arange(len(index)) != m] += weight * _recursive_node(index[:m] + index[m + 1 :])
            mass += weight
    return node / mass


def _interpolatory_weights(t: np.ndarray, degree: int) -> np.ndarray:
    """The weights w with Σ_i w_i p(t_i) = ∫ p over the uniform distribution, for all p of this
    degree.

    Each Bernstein polynomial of degree D has the mean 1/|N^M_D|, so w solves Zᵀ w = 1/|N^M_D|.
    """
    size, n_objectives = t.shape
    design = np.tile(multinomials(n_objectives, degree), (size, 1))
    for coordinates, exponents in zip(t.T, multi_indices(n_objectives, degree).T, strict=True):
        design *= (coordinates[:, None] ** np.arange(degree + 1))[:, exponents]
    weights = np.linalg.solve(design.T, np.full(size, 1 / size))
    # vertices of the even triangle rules weigh nothing, but for rounding
    return np.where(np.abs(weights) < 1e-14, 0, weights)
