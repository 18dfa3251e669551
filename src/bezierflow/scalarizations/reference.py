"""Scalarizations that measure objectives from an ideal point, in units of their ranges."""

import dataclasses
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .scalarization import AbstractScalarization


class Reference(NamedTuple):
    """Where objectives are measured from, and in which units.

    Attributes:
        ideal: the least value of each objective, found apart from the others.
        scale: how much each objective varies over the minimizers of the others.
    """

    ideal: Float[Array | np.ndarray, " n_objectives"]
    scale: Float[Array | np.ndarray, " n_objectives"]


class AbstractReferencedScalarization(AbstractScalarization):
    """A scalarization of u_m = (f_m − ideal_m)/scale_m. Left without a reference, a run finds one
    before it starts."""

    reference: eqx.AbstractVar[Reference | None]

    def with_reference(self, reference: Reference) -> "AbstractReferencedScalarization":
        """The same scalarization with this reference; its `__init__` must take every field by
        name."""
        return dataclasses.replace(self, reference=reference)

    def normalized(self, values: Float[Array, " n_objectives"]) -> Float[Array, " n_objectives"]:
        """The normalized values u = (f − ideal)/scale."""
        if self.reference is None:
            raise ValueError(
                f"{type(self).__name__} has no reference yet; minimize() finds one, or give"
                " reference=Reference(ideal, scale)"
            )
        return (values - jnp.asarray(self.reference.ideal)) / jnp.asarray(self.reference.scale)
