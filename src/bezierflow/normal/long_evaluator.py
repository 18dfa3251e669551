"""Evaluations on long arrays that stay on their devices, counted and within a budget; a product
counts as a Jacobian."""

from dataclasses import dataclass, field
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..evaluations import Evaluations
from ..objectives import BudgetSpentError, FlatObjectives
from .conjugate import Curvature, Solved, Systems, conjugate, diagonal_probe, look, values_at
from .layout import Layout

MOST_PRODUCTS = 300
"""Products of one system at most."""

SMALL = 4
"""Few points are worked on in batches of a chunk's size over this."""

PROBES = 6
"""Products with random signs for each half of an estimated diagonal."""

AGREEMENT = 0.5
"""The diagonal is used as a preconditioner where its two estimates, as logarithms, correlate by
more than this."""


@dataclass
class LongEvaluator:
    """Objectives of float arrays on devices. It lives for one step, like every evaluator: its
    counts go into the state.

    Attributes:
        objectives: x (L,) -> (M,).
        n_objectives: M.
        n_variables: L.
        layout: precision and devices of the arrays.
        kind: how products with Hessians are made.
        budget: the most points, a product counting as one; None for no limit.
        evaluations: made so far.
    """

    objectives: FlatObjectives
    n_objectives: int
    n_variables: int
    layout: Layout
    kind: Curvature
    budget: int | None = None
    evaluations: Evaluations = field(default_factory=Evaluations)

    @property
    def left(self) -> float:
        """How many points may still be evaluated."""
        return np.inf if self.budget is None else self.budget - int(self.evaluations.objective)

    @property
    def n_tangents(self) -> int:
        """The dimension of a set where all objectives take part, and at least 1: how many
        directions systems may absorb."""
        return max(1, min(self.n_objectives - 1, self.n_variables))

    @property
    def chunk(self) -> int:
        """How many points are worked on side by side."""
        return self.layout.chunk(self.n_objectives, self.n_variables)

    def batches(self, n: int) -> list[tuple[Int[np.ndarray, " size"], int]]:
        """The numbers 0 to n − 1 in batches of one of two sizes, filled up with copies of the last,
        and how many are none.

        Every size is compiled for, so there are two: that of a chunk, and a quarter of it for few
            points.
        """
        size = self.chunk
        if n <= size // SMALL and size % SMALL == 0:
            size //= SMALL
        starts = range(0, n, size)
        return [
            (np.minimum(np.arange(start, start + size), n - 1), min(size, n - start))
            for start in starts
        ]

    def place(
        self, points: Float[np.ndarray, "n n_variables"]
    ) -> list[Float[Array, "size n_variables"]]:
        """Points of the host on their devices, in batches."""
        split = jax.jit(self.layout.split)
        return [
            split(np.asarray(points[rows], dtype=self.layout.dtype))
            for rows, _ in self.batches(len(points))
        ]

    def look(
        self, x: Float[Array, "n n_variables"], n: int
    ) -> tuple[np.ndarray, Array, np.ndarray]:
        """Values, gradients and their inner products; the first n rows count, the others fill up a
        chunk."""
        self._charge(n, 1)
        values, gradients, gram = look(self.layout, self.objectives, x)
        return np.asarray(values, dtype=float), gradients, np.asarray(gram, dtype=float)

    def values(self, x: Float[Array, "n n_variables"], n: int) -> np.ndarray:
        """Values; the first n rows count, the others fill up a chunk."""
        self._charge(n, 0)
        return np.asarray(values_at(self.layout, self.objectives, x), dtype=float)

    def solve(
        self,
        x: Array,
        gradients: Array,
        systems: Systems,
        scales: tuple | None,
        n: int,
        most: int = MOST_PRODUCTS,
    ) -> Solved:
        """Solutions of one system a row (see `conjugate`), as far as the budget goes; the first n
        rows count."""
        most = int(min(most, self.left // max(n, 1)))
        if most < 1:
            raise BudgetSpentError
        if scales is None:
            even = np.ones(systems.curvature.shape)
            scales = _ones(self.layout, self.n_objectives, self.n_variables), even
        solved = conjugate(
            self.layout, self.objectives, self.kind, x, gradients, systems, scales, most
        )
        self._charge(int(solved.products[:n].sum()), 1)
        return solved

    def diagonals(self, x: Float[Array, " n_variables"]) -> Array | None:
        """The Hessians' diagonals at x (M, L), positive, from products with random signs; None
        where they are too rough.

        Off-diagonal entries make the estimate noisy. Two independent ones agree where it is worth
        something.
        """
        self._charge(2 * PROBES * self.n_objectives, 1)
        both = diagonal_probe(self.layout, self.objectives, self.kind, x, PROBES)
        agreement, diagonal = _compared(self.layout, both)
        return diagonal if float(np.min(np.asarray(agreement))) > AGREEMENT else None

    def _charge(self, n: int, order: int) -> None:
        if n > self.left:
            raise BudgetSpentError
        objective, jacobian, hessian = map(int, self.evaluations)
        self.evaluations = Evaluations(objective + n, jacobian + n * order, hessian)


@partial(jax.jit, static_argnums=(0, 1, 2))
def _ones(layout: Layout, n_objectives: int, n_variables: int) -> Array:
    return layout.split(jnp.ones((n_objectives, n_variables), layout.dtype))


@partial(jax.jit, static_argnums=0)
def _compared(layout: Layout, both: Array) -> tuple[Array, Array]:
    """How well two estimates agree (M,), and their mean, bounded away from 0."""
    mean = jnp.mean(both, axis=0)
    floor = 0.01 * jnp.mean(jnp.abs(mean), axis=1, keepdims=True)
    logs = jnp.log(jnp.maximum(both, floor))
    logs = logs - jnp.mean(logs, axis=2, keepdims=True)
    size = jnp.sqrt(jnp.sum(logs**2, axis=2))
    agreement = jnp.sum(logs[0] * logs[1], axis=1) / jnp.maximum(size[0] * size[1], 1e-30)
    usable = jnp.all(jnp.isfinite(both))
    return layout.whole(jnp.where(usable, agreement, 0.0)), layout.split(jnp.maximum(mean, floor))
