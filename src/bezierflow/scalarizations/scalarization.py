"""What a method minimizes at t: many objectives and one t made into a single objective."""

import abc
import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..kinds import kind


class AbstractScalarization(eqx.Module):
    """A rule that makes one number of M objective values, given t. A new one needs `__call__`."""

    @abc.abstractmethod
    def __call__(
        self, values: Float[Array, " n_objectives"], t: Float[Array, " n_objectives"]
    ) -> Float[Array, ""]:
        """The scalarized value. Must be differentiable in `values`."""


@kind("scalarization.reference/1")
class Reference(NamedTuple):
    """Where objectives are measured from, and in which units.

    Attributes:
        ideal: the least value of each objective, found apart from the others.
        scale: how much each objective varies over the minimizers of the others.
    """

    ideal: Float[Array | np.ndarray, " n_objectives"]
    scale: Float[Array | np.ndarray, " n_objectives"]


class AbstractReferencedScalarization(AbstractScalarization):
    """A scalarization of u_m = (f_m − ideal_m)/scale_m. A run finds the reference if it is None."""

    reference: eqx.AbstractVar[Reference | None]

    def with_reference(self, reference: Reference) -> "AbstractReferencedScalarization":
        """The same with this reference; its `__init__` must take every field by name."""
        return dataclasses.replace(self, reference=reference)

    def normalized(self, values: Float[Array, " n_objectives"]) -> Float[Array, " n_objectives"]:
        """The normalized values u = (f − ideal)/scale."""
        if self.reference is None:
            raise ValueError(
                f"{type(self).__name__} has no reference yet; minimize() finds one, or give"
                " reference=Reference(ideal, scale)"
            )
        return (values - jnp.asarray(self.reference.ideal)) / jnp.asarray(self.reference.scale)


class Scalarized(eqx.Module):
    """The single objective f(·|t) = s(f_1(·), …, f_M(·); t) that a method sees."""

    objectives: Callable[[Array], Array]
    scalarization: AbstractScalarization
    t: Float[Array, " n_objectives"]

    def __call__(self, x: Float[Array, " n_variables"]) -> Float[Array, ""]:
        """f(x|t)."""
        return self.scalarization(self.objectives(x), self.t)

    def smooth(self, x: Float[Array, " n_variables"]) -> Float[Array, ""]:
        """The scalarized smooth parts, for a problem that has smooth parts and a prox."""
        return self.scalarization(self._part("smooth")(x), self.t)

    def prox(
        self, x: Float[Array, " n_variables"], step: float | Array
    ) -> Float[Array, " n_variables"]:
        """argmin_y |y − x|²/2 + step Σ_m t_m g_m(y), g_m the nonsmooth parts (of weighted sums)."""
        return self._part("prox")(x, step * self.t)

    def gradient(self, x: Float[Array, " n_variables"]) -> Float[Array, " n_variables"]:
        """∇f(x|t), by one backward pass through the objectives: for a weighted sum J_f(x)ᵀ t."""
        return jax.grad(self)(x)

    def _part(self, name: str) -> Callable:
        part = getattr(self.objectives, name, None)
        if part is None:
            raise TypeError(
                f"objectives must have a method {name!r} for a proximal method;"
                f" {type(self.objectives).__name__} has none. Give the problem as"
                " bezierflow.problems.Composite(smooth, nonsmooth, prox)"
            )
        return part
