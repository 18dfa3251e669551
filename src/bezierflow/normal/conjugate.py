"""Evaluations on long arrays, and projected conjugate gradients for many nodes at once, by products
of Hessians with vectors alone.

At each node, with the curvature H = Σ ω_m H_m, orthonormal rows U and a right-hand side b = Σ β_m
g_m, it solves

    (P H P + c ρρᵀ) d = P b,    P = I − UᵀU,    ρ = Σ ω_m g_m,

for the displacement to the set (d across the gradient differences, see `displacement`); or, with a
shift κ > 0, (H + κ UᵀU) d = b, which gives the tangents H⁻¹Uᵀ. Without U both are the step of
Newton's method.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..compilation import program
from ..evaluations import Evaluations
from ..interrupts import raise_if_interrupted
from ..objectives import BudgetSpentError, FlatObjectives
from ..precision import ROUNDING
from .displacement import Column, Values
from .schedule import USUAL
from .span import HIGHEST, Layout, filled

Kind = Literal["free", "none"]
"""Products of Hessians with vectors by differentiating twice, or as differences of gradients."""


class Systems(NamedTuple):
    """One linear system per node, in terms of its gradients g_m.

    Attributes:
        curvature: ω_m.
        right: β_m.
        absorbed: U as combinations of gradients; zero rows where there are fewer.
        shift: κ, or 0.
        bend: c.
        tolerance: relative residual at which a node is done.
    """

    curvature: Values
    right: Values
    absorbed: Float[np.ndarray, "n n_tangents n_objectives"]
    shift: Column
    bend: Column
    tolerance: Column


class Solved(NamedTuple):
    """Solutions d with what is known about them, one per node.

    Attributes:
        d: the solutions; where the curvature turned out negative, as far as they came.
        products: how many were made.
        residual: relative, at the end.
        negative: whether a direction of negative curvature ended it.
        least: the smallest curvature met, pᵀHp/pᵀp.
        largest: the largest one in absolute value.
        size: |P b|.
    """

    d: Float[Array, "n n_variables"]
    products: Int[np.ndarray, " n"]
    residual: Column
    negative: Bool[np.ndarray, " n"]
    least: Column
    largest: Column
    size: Column


@dataclass
class LongEvaluator:
    """Objectives of float arrays that stay on their devices, counted and within a budget; a product
    counts as a Jacobian. It lives for one step, like every evaluator: its counts go into the state.

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
    kind: Kind
    budget: int | None = None
    evaluations: Evaluations = field(default_factory=Evaluations)

    @property
    def left(self) -> float:
        """How many points may still be evaluated."""
        return np.inf if self.budget is None else self.budget - int(self.evaluations.objective)

    def batches(self, n: int) -> list[tuple[Int[np.ndarray, " size"], int]]:
        """The numbers 0 to n − 1 in batches of one of two sizes, filled up with copies of the last,
        and how many of a batch are none.

        Every size is compiled for, so there are two: that of a chunk, and a part of it for few
        points.
        """
        size = self.layout.chunk(self.n_objectives, self.n_variables)
        if n <= size // USUAL.small_chunk and size % USUAL.small_chunk == 0:
            size //= USUAL.small_chunk
        return [
            (np.minimum(np.arange(start, start + size), n - 1), min(size, n - start))
            for start in range(0, n, size)
        ]

    def look(
        self, x: Float[Array, "n n_variables"], n: int
    ) -> tuple[np.ndarray, Array, np.ndarray]:
        """Values, gradients and their inner products; the first n rows count, the others fill up a
        batch."""
        self._charge(n, 1)
        values, gradients, gram = _look(self.layout, self.objectives, x)
        return np.asarray(values, dtype=float), gradients, np.asarray(gram, dtype=float)

    def values(self, x: Float[Array, "n n_variables"], n: int) -> np.ndarray:
        """Values; the first n rows count, the others fill up a batch."""
        self._charge(n, 0)
        return np.asarray(_values(self.layout, self.objectives, x), dtype=float)

    def solve(
        self,
        x: Float[Array, "n n_variables"],
        gradients: Float[Array, "n n_objectives n_variables"],
        systems: Systems,
        scales: tuple[Float[Array, "n_objectives n_variables"], Values] | None,
        n: int,
        most: int = USUAL.most_products,
    ) -> Solved:
        """Solutions of one system per row, with at most so many products each and as far as the
        budget goes; the first n rows count.

        `scales` are diagonals of Hessians and their shares at each node: 1/Σ is the preconditioner.
        """
        most = int(min(most, self.left // max(n, 1)))
        if most < 1:
            raise BudgetSpentError
        if scales is None:  # ones: a second program without a preconditioner would cost more
            ones = filled(self.layout, self.n_objectives, self.n_variables, 1.0)
            scales = ones, np.ones(systems.curvature.shape)
        parts = Systems(*[np.asarray(part, dtype=self.layout.dtype) for part in systems])
        shares = scales[0], scales[1].astype(self.layout.dtype)
        layout, limit = self.layout, jnp.asarray(most)
        found = _conjugate(layout, self.objectives, self.kind, x, gradients, parts, shares, limit)
        solved = Solved(found[0], *map(np.asarray, found[1:]))
        self._charge(int(solved.products[:n].sum()), 1)
        return solved

    def strengths(
        self, x: Float[Array, "n n_variables"], gradients: Array, weights: Values, n: int
    ) -> Column:
        """The curvature of weighted sums in a random direction, always the same; the first n rows
        count."""
        self._charge(n, 1)
        layout, typed = self.layout, jnp.asarray(weights, self.layout.dtype)
        return np.asarray(_strengths(layout, self.objectives, self.kind, x, gradients, typed))

    def diagonals(self, x: Float[Array, " n_variables"]) -> Array | None:
        """The Hessians' diagonals at x (M, L), positive, from products with random signs; None
        where they are too rough.

        Off-diagonal entries make the estimate noisy. Two independent ones agree where it is worth
        something.
        """
        self._charge(2 * USUAL.diagonal_products * self.n_objectives, 1)
        agreement, diagonal = _diagonals(self.layout, self.objectives, self.kind, x)
        return diagonal if float(np.min(np.asarray(agreement))) > USUAL.agreement else None

    def _charge(self, n: int, order: int) -> None:
        raise_if_interrupted()
        if n > self.left:
            raise BudgetSpentError
        objective, jacobian, hessian = map(int, self.evaluations)
        self.evaluations = Evaluations(objective + n, jacobian + n * order, hessian)


@program
def _look(layout: Layout, objectives: FlatObjectives, x: Array) -> tuple[Array, Array, Array]:
    """Values (n, M), gradients (n, M, L) and their inner products (n, M, M) at points."""

    def everything(point: Array) -> tuple[Array, Array]:
        value, pullback = jax.vjp(objectives, point)
        return value, jax.vmap(lambda row: pullback(row)[0])(jnp.eye(len(value), dtype=value.dtype))

    values, gradients = jax.vmap(everything)(layout.split(x))
    gradients = layout.split(gradients)
    gram = jnp.einsum("nil,njl->nij", gradients, gradients, precision=HIGHEST)
    return layout.whole(values), gradients, layout.whole(gram)


@program
def _values(layout: Layout, objectives: FlatObjectives, x: Array) -> Array:
    return layout.whole(jax.vmap(objectives)(layout.split(x)))


@program
def _conjugate(  # noqa: PLR0913
    layout: Layout,
    objectives: FlatObjectives,
    kind: Kind,
    x: Array,
    gradients: Array,
    systems: Systems,
    scales: tuple,
    most: Array,
) -> tuple:
    """The parts of `Solved`."""
    rho = layout.split(jnp.einsum("nm,nml->nl", systems.curvature, gradients, precision=HIGHEST))
    U = layout.split(jnp.einsum("nkm,nml->nkl", systems.absorbed, gradients, precision=HIGHEST))
    shift, bend, weights = (jnp.asarray(systems[k]) for k in (3, 4, 0))
    inverse = layout.split(1 / jnp.matmul(scales[1], scales[0]))
    product = jax.vmap(partial(_product, kind, objectives))

    def along(v: Array) -> Array:
        return jnp.einsum("nkl,nk->nl", U, jnp.einsum("nkl,nl->nk", U, v))

    def project(v: Array) -> Array:
        return layout.split(v - jnp.where(shift > 0, 0, 1).astype(v.dtype)[:, None] * along(v))

    def apply(v: Array) -> Array:
        bent = rho * (bend * _dot(rho, v).astype(v.dtype))[:, None]
        curved = layout.split(product(x, rho, weights, v))
        return project(curved + bent) + shift[:, None] * along(v)

    def advance(state: dict[str, Array]) -> dict[str, Array]:
        d, r, p, active = state["d"], state["r"], state["p"], ~state["done"]
        Hp, pp = apply(p), _dot(p, p)
        curved = _dot(p, Hp)
        quotient = curved / jnp.where(pp > 0, pp, 1.0)
        largest = jnp.maximum(state["largest"], jnp.where(active, jnp.abs(quotient), 0.0))
        # no curvature counts as negative; so written, a quotient of nan ends the row as well
        bad = active & ~(quotient > ROUNDING * largest)
        # rows that are done take steps of 0: all nodes of a batch run until the slowest ends
        step = jnp.where(active & ~bad, state["rz"] / jnp.where(curved != 0, curved, 1.0), 0.0)
        step = step[:, None].astype(d.dtype)
        d, r = d + step * p, r - step * Hp
        z = project(inverse * r)
        rz = _dot(r, z)
        done = state["done"] | bad | (jnp.sqrt(_dot(r, r)) <= systems.tolerance * size)
        ratio = (rz / jnp.where(state["rz"] != 0, state["rz"], 1.0))[:, None].astype(d.dtype)
        return {
            "d": d,
            "r": r,
            "p": jnp.where(done[:, None], p, z + ratio * p),
            "rz": jnp.where(active, rz, state["rz"]),
            "products": state["products"] + active,
            "done": done,
            "negative": state["negative"] | bad,
            "least": jnp.minimum(state["least"], jnp.where(active, quotient, jnp.inf)),
            "largest": largest,
            "n_steps": state["n_steps"] + 1,
        }

    b = project(jnp.einsum("nm,nml->nl", systems.right, gradients, precision=HIGHEST))
    size, z = jnp.sqrt(_dot(b, b)), project(inverse * b)
    zero, none = jnp.zeros(len(b)), jnp.zeros(len(b), dtype=bool)
    start = {
        "d": jnp.zeros_like(b),
        "r": b,
        "p": z,
        "rz": _dot(b, z),
        "products": zero.astype(int),
        "done": size == 0,
        "negative": none,
        "least": zero + jnp.inf,
        "largest": zero,
        "n_steps": jnp.asarray(0),
    }
    end = jax.lax.while_loop(
        lambda state: jnp.any(~state["done"]) & (state["n_steps"] < most), advance, start
    )
    residual = jnp.sqrt(_dot(end["r"], end["r"])) / jnp.where(size > 0, size, 1.0)
    small = (end["products"], residual, end["negative"], end["least"], end["largest"], size)
    return layout.split(end["d"]), *map(layout.whole, small)


def _product(
    kind: Kind, objectives: FlatObjectives, x: Array, slope: Array, weights: Array, v: Array
) -> Array:
    """Σ ω_m H_m v at one point, where Σ ω_m g_m is the slope."""

    def weighted(point: Array) -> Array:
        return jnp.dot(weights, objectives(point).astype(weights.dtype))

    if kind == "free":
        return jax.jvp(jax.grad(weighted), (x,), (v,))[1]
    length = jnp.sqrt(_dot(v, v)).astype(x.dtype)
    # balances the rounding of gradients against their curvature: √ε of the size of x
    size = jnp.sqrt(jnp.finfo(x.dtype).eps) * (1 + jnp.max(jnp.abs(x))) * jnp.sqrt(x.size)
    step = size / jnp.where(length > 0, length, 1)
    return (jax.grad(weighted)(x + step * v) - slope) / step


@program
def _strengths(
    layout: Layout,
    objectives: FlatObjectives,
    kind: Kind,
    x: Array,
    gradients: Array,
    weights: Array,
) -> Array:
    rho = layout.split(jnp.einsum("nm,nml->nl", weights, gradients))
    # signs, not a coordinate: an entry of the diagonal may be 0 where the curvature is not
    v = layout.split(jax.random.rademacher(jax.random.key(0), x.shape[1:], x.dtype))
    product = jax.vmap(partial(_product, kind, objectives), in_axes=(0, 0, 0, None))
    return layout.whole(_dot(v, product(x, rho, weights, v)) / v.size)


def _dot(a: Array, b: Array) -> Array:
    """Inner products of rows, summed in double precision."""
    return jnp.sum((a * b).astype(jnp.float64), axis=-1)


@program
def _diagonals(
    layout: Layout, objectives: FlatObjectives, kind: Kind, x: Array
) -> tuple[Array, Array]:
    """How well two independent estimates of each Hessian's diagonal at a point agree, E[v ∘ H v]
    for signs v, and their mean, bounded away from 0."""
    gradients, n = jax.jacrev(objectives)(x), USUAL.diagonal_products
    unit = jnp.eye(len(gradients), dtype=x.dtype)
    product = jax.vmap(partial(_product, kind, objectives), in_axes=(None, 0, 0, None))

    def half(key: Array) -> Array:
        def add(i: Array, total: Array) -> Array:
            signs = jax.random.rademacher(jax.random.fold_in(key, i), x.shape, x.dtype)
            signs = layout.split(signs)
            return total + layout.split(product(x, gradients, unit, signs) * signs) / n

        return jax.lax.fori_loop(0, n, add, jnp.zeros_like(gradients))

    both = jnp.stack([half(jax.random.key(0)), half(jax.random.key(1))])
    mean = jnp.mean(both, axis=0)
    floor = 0.01 * jnp.mean(jnp.abs(mean), axis=1, keepdims=True)
    logs = jnp.log(jnp.maximum(both, floor))
    logs = logs - jnp.mean(logs, axis=2, keepdims=True)
    size = jnp.sqrt(jnp.sum(logs**2, axis=2))
    agreement = jnp.sum(logs[0] * logs[1], axis=1) / jnp.maximum(size[0] * size[1], 1e-30)
    usable = jnp.all(jnp.isfinite(both))
    return layout.whole(jnp.where(usable, agreement, 0.0)), layout.split(jnp.maximum(mean, floor))
