"""The loss ℓ(P; t) that stability and the generalization gap are about, and where its supremum over
t is looked for."""

import abc
from typing import Protocol, cast, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..bezier import basis
from ..objectives import FlatObjectives
from ..scalarizations import AbstractScalarization, Scalarized, WeightedSum
from ..simplex import grid, largest_degree_within, low_discrepancy

DENSE = 500
"""About how many t stand for the whole simplex where a supremum or an average over it is taken."""


class AbstractLoss(eqx.Module):
    """ℓ(P; t) of a surface with control points P, at a batch of t. Traceable."""

    @abc.abstractmethod
    def __call__(
        self,
        control_points: Float[Array, "n_controls n_variables"],
        t: Float[Array, "n n_objectives"],
        degree: int,
    ) -> Float[Array, " n"]:
        """The losses at t."""


@runtime_checkable
class HasParetoMap(Protocol):
    """A problem whose solution is known."""

    def pareto_map(
        self, t: Float[Array | np.ndarray, "n n_objectives"]
    ) -> Float[Array | np.ndarray, "n n_variables"]:
        """x*(t)."""
        ...


class Distance(AbstractLoss):
    """ℓ(P; t) = |b(t|P) − x*(t)|, the paper's loss (equation 12). For problems whose Pareto map x*
    is known."""

    problem: HasParetoMap

    def __call__(
        self,
        control_points: Float[Array, "n_controls n_variables"],
        t: Float[Array, "n n_objectives"],
        degree: int,
    ) -> Float[Array, " n"]:
        """The distances at t."""
        return jnp.linalg.norm(
            basis(t, degree) @ control_points - self.problem.pareto_map(t), axis=-1
        )


class Stationarity(AbstractLoss):
    """ℓ(P; t) = |∇_x f(b(t|P) | t)|, the stationarity residual: a surrogate that needs gradients,
    not x*.

    It is 0 where b(t) is stationary for its own weights, and is measured in units of f over units
    of x. Where f(·|t) has Hessian eigenvalues between m > 0 and β along the segment from x*(t) to
    b(t), it encloses the paper's loss: residual/β ≤ |b(t|P) − x*(t)| ≤ residual/m. Its one-sample
    change is at most β times that of the surface. Where f(·|t) is not convex it is 0 at every
    stationary point, and where gradients are unbounded it is unbounded.
    """

    objectives: FlatObjectives
    scalarization: AbstractScalarization

    def __call__(
        self,
        control_points: Float[Array, "n_controls n_variables"],
        t: Float[Array, "n n_objectives"],
        degree: int,
    ) -> Float[Array, " n"]:
        """The residuals at t."""
        x = basis(t, degree) @ control_points
        gradient = jax.vmap(
            lambda t, x: Scalarized(self.objectives, self.scalarization, t).gradient(x)
        )(t, x)
        return jnp.linalg.norm(gradient, axis=-1)


def loss_for(objectives: FlatObjectives, scalarization: AbstractScalarization) -> AbstractLoss:
    """The paper's loss where the problem knows its Pareto map and weighted sums are minimized, else
    the residual."""
    if hasattr(objectives, "pareto_map") and isinstance(scalarization, WeightedSum):
        return Distance(cast(HasParetoMap, objectives))
    return Stationarity(objectives, scalarization)


def dense_points(n_objectives: int, n: int = DENSE) -> Float[np.ndarray, "n_points n_objectives"]:
    """A regular grid of at most n points, its vertices and edges included, and n evenly spread
    points: for suprema over t."""
    return np.concatenate(
        [
            grid(n_objectives, largest_degree_within(n_objectives, n)),
            held_out_points(n_objectives, n),
        ]
    )


def held_out_points(
    n_objectives: int, n: int = DENSE
) -> Float[np.ndarray, "n_points n_objectives"]:
    """Evenly spread t, n of them, that no run draws: for averages over the simplex. Call in double
    precision."""
    return np.asarray(low_discrepancy(jax.random.key(2**31 - 1), n, n_objectives))
