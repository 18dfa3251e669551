"""The subspace that a Hessian-free run has seen: an orthonormal basis of long vectors, and short coordinates in it.

Control points, points of the set and tangents are combinations of the displacements found so far, a few hundred at most. With an
orthonormal basis of their span, x = o + Bᵀc, distances and angles between them are those between their coordinates c. So all that
fits and measures a surface works on short rows of float64 on the host, whatever L is; only B has the length L.

The basis is a tuple of blocks of rows. A new block is appended for new directions and none is ever changed, so that a span can be
kept in a state; unused rows of a block are zeros.
"""

from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .layout import Layout

DEPENDENT = {"float64": 1e-9, "float32": 1e-5}
"""New directions, of length 1, that add less than the root of this to the span are left out, by precision."""


@dataclass(frozen=True)
class Span:
    """o + the span of the rows of all blocks. Coordinates have `width` columns; those beyond the blocks' rows are zeros."""

    origin: Float[Array, " n_variables"]
    blocks: tuple[Float[Array, "n_rows n_variables"], ...]
    layout: Layout
    width: int

    @property
    def n_variables(self) -> int:
        """L."""
        return self.origin.shape[0]

    @property
    def used(self) -> int:
        """Columns of coordinates that belong to rows of the basis."""
        return sum(block.shape[0] for block in self.blocks)

    def widened(self, width: int) -> "Span":
        """With coordinates of this width, and at least as wide as the basis."""
        return replace(self, width=max(width, self.used))

    def points(self, coordinates: Float[np.ndarray, "n width"]) -> Float[Array, "n n_variables"]:
        """o + Bᵀc, row by row."""
        return self._combined(_repeated(self.layout, self.origin, len(coordinates)), coordinates)

    def vectors(self, coordinates: Float[np.ndarray, "n width"]) -> Float[Array, "n n_variables"]:
        """Bᵀc, row by row."""
        return self._combined(_repeated(self.layout, jnp.zeros_like(self.origin), len(coordinates)), coordinates)

    def _combined(self, rows: Array, coordinates: np.ndarray) -> Array:
        start = 0
        for block in self.blocks:
            share = coordinates[:, start : start + block.shape[0]].astype(self.layout.dtype)
            rows, start = _add(self.layout, rows, share, block), start + block.shape[0]
        return rows

    def coordinates(self, vectors: Float[Array, "n n_variables"]) -> Float[np.ndarray, "n width"]:
        """Of the parts of vectors (not of points) within the span."""
        found = [np.asarray(_products(self.layout, vectors, block), dtype=float) for block in self.blocks]
        return np.pad(np.concatenate(found, axis=1), ((0, 0), (0, self.width - self.used)))

    def project(
        self, vectors: Float[Array, "n n_variables"], passes: int = 2
    ) -> tuple[Float[np.ndarray, "n width"], Float[Array, "n n_variables"]]:
        """Coordinates of vectors (not of points), and what the span lacks of them, in their place: `vectors` is used up.

        A second pass removes what rounding left.
        """
        coordinates = np.zeros((vectors.shape[0], self.width))
        for _ in range(passes):
            start = 0
            found = [np.asarray(_products(self.layout, vectors, block), dtype=float) for block in self.blocks]
            for block, share in zip(self.blocks, found, strict=True):
                coordinates[:, start : start + block.shape[0]] += share
                vectors = _add(self.layout, vectors, -share.astype(self.layout.dtype), block)
                start += block.shape[0]
        return coordinates, vectors

    def extended(
        self, rest: Float[Array, "n n_variables"], least: float
    ) -> tuple["Span", Float[np.ndarray, "n width"]]:
        """The span with these directions, orthogonal to it, added; and their coordinates. Those shorter than `least` are left out.

        Raises `ValueError` if there is no room: the caller widens spans before it looks.
        """
        gram = np.asarray(_products(self.layout, rest, rest), dtype=float)
        length = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
        inverse = np.where(length > least, 1 / np.maximum(length, 1e-300), 0.0)
        coordinates = np.zeros((len(length), self.width))
        if not inverse.any():
            return self, coordinates
        block = rest
        for unit in (inverse, np.ones(len(length))):  # the second time for what rounding left in the first
            weights = _orthonormal(gram * unit[:, None] * unit, DEPENDENT[self.layout.dtype]) * unit
            block = _mixed(self.layout, weights.astype(self.layout.dtype), block)
            gram = np.asarray(_products(self.layout, block, block), dtype=float)
        start, end = self.used, self.used + block.shape[0]
        if end > self.width:
            raise ValueError(f"a span of width {self.width} has no room for {end} rows")
        coordinates[:, start:end] = np.asarray(_products(self.layout, rest, block), dtype=float)
        return replace(self, blocks=(*self.blocks, block)), coordinates

    def rotated(self, directions: Float[np.ndarray, "n_kept width"], rows: int) -> "Span":
        """The span of orthonormal combinations of the basis alone, in blocks of so many rows; coordinates become c · directionsᵀ."""
        blocks = []
        for start in range(0, len(directions), rows):
            part = directions[start : start + rows]
            blocks.append(self.vectors(np.pad(part, ((0, rows - len(part)), (0, 0)))))
        return replace(self, blocks=tuple(blocks), width=rows * len(blocks))


def start_span(points: Float[Array, "n n_variables"], layout: Layout) -> tuple[Span, Float[np.ndarray, "n width"]]:
    """The span of points around their mean, and their coordinates."""
    origin = _mean(layout, points)
    span = Span(origin, (), layout, points.shape[0])
    away = _away(layout, points, origin)
    longest = float(np.sqrt(np.max(np.diagonal(np.asarray(_products(layout, away, away), dtype=float)), initial=0.0)))
    return span.extended(away, least=8 * layout.rounding * longest)


def lengths(layout: Layout, rows: Float[Array, "n n_variables"]) -> Float[np.ndarray, " n"]:
    """|v|, row by row."""
    return np.sqrt(np.asarray(_squares(layout, rows), dtype=float))


def leave_out(
    layout: Layout, rows: Float[Array, "n n_variables"], others: tuple[Float[Array, "n n_variables"], ...], share: np.ndarray
) -> Float[Array, "n n_variables"]:
    """share · (v without its part in the span of the others of its row); rows whose share is 0 become zeros."""
    if others:
        stacked = jnp.stack(others, axis=1)
        gram, right = (np.asarray(part, dtype=float) for part in _pairs(layout, rows, stacked))
        ridge = 1e-12 * np.trace(gram, axis1=1, axis2=2)[:, None, None] * np.eye(len(others)) + 1e-300 * np.eye(len(others))
        found = np.linalg.solve(gram + ridge, right[:, :, None])[:, :, 0]
        rows = _less(layout, rows, stacked, found.astype(layout.dtype))
    return _kept(layout, rows, share.astype(layout.dtype))


def _orthonormal(gram: np.ndarray, least: float) -> np.ndarray:
    """Combinations W with W G Wᵀ the identity on the independent directions, zero rows for the others, largest first."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > least * max(values[-1], 1e-300)
    return (vectors * np.where(kept, 1 / np.sqrt(np.maximum(values, 1e-300)), 0.0)).T[::-1]


@partial(jax.jit, static_argnums=0, donate_argnums=1)
def _add(layout: Layout, rows: Array, share: Array, block: Array) -> Array:
    return layout.split(rows + jnp.matmul(share, block, precision=jax.lax.Precision.HIGHEST))


@partial(jax.jit, static_argnums=0)
def _mixed(layout: Layout, weights: Array, rows: Array) -> Array:
    return layout.split(jnp.matmul(weights, rows, precision=jax.lax.Precision.HIGHEST))


@partial(jax.jit, static_argnums=0)
def _products(layout: Layout, rows: Array, others: Array) -> Array:
    return layout.whole(jnp.matmul(rows, others.T, precision=jax.lax.Precision.HIGHEST))


@partial(jax.jit, static_argnums=(0, 2))
def _repeated(layout: Layout, row: Array, n: int) -> Array:
    return layout.split(jnp.broadcast_to(row, (n, *row.shape)))


@partial(jax.jit, static_argnums=0)
def _mean(layout: Layout, rows: Array) -> Array:
    return layout.split(jnp.mean(rows, axis=0))


@partial(jax.jit, static_argnums=0)
def _away(layout: Layout, rows: Array, origin: Array) -> Array:
    return layout.split(rows - origin)


@partial(jax.jit, static_argnums=0)
def _squares(layout: Layout, rows: Array) -> Array:
    return layout.whole(jnp.sum((rows * rows).astype(jnp.float64), axis=-1))


@partial(jax.jit, static_argnums=0)
def _pairs(layout: Layout, rows: Array, others: Array) -> tuple[Array, Array]:
    gram = jnp.einsum("nil,njl->nij", others, others, precision=jax.lax.Precision.HIGHEST)
    return layout.whole(gram), layout.whole(jnp.einsum("nil,nl->ni", others, rows, precision=jax.lax.Precision.HIGHEST))


@partial(jax.jit, static_argnums=0)
def _less(layout: Layout, rows: Array, others: Array, share: Array) -> Array:
    return layout.split(rows - jnp.einsum("nk,nkl->nl", share, others))


@partial(jax.jit, static_argnums=0, donate_argnums=1)
def _kept(layout: Layout, rows: Array, share: Array) -> Array:
    return layout.split(jnp.where(share[:, None] != 0, share[:, None] * rows, 0.0))
