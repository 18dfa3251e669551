"""Gradient descent."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..evaluations import Evaluations
from ..kinds import kind
from .method import AbstractMethod, Objective, StepSize, at_iteration, check_step_size


@kind("method.gradient_descent/1")
class GradientDescent(AbstractMethod):
    """x ← x − α^(k) ∇f(x): one gradient per step (equation 10).

    Lifted, it is the surface-wise gradient descent, Algorithm 2. Choose it to follow the paper,
    whose stability theory is about it. It wants a step size that fits the objectives' scale.

    Args:
        step_size: α, a number or a function of the iteration k = 1, 2, …; the paper takes `lambda
            k: 1 / k`.
    """

    step_size: StepSize = eqx.field(converter=check_step_size)

    def init(self, x: Float[Array, " n_variables"]) -> Array:
        """The number of the first iteration, k = 1."""
        return jnp.asarray(1)

    def step(
        self, objective: Objective, x: Float[Array, " n_variables"], state: Array
    ) -> tuple[Array, Array]:
        """The moved point x − α^(k) ∇f(x), and k + 1."""
        k = state
        return x - at_iteration(self.step_size, k) * jax.grad(objective)(x), k + 1

    def evaluations(self, state: Array) -> Evaluations:
        """One gradient."""
        return Evaluations(jacobian=1)
