"""The subspace that a Hessian-free run has seen: an orthonormal basis of long vectors, and short
coordinates in it.

Control points, points of the set and tangents are combinations of the displacements found so far, a
few hundred at most. With an orthonormal basis of their span, x = o + Bᵀc, distances and angles
between them are those between their coordinates c. So all that fits and measures a surface works on
short rows of float64 on the host, whatever L is; only B has the length L.

The basis is a tuple of blocks of equally many rows, the last of them filled up with zeros. A span
is never changed, so that it can be kept in a state: one with more directions shares all blocks but
the last.
"""

from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..runs import kind
from .layout import Layout

DEPENDENT = {"float64": 1e-9, "float32": 1e-5}
"""Of new directions, of length 1, what adds less than the root of this to the span is left out, by
precision: it would be known by rounding alone. It can be added afterwards."""

COMPLETE = 4
"""So often directions are added until nothing of the first points is left out."""


@kind("normal.span/1")
@dataclass(frozen=True)
class Span:
    """o + the span of an orthonormal basis.

    Attributes:
        origin: o.
        blocks: of `rows` rows each.
        used: how many directions there are; rows after these are zeros.
        width: columns of coordinates; those after the first `used` are zeros, room for more
            directions.
        rows: of a block. Vectors should come in batches of so many, or of few sizes: each size is
            compiled for.
        layout: of the long arrays.
    """

    origin: Float[Array, " n_variables"]
    blocks: tuple[Float[Array, "n_rows n_variables"], ...]
    used: int
    width: int
    rows: int
    layout: Layout

    @property
    def n_variables(self) -> int:
        """L."""
        return self.origin.shape[0]

    def widened(self, width: int) -> "Span":
        """With coordinates of this width, and at least as wide as the basis."""
        return replace(self, width=max(width, self.used))

    def points(self, coordinates: Float[np.ndarray, "n width"]) -> Float[Array, "n n_variables"]:
        """O + Bᵀc, row by row."""
        return self._combined(_repeated(self.layout, self.origin, len(coordinates)), coordinates)

    def _combined(self, rows: Array, coordinates: np.ndarray) -> Array:
        for block, share in zip(self.blocks, self._shares(coordinates), strict=True):
            rows = _add(self.layout, rows, share, block)
        return rows

    def _shares(self, coordinates: Float[np.ndarray, "n width"]) -> list[np.ndarray]:
        """The columns that belong to each block, in the precision of the long arrays."""
        whole = np.zeros((len(coordinates), self.rows * len(self.blocks)), dtype=self.layout.dtype)
        whole[:, : self.used] = coordinates[:, : self.used]
        return np.split(whole, len(self.blocks), axis=1) if self.blocks else []

    def coordinates(self, vectors: Float[Array, "n n_variables"]) -> Float[np.ndarray, "n width"]:
        """Of the parts of vectors (not of points) within the span."""
        found = [_products(self.layout, vectors, block) for block in self.blocks]
        coordinates = np.zeros((vectors.shape[0], self.width))
        for k, part in enumerate(found):
            start = k * self.rows
            end = min(start + self.rows, self.used)
            coordinates[:, start:end] = np.asarray(part, dtype=float)[:, : end - start]
        return coordinates

    def project(
        self, vectors: Float[Array, "n n_variables"], passes: int = 2
    ) -> tuple[Float[np.ndarray, "n width"], Float[Array, "n n_variables"]]:
        """Coordinates of vectors (not of points), and what the span lacks of them, in their place:
        `vectors` is used up.

        A second pass removes what rounding left.
        """
        coordinates = np.zeros((vectors.shape[0], self.width))
        for _ in range(passes):
            found = self.coordinates(vectors)
            vectors = self._combined(vectors, -found)
            coordinates += found
        return coordinates, vectors

    def extended(
        self, rest: Float[Array, "n n_variables"], least: float
    ) -> tuple["Span", Float[np.ndarray, "n width"]]:
        """The span with these directions, orthogonal to it, added; and their coordinates. Those
        below `least` are left out.

        Raises `ValueError` if there is no room: the caller widens spans before it looks.
        """
        length = lengths(self.layout, rest)
        inverse = np.where(length > least, 1 / np.maximum(length, 1e-300), 0.0)
        if not inverse.any():
            return self, np.zeros((len(length), self.width))
        weights = self._orthonormal(rest, inverse)
        end = self.used + len(weights)
        if end > self.width:
            raise ValueError(f"a span of width {self.width} has no room for {end} directions")
        once = np.pad(weights, ((0, len(length) - len(weights)), (0, 0))).astype(self.layout.dtype)
        new = _mixed(self.layout, once, rest)
        # The second time for what rounding left in the first.
        grown = self._placed(self._orthonormal(new, np.ones(len(length))), new)
        return grown, grown.coordinates(rest)

    def _orthonormal(self, rows: Array, unit: np.ndarray) -> Float[np.ndarray, "n_new n"]:
        """Combinations of rows that are orthonormal: those of the independent directions alone,
        largest first."""
        gram = np.asarray(_products(self.layout, rows, rows), dtype=float) * unit[:, None] * unit
        values, vectors = np.linalg.eigh(gram)
        kept = (values > DEPENDENT[self.layout.dtype] * values[-1])[::-1]
        return (vectors.T[::-1][kept] / np.sqrt(values[::-1][kept])[:, None]) * unit

    def _placed(self, weights: Float[np.ndarray, "n_new n"], rest: Array) -> "Span":
        """With the rows weights · rest as the next directions of the basis."""
        first = self.used // self.rows
        padded = np.zeros(
            ((-(-(self.used + len(weights)) // self.rows) - first) * self.rows, rest.shape[0])
        )
        start = self.used - first * self.rows
        padded[start : start + len(weights)] = weights
        blocks = list(self.blocks[:first])
        for k, part in enumerate(np.split(padded, len(padded) // self.rows)):
            last = self.blocks[first] if k == 0 and first < len(self.blocks) else None
            empty = _repeated(self.layout, jnp.zeros_like(self.origin), self.rows)
            block = empty if last is None else _sum(self.layout, empty, last)
            blocks.append(_add(self.layout, block, part.astype(self.layout.dtype), rest))
        return replace(self, blocks=tuple(blocks), used=self.used + len(weights))

    def rotated(self, directions: Float[np.ndarray, "n_kept width"]) -> "Span":
        """The span of orthonormal combinations of the basis alone; coordinates become c ·
        directionsᵀ."""
        blocks = []
        for start in range(0, len(directions), self.rows):
            part = directions[start : start + self.rows]
            part = np.pad(part, ((0, self.rows - len(part)), (0, 0)))
            blocks.append(
                self._combined(_repeated(self.layout, jnp.zeros_like(self.origin), self.rows), part)
            )
        return replace(self, blocks=tuple(blocks), used=len(directions), width=len(directions))


def start_span(
    points: list[Float[Array, "_ n_variables"]], rows: int, layout: Layout
) -> tuple[Span, Float[np.ndarray, "n width"]]:
    """The span of batches of points around the mean of the first, and their coordinates."""
    origin = _mean(layout, points[0])
    span = Span(origin, (), 0, COMPLETE * sum(batch.shape[0] for batch in points), rows, layout)
    parts, longest = [], 0.0
    for batch in points:
        away = _away(layout, batch, origin)
        longest = max(longest, float(lengths(layout, batch).max()))
        coordinates = 0.0
        for _ in range(COMPLETE):
            within, away = span.project(away)
            coordinates, before = coordinates + within, span.used
            span = span.extended(away, least=8 * layout.rounding * longest)[0]
            if span.used == before:
                break
        parts.append(coordinates)
    return span.widened(0), np.concatenate(parts)[:, : span.used]


def lengths(layout: Layout, rows: Float[Array, "n n_variables"]) -> Float[np.ndarray, " n"]:
    """|v|, row by row."""
    return np.sqrt(np.asarray(_squares(layout, rows), dtype=float))


def leave_out(
    layout: Layout,
    rows: Float[Array, "n n_variables"],
    others: tuple[Float[Array, "n n_variables"], ...],
    share: np.ndarray,
) -> Float[Array, "n n_variables"]:
    """Share · (v without its part in the span of the others of its row); rows whose share is 0
    become zeros."""
    if others:
        stacked = jnp.stack(others, axis=1)
        gram, right = (np.asarray(part, dtype=float) for part in _pairs(layout, rows, stacked))
        ridge = 1e-12 * np.trace(gram, axis1=1, axis2=2)[:, None, None] * np.eye(
            len(others)
        ) + 1e-300 * np.eye(len(others))
        found = np.linalg.solve(gram + ridge, right[:, :, None])[:, :, 0]
        rows = _less(layout, rows, stacked, found.astype(layout.dtype))
    return _kept(layout, rows, share.astype(layout.dtype))


@partial(jax.jit, static_argnums=0, donate_argnums=1)
def _add(layout: Layout, rows: Array, share: Array, block: Array) -> Array:
    return layout.split(rows + jnp.matmul(share, block, precision=jax.lax.Precision.HIGHEST))


@partial(jax.jit, static_argnums=0)
def _mixed(layout: Layout, weights: Array, rows: Array) -> Array:
    return layout.split(jnp.matmul(weights, rows, precision=jax.lax.Precision.HIGHEST))


@partial(jax.jit, static_argnums=0, donate_argnums=1)
def _sum(layout: Layout, rows: Array, others: Array) -> Array:
    return layout.split(rows + others)


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
    return layout.whole(gram), layout.whole(
        jnp.einsum("nil,nl->ni", others, rows, precision=jax.lax.Precision.HIGHEST)
    )


@partial(jax.jit, static_argnums=0)
def _less(layout: Layout, rows: Array, others: Array, share: Array) -> Array:
    return layout.split(rows - jnp.einsum("nk,nkl->nl", share, others))


@partial(jax.jit, static_argnums=0, donate_argnums=1)
def _kept(layout: Layout, rows: Array, share: Array) -> Array:
    return layout.split(jnp.where(share[:, None] != 0, share[:, None] * rows, 0.0))
