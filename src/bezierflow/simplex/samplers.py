"""Samplers: where a flow draws t. Each is called as `sampler(key, n_objectives)`: the points of one
iteration, and weights."""

import abc

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..arguments import read_count, read_doubles
from .nodes import Nodes
from .points import check_on_simplex, low_discrepancy, stratified, uniform


class AbstractSampler(eqx.Module):
    """Where t is drawn. A new sampler needs `n_samples` and `__call__`, nothing else."""

    @property
    @abc.abstractmethod
    def n_samples(self) -> int:
        """How many points one call returns (N in the paper)."""

    @abc.abstractmethod
    def __call__(
        self, key: Array, n_objectives: int
    ) -> tuple[Float[Array, "n_samples n_objectives"], Float[Array, " n_samples"]]:
        """The points of one iteration and their weights in the refit. Traceable; all randomness
        comes from the key."""


class AbstractDrawn(AbstractSampler):
    """N fresh points each iteration, with equal weights. A new one needs `draw`, nothing else."""

    n: int = eqx.field(static=True)

    def __init__(self, n: int):
        self.n = read_count(n, "n", 1)

    @property
    def n_samples(self) -> int:
        """N."""
        return self.n

    def __call__(self, key: Array, n_objectives: int) -> tuple[Array, Array]:
        """Fresh points, equal weights."""
        return self.draw(key, n_objectives), jnp.ones(self.n)

    @abc.abstractmethod
    def draw(self, key: Array, n_objectives: int) -> Float[Array, "n_samples n_objectives"]:
        """The points of one iteration."""


class Uniform(AbstractDrawn):
    """N points i.i.d. from the uniform distribution on Δ^{M−1}: the paper's choice (Algorithm 1,
    line 3)."""

    def draw(self, key: Array, n_objectives: int) -> Array:
        """Independent points."""
        return uniform(key, self.n, n_objectives)


class LowDiscrepancy(AbstractDrawn):
    """N evenly spread points under a fresh random shift each iteration: as unbiased as `Uniform`,
    with less noise."""

    def draw(self, key: Array, n_objectives: int) -> Array:
        """Shifted points."""
        return low_discrepancy(key, self.n, n_objectives)


class Stratified(AbstractDrawn):
    """N points, one in each of N slices of equal measure along every coordinate: for the few points
    of a training step."""

    def draw(self, key: Array, n_objectives: int) -> Array:
        """A point a slice."""
        return stratified(key, self.n, n_objectives)


class Fixed(AbstractSampler):
    """The same nodes each iteration, no chance involved: `Fixed(quadrature_nodes(n_objectives,
    degree))`, or an array of t."""

    t: np.ndarray
    weights: np.ndarray

    def __init__(self, nodes: Nodes | np.ndarray):
        if not isinstance(nodes, Nodes):
            t = read_doubles(nodes, "nodes", "points of the simplex, one a row")
            if t.ndim != 2:
                raise ValueError(
                    "nodes must be a matrix with one point of the simplex a row, got shape"
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
