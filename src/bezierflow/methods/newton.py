"""Newton's method, regularized."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..arguments import read_probability
from ..evaluations import Evaluations
from ..kinds import kind
from .method import AbstractMethod, Objective, StepSize, at_iteration, check_step_size


@kind("method.newton/1")
class Newton(AbstractMethod):
    """x ← x − α |H|⁻¹ ∇f(x): one gradient, one Hessian and its eigenvalues per step.

    For smooth objectives, L up to some hundred. Where the Hessian is not positive definite, |H|
    takes the absolute values of its eigenvalues, none below `floor` times the largest: the step is
    then a descent direction instead of one towards a saddle, and it stays finite.

    Args:
        step_size: α, a number (1 is Newton's own) or a function of the iteration.
        floor: the smallest eigenvalue of |H| relative to its largest.
    """

    step_size: StepSize = eqx.field(default=1.0, converter=check_step_size)
    floor: float = eqx.field(default=1e-8, converter=partial(read_probability, name="floor"))

    def init(self, x: Float[Array, " n_variables"]) -> Array:
        """The number of the first iteration, k = 1."""
        return jnp.asarray(1)

    def step(
        self, objective: Objective, x: Float[Array, " n_variables"], state: Array
    ) -> tuple[Array, Array]:
        """The moved point x − α^(k) |H|⁻¹ ∇f(x), and k + 1."""
        k = state
        gradient, hessian = jax.grad(objective)(x), jax.hessian(objective)(x)
        values, vectors = jnp.linalg.eigh(hessian)
        curvature = jnp.abs(values)
        # For a zero Hessian the curvatures are set to 1, which makes the step a gradient step.
        curvature = jnp.where(
            curvature.max() > 0, jnp.maximum(curvature, self.floor * curvature.max()), 1.0
        )
        direction = vectors @ ((vectors.T @ gradient) / curvature)
        return x - at_iteration(self.step_size, k) * direction, k + 1

    def evaluations(self, state: Array) -> Evaluations:
        """One gradient and one Hessian."""
        return Evaluations(jacobian=1, hessian=1)
