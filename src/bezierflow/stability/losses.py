"""The loss ℓ(P; t) that stability and the generalization gap are about, and where its supremum over t is looked for."""

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..bezier.basis import basis
from ..flow import Flow
from ..scalarizations import AbstractScalarization, Scalarized, WeightedSum
from ..simplex import grid, low_discrepancy

DENSE = 500
"""About how many t stand for the whole simplex where a supremum or an average over it is taken."""


class AbstractLoss(eqx.Module):
    """ℓ(P; t) of a surface with control points P, at a batch of t. Traceable."""

    @abc.abstractmethod
    def __call__(
        self, control_points: Float[Array, "n_controls n_variables"], t: Float[Array, "n n_objectives"], degree: int
    ) -> Float[Array, " n"]:
        """The losses at t."""


class Distance(AbstractLoss):
    """ℓ(P; t) = |b(t|P) − x*(t)|, the paper's loss. For problems whose Pareto map x* is known."""

    problem: Any

    def __call__(self, control_points: Array, t: Array, degree: int) -> Array:
        """The distances at t."""
        return jnp.linalg.norm(basis(t, degree) @ control_points - self.problem.pareto_map(t), axis=-1)


class Stationarity(AbstractLoss):
    """ℓ(P; t) = |∇_x f(b(t|P) | t)|, the stationarity residual: a surrogate that needs gradients, not x*.

    It estimates how far b(t) is from being stationary for its own weights, in units of f over units of x. Where f(·|t) has
    Hessian eigenvalues between m > 0 and β along the way from x*(t) to b(t), it encloses the paper's loss:
    residual/β ≤ |b(t|P) − x*(t)| ≤ residual/m. Its stability is at most β times that of the surface. Where f(·|t) is not
    convex it vanishes at every stationary point and says nothing about which one b(t) is near.
    """

    objectives: Callable[[Array], Array]
    scalarization: AbstractScalarization

    def __call__(self, control_points: Array, t: Array, degree: int) -> Array:
        """The residuals at t."""
        x = basis(t, degree) @ control_points
        gradient = jax.vmap(lambda t, x: Scalarized(self.objectives, self.scalarization, t).gradient(x))(t, x)
        return jnp.linalg.norm(gradient, axis=-1)


def loss_for(objectives: Any, flow: Flow) -> AbstractLoss:
    """The paper's loss where the problem knows its Pareto map and the flow follows it, else the stationarity residual."""
    if hasattr(objectives, "pareto_map") and isinstance(flow.scalarization, WeightedSum):
        return Distance(objectives)
    return Stationarity(objectives, flow.scalarization)


def dense_points(n_objectives: int) -> Float[np.ndarray, "n n_objectives"]:
    """A regular grid of the simplex, its vertices and edges included, with evenly spread points: for suprema over t."""
    resolution = 1
    while len(grid(n_objectives, resolution + 1)) <= DENSE:
        resolution += 1
    return np.concatenate([grid(n_objectives, resolution), held_out_points(n_objectives)])


def held_out_points(n_objectives: int, n: int = DENSE) -> Float[np.ndarray, "n n_objectives"]:
    """Evenly spread t that no run ever draws: for averages over the simplex. Call in double precision."""
    return np.asarray(low_discrepancy(jax.random.key(2**31 - 1), n, n_objectives))
