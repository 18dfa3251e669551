"""Long arrays: where they live, and the subspace that a run without Hessian matrices has seen.

Control points, points of the set and tangents are combinations of the displacements found so far, a
few hundred at most. With an orthonormal basis B of their span, x = Bᵀc, lengths and angles of
vectors are those of their coordinates c. So all that fits and measures a surface works on short
rows of float64 on the host, whatever L is; only B has the length L.

The basis is a tuple of blocks of equally many rows, the last of them filled up with zeros: every
size is compiled for, so there is one. A span is never changed, so that it can be kept in a state:
one with more directions shares all blocks but the last.
"""

from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Float

from ..kinds import kind
from .schedule import USUAL

NODES, VARIABLES = "nodes", "variables"
"""The names of a mesh's axes: nodes are split along the one, the variables of each along the
other."""

DEPENDENT = {"float64": 1e-9, "float32": 1e-5}
"""Of new directions, of length 1, what adds less than the root of this to the span is left out, by
precision: it would be known by rounding alone. It can be added afterwards."""

COMPLETE = 4
"""So often directions are added until nothing of the first points is left out."""

HIGHEST = jax.lax.Precision.HIGHEST


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
        platforms = dict(USUAL.chunk_numbers)
        numbers = platforms.get(jax.default_backend(), platforms["cpu"])
        parts = 1 if self.mesh is None else self.mesh.shape.get(NODES, 1)
        fits = numbers // (n_variables * (3 * n_objectives + 4))
        fits = int(np.clip(fits, 1, USUAL.largest_chunk))
        return max(parts, fits // parts * parts)

    def split(self, array: Float[Array, "*batch n_variables"]) -> Array:
        """Traceable: variables along the last axis, nodes along the first of several where they can
        be split evenly."""
        if self.mesh is None:
            return array
        names, sizes = self.mesh.axis_names, self.mesh.shape
        even = NODES in names and array.ndim > 1 and array.shape[0] % sizes[NODES] == 0
        last = VARIABLES if VARIABLES in names else None
        axes = (NODES if even else None, *[None] * (array.ndim - 2), last)
        spec = PartitionSpec(*axes[-array.ndim :])
        return jax.lax.with_sharding_constraint(array, NamedSharding(self.mesh, spec))

    def whole(self, array: Array) -> Array:
        """Traceable: the same on every device, to be read by every process."""
        if self.mesh is None:
            return array
        return jax.lax.with_sharding_constraint(array, NamedSharding(self.mesh, PartitionSpec()))


@kind("normal.span/1")
@dataclass(frozen=True)
class Span:
    """The span of an orthonormal basis.

    Attributes:
        n_variables: L.
        rows: of a block. Vectors should come in batches of so many, or of few sizes.
        layout: of the long arrays.
        blocks: of the basis.
        used: how many directions there are; rows of blocks after these are zeros.
    """

    n_variables: int
    rows: int
    layout: Layout
    blocks: tuple[Float[Array, "n_rows n_variables"], ...] = ()
    used: int = 0

    @classmethod
    def of(
        cls, batches: list[Float[Array, "_ n_variables"]], rows: int, layout: Layout
    ) -> tuple["Span", Float[np.ndarray, "n width"]]:
        """The span of batches of points, and their coordinates."""
        span, parts = cls(batches[0].shape[1], rows, layout), []
        least = 8 * layout.rounding * max(float(lengths(layout, one).max()) for one in batches)
        for rest in batches:
            coordinates = np.zeros((len(rest), 0))
            for _ in range(COMPLETE):
                before = span.used
                within, rest = span.project(rest)
                span, coordinates = span.extended(rest, least), resize(coordinates, before) + within
                if span.used == before:
                    break
            parts.append(coordinates)
        return span, np.concatenate([resize(part, span.used) for part in parts])

    def points(self, coordinates: Float[np.ndarray, "n width"]) -> Float[Array, "n n_variables"]:
        """Bᵀc, row by row; columns beyond the basis are zeros."""
        return self._add(filled(self.layout, len(coordinates), self.n_variables), coordinates)

    def coordinates(self, vectors: Float[Array, "n n_variables"]) -> Float[np.ndarray, "n used"]:
        """Of the parts of vectors within the span."""
        found = [np.asarray(_products(self.layout, vectors, block)) for block in self.blocks]
        joined = np.concatenate([np.zeros((len(vectors), 0)), *found], axis=1)
        return joined[:, : self.used].astype(float)

    def project(
        self, vectors: Float[Array, "n n_variables"]
    ) -> tuple[Float[np.ndarray, "n used"], Float[Array, "n n_variables"]]:
        """Coordinates of vectors, and what the span lacks of them, in their place: `vectors` is
        used up."""
        coordinates = np.zeros((len(vectors), self.used))
        for _ in range(2 if self.used else 0):  # the second pass removes what rounding left
            found = self.coordinates(vectors)
            vectors, coordinates = self._add(vectors, -found), coordinates + found
        return coordinates, vectors

    def extended(self, rest: Float[Array, "n n_variables"], least: float) -> "Span":
        """The span with these directions, orthogonal to it, added, as far as they are longer than
        `least` and independent of each other."""
        length, layout = lengths(self.layout, rest), self.layout
        unit = np.where(length > least, 1 / np.maximum(length, 1e-300), 0.0)
        room, weights = self.n_variables - self.used, np.zeros((0, 0))
        if not unit.any() or room == 0:
            return self
        for _ in range(2):  # the second time for what rounding left in the first
            # by the small Gram matrix: a QR factorization would gather the long rows on one device
            gram = np.asarray(_products(layout, rest, rest), dtype=float) * unit[:, None] * unit
            values, vectors = np.linalg.eigh(gram)
            kept = (values > DEPENDENT[layout.dtype] * values[-1])[::-1]
            # orthonormal combinations of the independent directions, largest first
            weights = (vectors.T[::-1][kept] / np.sqrt(values[::-1][kept])[:, None]) * unit
            weights = weights[:room]  # where the span is nearly everything, more is rounding
            square = np.zeros((len(unit), len(unit)), layout.dtype)
            square[: len(weights)] = weights
            rest = _add(layout, filled(layout, len(unit), self.n_variables), square, rest)
            unit = np.ones(len(unit))
        first, used = self.used // self.rows, self.used + len(weights)
        blocks = list(self.blocks[:first])
        for number in range(first, -(-used // self.rows)):
            block = filled(layout, self.rows, self.n_variables)
            # a copy, since `_add` uses up its rows and states share the old block
            if number < len(self.blocks):
                same = np.eye(self.rows, dtype=layout.dtype)
                block = _add(layout, block, same, self.blocks[number])
            place = np.arange(self.used, used) - number * self.rows
            inside = (place >= 0) & (place < self.rows)
            share = np.zeros((self.rows, len(unit)), layout.dtype)
            share[place[inside], np.flatnonzero(inside)] = 1.0
            blocks.append(_add(layout, block, share, rest))
        return replace(self, blocks=tuple(blocks), used=used)

    def rotated(self, directions: Float[np.ndarray, "n_kept used"]) -> "Span":
        """The span of orthonormal combinations of the basis alone; coordinates become c ·
        directionsᵀ."""
        blocks = []
        for start in range(0, len(directions), self.rows):
            part = directions[start : start + self.rows]
            blocks.append(self.points(np.pad(part, ((0, self.rows - len(part)), (0, 0)))))
        return replace(self, blocks=tuple(blocks), used=len(directions))

    def _add(self, rows: Array, coordinates: np.ndarray) -> Array:
        """Rows + Bᵀc."""
        shares = np.zeros((len(coordinates), self.rows * len(self.blocks)), self.layout.dtype)
        # The basis may have grown since these coordinates were made: those that lack are 0.
        n = min(self.used, coordinates.shape[1])
        shares[:, :n] = coordinates[:, :n]
        for k, block in enumerate(self.blocks):
            rows = _add(self.layout, rows, shares[:, k * self.rows : (k + 1) * self.rows], block)
        return rows


def lengths(layout: Layout, rows: Float[Array, "n n_variables"]) -> Float[np.ndarray, " n"]:
    """|v|, row by row."""
    return np.sqrt(np.asarray(_squares(layout, rows), dtype=float))


def resize(rows: Float[np.ndarray, "n _"], width: int) -> Float[np.ndarray, "n width"]:
    """Coordinates with zeros added, or left out, at the end."""
    if rows.shape[1] == width:
        return rows
    return np.pad(rows[:, :width], ((0, 0), (0, max(width - rows.shape[1], 0))))


@partial(jax.jit, static_argnums=(0, 1, 2, 3))
def filled(layout: Layout, n: int, n_variables: int, value: float = 0.0) -> Array:
    """N long rows of one number."""
    return layout.split(jnp.full((n, n_variables), value, layout.dtype))


# The rows are given up to the sum: two such arrays may not fit.
@partial(jax.jit, static_argnums=0, donate_argnums=1)
def _add(layout: Layout, rows: Array, share: Array, block: Array) -> Array:
    return layout.split(rows + jnp.matmul(share, block, precision=HIGHEST))


@partial(jax.jit, static_argnums=0)
def _products(layout: Layout, rows: Array, others: Array) -> Array:
    return layout.whole(jnp.matmul(rows, others.T, precision=HIGHEST))


@partial(jax.jit, static_argnums=0)
def _squares(layout: Layout, rows: Array) -> Array:
    return layout.whole(jnp.sum((rows * rows).astype(jnp.float64), axis=-1))
