"""Where the long arrays of the Hessian-free flow live: their precision, and how they are split over
devices."""

from dataclasses import dataclass

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Float

from ..runs import kind

CHUNK_NUMBERS = {"cpu": 20_000_000, "gpu": 2_000_000_000, "tpu": 500_000_000}
"""Numbers that the arrays of one chunk of nodes hold at most, by platform: n·L·(3M+4) of them."""

LARGEST_CHUNK = 32
"""Nodes that are worked on side by side at most; more would wait for the slowest of them."""

NODES, VARIABLES = "nodes", "variables"
"""The names of a mesh's axes: nodes are split along the one, the variables of each along the
other."""


@kind("normal.layout/1")
@dataclass(frozen=True)
class Layout:
    """The dtype of arrays with an axis of L numbers, and the mesh that they are split over, if any.
    Hashable."""

    dtype: str = "float64"
    mesh: Mesh | None = None

    @property
    def rounding(self) -> float:
        """The relative precision of the long arrays."""
        return float(np.finfo(self.dtype).eps)

    def check(self, n_variables: int) -> None:
        """Raises unless the mesh has axes of the right names and the variables can be split
        evenly."""
        if self.mesh is None:
            return
        if not set(self.mesh.axis_names) <= {NODES, VARIABLES}:
            raise ValueError(
                f'mesh must have axes named "{NODES}" and "{VARIABLES}", got {self.mesh.axis_names}'
            )
        parts = self.mesh.shape.get(VARIABLES, 1)
        if n_variables % parts:
            raise ValueError(
                f"mesh must split {n_variables} variables evenly, got {parts} parts; pad x, or take"
                " fewer devices"
            )

    def chunk(self, n_objectives: int, n_variables: int) -> int:
        """How many nodes are worked on side by side: a multiple of the mesh's parts."""
        numbers = CHUNK_NUMBERS.get(jax.default_backend(), CHUNK_NUMBERS["cpu"])
        parts = 1 if self.mesh is None else self.mesh.shape.get(NODES, 1)
        fits = int(np.clip(numbers // (n_variables * (3 * n_objectives + 4)), 1, LARGEST_CHUNK))
        return max(parts, fits // parts * parts)

    def split(self, array: Float[Array, "*batch n_variables"]) -> Array:
        """Traceable: variables along the last axis, nodes along the first of several where they can
        be split evenly."""
        if self.mesh is None:
            return array
        names, sizes = self.mesh.axis_names, self.mesh.shape
        first = (
            NODES
            if NODES in names and array.ndim > 1 and array.shape[0] % sizes[NODES] == 0
            else None
        )
        last = VARIABLES if VARIABLES in names else None
        spec = (
            PartitionSpec(last)
            if array.ndim == 1
            else PartitionSpec(first, *[None] * (array.ndim - 2), last)
        )
        return jax.lax.with_sharding_constraint(array, NamedSharding(self.mesh, spec))

    def whole(self, array: Array) -> Array:
        """Traceable: the same on every device, to be read by every process."""
        if self.mesh is None:
            return array
        return jax.lax.with_sharding_constraint(array, NamedSharding(self.mesh, PartitionSpec()))
