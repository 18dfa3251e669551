"""What all runs of a study share: the flow, the objectives, the start, K, and the loss ℓ(P; t)."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..arguments import read_count
from ..bezier import BezierSimplex, basis
from ..flows import Flow
from ..objectives import FlatObjectives
from ..scalarizations import AbstractScalarization, Scalarized, WeightedSum
from ..simplex import grid, largest_degree_within, low_discrepancy
from .schedule import SCHEDULE


class Distance(eqx.Module):
    """ℓ(P; t) = |b(t|P) − x*(t)|, the paper's loss (equation 12).

    Attributes:
        problem: has `pareto_map(t)`, which is x*.
    """

    problem: Any

    def __call__(
        self,
        control_points: Float[Array, "n_controls n_variables"],
        t: Float[Array, "n n_objectives"],
        degree: int,
    ) -> Float[Array, " n"]:
        """The distances at t."""
        x = basis(t, degree) @ control_points
        return jnp.linalg.norm(x - self.problem.pareto_map(t), axis=-1)


class Stationarity(eqx.Module):
    """ℓ(P; t) = |∇_x f(b(t|P) | t)|, the stationarity residual: it needs gradients, not x*.

    It is 0 where b(t) is stationary for its own weights. Where f(·|t) has Hessian eigenvalues
    between m > 0 and β along the segment from x*(t) to b(t), it encloses the paper's loss:
    residual/β ≤ |b(t|P) − x*(t)| ≤ residual/m. Its one-sample change is at most β times that of the
    surface. Where f(·|t) is not convex it is 0 at every stationary point, and where gradients are
    unbounded it is unbounded.
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


Loss = Distance | Stationarity
"""ℓ(P; t) of a surface with control points P, at a batch of t. Traceable."""


class Setting(eqx.Module):
    """A run of a lifted method without its samples, which are drawn from the key of each run.

    Attributes:
        flow: M(A), with its sampler settled for the number of objectives.
        objectives: of a flat vector.
        surface: P^(1).
        n_iterations: K.
    """

    flow: Flow
    objectives: FlatObjectives
    surface: BezierSimplex
    n_iterations: int = eqx.field(static=True)

    def __init__(
        self, flow: Flow, objectives: FlatObjectives, surface: BezierSimplex, n_iterations: int
    ):
        if flow.method.runs_on_host:
            raise TypeError(
                "flow must have a method that JAX can trace, so that twins run side by side;"
                f" {type(flow.method).__name__} runs in Python. Use GradientDescent, Newton,"
                " Optax(...) or Optimistix(...)"
            )
        self.flow = flow.for_objectives(surface.n_objectives)
        self.objectives, self.surface = objectives, surface
        self.n_iterations = read_count(n_iterations, "n_iterations", 1)

    @property
    def n_samples(self) -> int:
        """N."""
        assert self.flow.sampler is not None  # settled when this setting was made
        return self.flow.sampler.n_samples

    @property
    def n_objectives(self) -> int:
        """M."""
        return self.surface.n_objectives

    @property
    def degree(self) -> int:
        """D."""
        return self.flow.degree

    @property
    def loss(self) -> Loss:
        """The paper's loss for weighted sums of a problem with a Pareto map, else the residual."""
        scalarization = self.flow.scalarization
        if hasattr(self.objectives, "pareto_map") and isinstance(scalarization, WeightedSum):
            return Distance(self.objectives)
        return Stationarity(self.objectives, scalarization)


def check_gradients(objectives: Callable, x: np.ndarray) -> None:
    """Raises a TypeError for objectives that JAX cannot differentiate."""
    try:
        jax.eval_shape(jax.jacrev(objectives), x)
    except Exception as error:
        reason = str(error).strip().split("\n")[0]
        raise TypeError(
            "objectives must have gradients, written with jax.numpy; differentiating them failed:"
            f" {reason}"
        ) from error


def dense_points(
    n_objectives: int, n: int = SCHEDULE.dense
) -> Float[np.ndarray, "n_points n_objectives"]:
    """For suprema over t: a regular grid of at most n points, and n evenly spread ones."""
    regular = grid(n_objectives, largest_degree_within(n_objectives, n))
    return np.concatenate([regular, held_out_points(n_objectives, n)])


def held_out_points(
    n_objectives: int, n: int = SCHEDULE.dense
) -> Float[np.ndarray, "n_points n_objectives"]:
    """For averages over t: n evenly spread ones that no run draws. Call in double precision."""
    return np.asarray(low_discrepancy(jax.random.key(2**31 - 1), n, n_objectives))
