"""What a method minimizes at t: many objectives and one t made into a single objective."""

import abc
from collections.abc import Callable

import equinox as eqx
import jax
from jaxtyping import Array, Float


class AbstractScalarization(eqx.Module):
    """A rule that makes one number of M objective values, given t. A new one needs `__call__`,
    nothing else."""

    @abc.abstractmethod
    def __call__(
        self, values: Float[Array, " n_objectives"], t: Float[Array, " n_objectives"]
    ) -> Float[Array, ""]:
        """The scalarized value. Must be differentiable in `values`."""


class Scalarized(eqx.Module):
    """The single objective f(·|t) = s(f_1(·), …, f_M(·); t) that a method sees: it knows nothing of
    t or of M."""

    objectives: Callable[[Array], Array]
    scalarization: AbstractScalarization
    t: Float[Array, " n_objectives"]

    def __call__(self, x: Float[Array, " n_variables"]) -> Float[Array, ""]:
        """f(x|t)."""
        return self.scalarization(self.objectives(x), self.t)

    def smooth(self, x: Float[Array, " n_variables"]) -> Float[Array, ""]:
        """The scalarized smooth parts, for a problem that splits its objectives into smooth ones
        and a prox."""
        return self.scalarization(_part(self.objectives, "smooth")(x), self.t)

    def prox(
        self, x: Float[Array, " n_variables"], step: float | Array
    ) -> Float[Array, " n_variables"]:
        """argmin_y |y − x|²/2 + step Σ_m t_m g_m(y), for the nonsmooth parts g_m of such a problem
        (weighted sums only)."""
        return _part(self.objectives, "prox")(x, step * self.t)

    def gradient(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_variables"]:
        """∇f(x|t), by one backward pass through the objectives: for a weighted sum J_f(x)ᵀ t."""
        return jax.grad(self)(x)


def _part(objectives: Callable, name: str) -> Callable:
    part = getattr(objectives, name, None)
    if part is None:
        raise TypeError(
            f"objectives must have a method {name!r} for a proximal method;"
            f" {type(objectives).__name__} has none. Give the problem as"
            " bezierflow.problems.Composite(smooth, prox)"
        )
    return part
