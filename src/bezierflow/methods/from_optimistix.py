"""Any optimistix minimiser as a method."""

from typing import TYPE_CHECKING

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..arguments import read_count, shown
from ..evaluations import Evaluations
from ..kinds import kind
from .method import AbstractMethod, Objective

if TYPE_CHECKING:
    import optimistix as optx


@kind("method.optimistix/1")
class Optimistix(AbstractMethod):
    """A method from any `optimistix` minimiser: `Optimistix(optx.BFGS(1e-8, 1e-8), n_steps=5)`.

    One application of A is up to `n_steps` steps of the minimiser, started afresh at each point: as
    the paper has it, a map from a point and an objective to a better point. What it learns (an
    approximate Hessian, say) belongs to one t and one application; nothing is carried to other t,
    so more steps per application serve such methods better than more iterations.

    Args:
        minimiser: the solver, with its tolerances.
        n_steps: the most steps it may take in one application.
    """

    minimiser: "optx.AbstractMinimiser"
    n_steps: int = eqx.field(static=True)

    def __init__(self, minimiser: "optx.AbstractMinimiser", n_steps: int = 10):
        import optimistix as optx  # half a second that only its users pay

        if not isinstance(minimiser, optx.AbstractMinimiser):
            raise TypeError(
                "minimiser must be an optimistix minimiser such as optx.BFGS(1e-8, 1e-8), got"
                f" {shown(minimiser)}"
            )
        self.minimiser, self.n_steps = minimiser, read_count(n_steps, "n_steps", 1)

    def init(self, x: Float[Array, " n_variables"]) -> Array:
        """No steps taken yet."""
        return jnp.asarray(0)

    def step(
        self, objective: Objective, x: Float[Array, " n_variables"], state: Array
    ) -> tuple[Array, Array]:
        """Up to `n_steps` of the minimiser from x, and how many it took."""
        import optimistix as optx

        solution = optx.minimise(
            lambda y, _: objective(y),
            self.minimiser,
            x,
            max_steps=self.n_steps,
            throw=False,
            adjoint=optx.ImplicitAdjoint(),
        )
        return solution.value, jnp.asarray(solution.stats["num_steps"], state.dtype)

    def evaluations(self, state: Array) -> Evaluations:
        """One value and one gradient per step, the most that optimistix' minimisers take."""
        return Evaluations(objective=state, jacobian=state)
