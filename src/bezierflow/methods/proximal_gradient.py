"""The proximal gradient method."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..evaluations import Evaluations
from ..kinds import kind
from .method import AbstractMethod, Objective, StepSize, at_iteration, check_step_size


@kind("method.proximal_gradient/1")
class ProximalGradient(AbstractMethod):
    """x ← prox_{αg}(x − α ∇s(x)) for f = s + g, s smooth: one gradient and one prox per step.

    For objectives with kinks and a cheap prox, such as lasso and group lasso, where it converges
    and gradient descent does not. The objective must have `smooth(x)` and `prox(x, step)`; problems
    made with `bezierflow.problems.Composite` do.

    Args:
        step_size: α, a number (at most one over the Lipschitz constant of ∇s) or a function of the
            iteration.
    """

    step_size: StepSize = eqx.field(converter=check_step_size)

    def init(self, x: Float[Array, " n_variables"]) -> Array:
        """The number of the first iteration, k = 1."""
        return jnp.asarray(1)

    def step(
        self, objective: Objective, x: Float[Array, " n_variables"], state: Array
    ) -> tuple[Array, Array]:
        """prox_{αg}(x − α ∇s(x)), and k + 1."""
        smooth, prox = getattr(objective, "smooth", None), getattr(objective, "prox", None)
        if smooth is None or prox is None:
            raise TypeError(
                "ProximalGradient needs an objective with smooth(x) and prox(x, step), "
                f"got {type(objective).__name__}; wrap the problem in bezierflow.problems.Composite"
            )
        k = state
        step = at_iteration(self.step_size, k)
        return prox(x - step * jax.grad(smooth)(x), step), k + 1

    def evaluations(self, state: Array) -> Evaluations:
        """One gradient."""
        return Evaluations(jacobian=1)
