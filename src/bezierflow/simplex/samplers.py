"""Where t is placed or drawn: node sets with weights, and the samplers of flows.

Node sets leave nothing to chance:

* `gauss_nodes`: the conical product of Gauss–Jacobi rules. Exact for polynomials of degree 2q − 1,
  positive weights, all nodes inside. q^{M−1} nodes, so for few objectives.
* `spread_nodes`: a fixed low-discrepancy set with equal weights. Any number of nodes, so for many
  objectives.
* `lobatto_nodes`: recursive Legendre–Gauss–Lobatto nodes. As many as control points of degree q,
  and nodes on every face.
* `quadrature_nodes`: the first where it is affordable, else the second.

A sampler is called as `sampler(key, n_objectives)`: the points of one iteration, and weights.
"""

import abc
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..arguments import read_count, read_doubles
from ..kinds import kind
from ..precision import double_precision
from .points import (
    check_on_simplex,
    from_cube,
    kronecker,
    low_discrepancy,
    multi_indices,
    multinomials,
    n_controls,
    read_only,
    stratified,
    uniform,
)
from .schedule import SCHEDULE


@dataclass(frozen=True)
class Nodes:
    """Points of the simplex with quadrature weights for its uniform distribution (of sum 1)."""

    t: np.ndarray
    weights: np.ndarray

    def __post_init__(self) -> None:
        for name in ("t", "weights"):  # read-only views: node sets are cached and shared
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name)).view()))

    def __len__(self) -> int:
        return len(self.t)


def _jacobi_rule(order: int, exponent: int, other: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gauss–Jacobi points of [0, 1] and their weights for the density ∝ (1−s)^exponent s^other."""
    from scipy.special import roots_jacobi  # a tenth of a second that only node sets need

    root, mass = roots_jacobi(order, exponent, other)
    return (1 + root) / 2, mass / mass.sum()


@lru_cache(maxsize=64)
def gauss_nodes(n_objectives: int, order: int) -> Nodes:
    """The conical product of `order`-point Gauss–Jacobi rules: exact up to degree 2·order − 1.

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
    """`n` evenly spread nodes of equal weight: a Kronecker sequence, by `from_cube`."""
    with double_precision():
        t = np.asarray(from_cube(kronecker(n, n_objectives - 1)))
    return Nodes(t, np.full(n, 1 / n))


def quadrature_nodes(n_objectives: int, degree: int) -> Nodes:
    """Nodes that make least squares of this degree close to the L² projection, for any M.

    Gauss nodes with two more per direction than the degree (25 for M = 3, D = 3: within 0.1 % of
    the best surface of that degree on scaled-MED); low-discrepancy nodes where their number q^{M−1}
    outgrows the number of control points.
    """
    order, controls = degree + 2, n_controls(n_objectives, degree)
    if order ** (n_objectives - 1) <= SCHEDULE.affordable_oversampling * controls:
        return gauss_nodes(n_objectives, order)
    return spread_nodes(n_objectives, SCHEDULE.spread_oversampling * controls)


@lru_cache(maxsize=64)
def lobatto_nodes(n_objectives: int, degree: int) -> Nodes:
    """Recursive Legendre–Gauss–Lobatto nodes, one per multi-index of N^M_degree, in its order.

    A node is the weighted mean of the nodes its multi-index gives on the facets (one entry
    dropped), with weights x_{n, n−d_m} from the one-dimensional Lobatto points (Isaac, "Recursive,
    parameter-free, explicitly defined interpolation nodes for simplices", SIAM J. Sci. Comput. 42,
    2020). On each face they are that face's own nodes, and vertices are nodes. The weights
    integrate every polynomial of this degree exactly; some are negative from degree 4 on for three
    objectives, from degree 2 on for more.
    """
    if degree < 1:
        raise ValueError(f"degree must be at least 1, got {degree}")
    indices = multi_indices(n_objectives, degree)
    t = np.array([_recursive_node(tuple(map(int, index))) for index in indices])
    # Each Bernstein polynomial of degree D has the mean 1/|N^M_D|, so that the weights w with
    # Σ_i w_i p(t_i) = ∫ p for all p of this degree solve Zᵀ w = 1/|N^M_D|.
    size = len(t)
    design = np.tile(multinomials(n_objectives, degree), (size, 1))
    for coordinates, exponents in zip(t.T, indices.T, strict=True):
        design *= (coordinates[:, None] ** np.arange(degree + 1))[:, exponents]
    weights = np.linalg.solve(design.T, np.full(size, 1 / size))
    # Vertices of the even triangle rules weigh nothing, but for rounding.
    return Nodes(t, np.where(np.abs(weights) < 1e-14, 0, weights))


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


@lru_cache(maxsize=64)
def lobatto_points(degree: int) -> np.ndarray:
    """The degree + 1 Legendre–Gauss–Lobatto points of [0, 1]: its ends, the extrema of P_degree."""
    if degree == 0:
        return np.array([0.5])
    inner = _jacobi_rule(degree - 1, 1, 1)[0] if degree > 1 else np.zeros(0)
    return np.concatenate([[0.0], inner, [1.0]])


class AbstractSampler(eqx.Module):
    """Where t is drawn. A new sampler needs `n_samples` and `__call__`, nothing else."""

    def for_degree(self, degree: int) -> "AbstractSampler":
        """The sampler of a flow whose surface has that degree: itself, where that is no matter."""
        return self

    @property
    @abc.abstractmethod
    def n_samples(self) -> int:
        """How many points one call returns (N in the paper)."""

    @abc.abstractmethod
    def __call__(
        self, key: Array, n_objectives: int
    ) -> tuple[Float[Array, "n_samples n_objectives"], Float[Array, " n_samples"]]:
        """The points of one iteration and their weights in the refit.

        Traceable; all randomness comes from the key.
        """


class AbstractDrawn(AbstractSampler):
    """N fresh points each iteration, with equal weights."""

    n: int = eqx.field(static=True, converter=partial(read_count, name="n", least=1))
    draw: ClassVar[Callable[[Array, int, int], Array]]
    """From a key, N and M to the points."""

    @property
    def n_samples(self) -> int:
        """N."""
        return self.n

    def __call__(self, key: Array, n_objectives: int) -> tuple[Array, Array]:
        """The points, and equal weights."""
        return type(self).draw(key, self.n, n_objectives), jnp.ones(self.n)


@kind("sampler.uniform/1")
class Uniform(AbstractDrawn):
    """N points i.i.d. uniform on Δ^{M−1}: the paper's choice (Algorithm 1, line 3)."""

    draw = staticmethod(uniform)


@kind("sampler.low_discrepancy/1")
class LowDiscrepancy(AbstractDrawn):
    """N evenly spread points, freshly shifted each iteration: unbiased, with less noise."""

    draw = staticmethod(low_discrepancy)


@kind("sampler.stratified/1")
class Stratified(AbstractDrawn):
    """N points, one per slice of measure 1/N along every coordinate: for small training batches."""

    draw = staticmethod(stratified)


@kind("sampler.fixed/1")
class Fixed(AbstractSampler):
    """The same nodes each iteration: `Fixed(quadrature_nodes(n_objectives, degree))`, or any t."""

    t: np.ndarray
    weights: np.ndarray

    def __init__(self, nodes: Nodes | np.ndarray):
        if not isinstance(nodes, Nodes):
            t = read_doubles(nodes, "nodes", "points of the simplex, one per row")
            if t.ndim != 2:
                raise ValueError(
                    "nodes must be a matrix with one point of the simplex per row, got shape"
                    f" {t.shape}"
                )
            nodes = Nodes(t, np.ones(len(t)))
        check_on_simplex(nodes.t, name="nodes")
        if (nodes.weights < 0).any():
            raise ValueError(
                "nodes must have weights of at least 0 to serve in least squares; give their t"
                " alone instead"
            )
        self.t, self.weights = nodes.t, nodes.weights

    @property
    def n_samples(self) -> int:
        """How many nodes."""
        return len(self.t)

    def __call__(self, key: Array, n_objectives: int) -> tuple[Array, Array]:
        """The nodes and their weights; the key is not used."""
        if self.t.shape[1] != n_objectives:
            raise ValueError(
                f"nodes have {self.t.shape[1]} coordinates, but the problem has {n_objectives}"
                " objectives"
            )
        return jnp.asarray(self.t), jnp.asarray(self.weights)
