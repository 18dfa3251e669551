"""Scalarizations, what a method minimizes at t: one objective of many and a t."""

import abc
import dataclasses
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from jaxtyping import Array, Float

from ..arguments import read_number, read_positive
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


@kind("scalarization.weighted_sum/1")
class WeightedSum(AbstractScalarization):
    """E_t(F) = Σ_m t_m f_m (Section 2.1). Reaches the convex parts of a front."""

    def __call__(
        self, values: Float[Array, " n_objectives"], t: Float[Array, " n_objectives"]
    ) -> Float[Array, ""]:
        """Σ_m t_m f_m."""
        return jnp.dot(t, values)


@kind("scalarization.weighted_power/1")
class WeightedPower(AbstractReferencedScalarization):
    """Σ_m t_m u_m^p, with u the normalized objectives. Smooth; for fronts bent inward.

    A power p > 1 straightens a concave front: where p is large enough, weights t reach all of it;
    those of a plain sum do not. The larger p, the flatter the ends, and the less exactly they are
    found. For p = 1 it is the weighted sum of normalized objectives.

    Args:
        power: p, at least 1.
        reference: ideal point and ranges; found by the run if None.
    """

    power: float = eqx.field(
        default=3.0,
        converter=partial(
            read_number,
            name="power",
            wanted="a finite number of at least 1",
            holds=lambda p: 1 <= p < float("inf"),
        ),
    )
    reference: Reference | None = None

    def __call__(
        self, values: Float[Array, " n_objectives"], t: Float[Array, " n_objectives"]
    ) -> Float[Array, ""]:
        """Σ_m t_m u_m^p."""
        u = self.normalized(values)
        # Rounding can put u slightly below 0, where a fractional power is not a number: value and
        # slope are 0 there.
        inside = u > 0
        return jnp.dot(t, jnp.where(inside, jnp.where(inside, u, 1.0) ** self.power, 0.0))


@kind("scalarization.smooth_tchebycheff/1")
class SmoothTchebycheff(AbstractReferencedScalarization):
    """μ log Σ_m exp(t_m u_m/μ): a smooth max_m t_m u_m, with u the normalized objectives.

    Its minimizers reach every Pareto point, on fronts of any shape. A smaller μ is closer to the
    maximum itself and harder on a method (curvature grows like 1/μ). See Lin et al., "Smooth
    Tchebycheff scalarization for multi-objective optimization", 2024.

    Args:
        smoothing: μ > 0.
        reference: ideal point and ranges; found by the run if None.
    """

    smoothing: float = eqx.field(default=0.1, converter=partial(read_positive, name="smoothing"))
    reference: Reference | None = None

    def __call__(
        self, values: Float[Array, " n_objectives"], t: Float[Array, " n_objectives"]
    ) -> Float[Array, ""]:
        """μ log Σ_m exp(t_m u_m/μ), over the objectives with t_m > 0."""
        u = self.normalized(values)
        # Objectives with t_m = 0 are left out: their terms exp(0) would only shrink the gradient of
        # the others.
        return self.smoothing * logsumexp(t * u / self.smoothing, where=t > 0, return_sign=False)
