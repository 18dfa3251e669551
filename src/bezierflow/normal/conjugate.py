"""Projected conjugate gradients for many nodes at once, by products of Hessians with vectors alone.

At each node, with the curvature H = Σ ω_m H_m, orthonormal rows U and a right-hand side b = Σ β_m
g_m, it solves

    (P H P + c ρρᵀ) d = P b,    P = I − s UᵀU,    ρ = Σ ω_m g_m,

with s = 1 for the displacement to the set (d across the gradient differences, see `displacement`).
With s = 0, c = 0 and κ UᵀU added it gives the tangents H⁻¹Uᵀ, and without U the step of Newton's
method.
"""

from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..compilation import program
from ..objectives import FlatObjectives
from .layout import Layout

Curvature = Literal["free", "none"]
"""Products of Hessians with vectors by differentiating twice, or as differences of gradients."""

FLAT = 1e-12
"""A direction whose curvature is below this share of the largest one met counts as one of negative
curvature."""


class Systems(NamedTuple):
    """One linear system a node, in terms of its gradients g_m.

    Attributes:
        curvature: ω_m.
        right: β_m.
        absorbed: U as combinations of gradients; zero rows where there are fewer.
        projected: s, 1 or 0.
        shift: κ.
        bend: c.
        tolerance: relative residual at which a node is done.
    """

    curvature: Float[np.ndarray, "n n_objectives"]
    right: Float[np.ndarray, "n n_objectives"]
    absorbed: Float[np.ndarray, "n n_tangents n_objectives"]
    projected: Float[np.ndarray, " n"]
    shift: Float[np.ndarray, " n"]
    bend: Float[np.ndarray, " n"]
    tolerance: Float[np.ndarray, " n"]


class Solved(NamedTuple):
    """Solutions d with what is known about them, one a node.

    Attributes:
        d: the solutions; where the curvature turned out negative, as far as they came.
        products: how many were made.
        residual: relative, at the end.
        negative: whether a direction of negative curvature ended it.
        least: the smallest curvature met, pᵀHp/pᵀp.
        largest: the largest one in absolute value.
    """

    d: Float[Array, "n n_variables"]
    products: Int[np.ndarray, " n"]
    residual: Float[np.ndarray, " n"]
    negative: Bool[np.ndarray, " n"]
    least: Float[np.ndarray, " n"]
    largest: Float[np.ndarray, " n"]


def look(
    layout: Layout, objectives: FlatObjectives, x: Float[Array, "n n_variables"]
) -> tuple[Array, Array, Array]:
    """Values (n, M), gradients (n, M, L) and their inner products (n, M, M) at points."""
    return _look(layout, objectives, x)


@program
def _look(layout: Layout, objectives: FlatObjectives, x: Array) -> tuple[Array, Array, Array]:
    def everything(point: Array) -> tuple[Array, Array]:
        value, pullback = jax.vjp(objectives, point)
        return value, jax.vmap(lambda row: pullback(row)[0])(jnp.eye(len(value), dtype=value.dtype))

    values, gradients = jax.vmap(everything)(layout.split(x))
    gradients = layout.split(gradients)
    gram = jnp.einsum("nil,njl->nij", gradients, gradients, precision=jax.lax.Precision.HIGHEST)
    return layout.whole(values), gradients, layout.whole(gram)


@program
def values_at(
    layout: Layout, objectives: FlatObjectives, x: Float[Array, "n n_variables"]
) -> Float[Array, "n n_objectives"]:
    """Values alone."""
    return layout.whole(jax.vmap(objectives)(layout.split(x)))


def conjugate(  # noqa: PLR0913
    layout: Layout,
    objectives: FlatObjectives,
    kind: Curvature,
    x: Float[Array, "n n_variables"],
    gradients: Float[Array, "n n_objectives n_variables"],
    systems: Systems,
    scales: tuple[Float[Array, "n_objectives n_variables"], Float[np.ndarray, "n n_objectives"]],
    most: int,
) -> Solved:
    """The solutions at points x with these gradients; at most so many products a node.

    `scales` are diagonals of Hessians, or ones, and their shares at each node: 1/Σ is the
    preconditioner.
    """
    scales = (scales[0], scales[1].astype(layout.dtype))
    parts = Systems(*[np.asarray(part, dtype=layout.dtype) for part in systems])
    d, *small = _conjugate(layout, objectives, kind, x, gradients, parts, scales, jnp.asarray(most))
    products, residual, negative, least, largest = map(np.asarray, small)
    return Solved(d, products, residual, negative, least, largest)


def _dot(a: Array, b: Array) -> Array:
    """Inner products of rows, summed in double precision."""
    return jnp.sum((a * b).astype(jnp.float64), axis=-1)


def _product(
    kind: Curvature, objectives: FlatObjectives, x: Array, slope: Array, weights: Array, v: Array
) -> Array:
    """Σ ω_m H_m v at one point, where Σ ω_m g_m is the slope."""

    def weighted(point: Array) -> Array:
        return jnp.dot(weights, objectives(point).astype(weights.dtype))

    if kind == "free":
        return jax.jvp(jax.grad(weighted), (x,), (v,))[1]
    rounding = jnp.finfo(x.dtype).eps
    length = jnp.sqrt(_dot(v, v)).astype(x.dtype)
    step = (
        jnp.sqrt(rounding)
        * (1 + jnp.max(jnp.abs(x)))
        * jnp.sqrt(x.size)
        / jnp.where(length > 0, length, 1)
    )
    return (jax.grad(weighted)(x + step * v) - slope) / step


class _State(NamedTuple):
    d: Array
    r: Array
    p: Array
    rz: Array
    products: Array
    done: Array
    negative: Array
    least: Array
    largest: Array
    n_steps: Array


def _operator(
    layout: Layout,
    objectives: FlatObjectives,
    kind: Curvature,
    x: Array,
    gradients: Array,
    systems: Systems,
) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """V ↦ (P H P + κ UᵀU + c ρρᵀ) v and v ↦ P v, row by row."""
    highest = jax.lax.Precision.HIGHEST
    slope = layout.split(jnp.einsum("nm,nml->nl", systems.curvature, gradients, precision=highest))
    U = layout.split(
        jnp.einsum("nkm,nml->nkl", systems.absorbed, gradients, precision=jax.lax.Precision.HIGHEST)
    )

    def along(v: Array) -> Array:
        return jnp.einsum("nkl,nk->nl", U, jnp.einsum("nkl,nl->nk", U, v))

    def project(v: Array) -> Array:
        return layout.split(v - systems.projected[:, None] * along(v))

    def apply(v: Array) -> Array:
        product = jax.vmap(partial(_product, kind, objectives))(
            x, slope, jnp.asarray(systems.curvature), v
        )
        bent = slope * (jnp.asarray(systems.bend) * _dot(slope, v).astype(v.dtype))[:, None]
        return project(layout.split(product)) + systems.shift[:, None] * along(v) + project(bent)

    return apply, project


def _start(b: Array, z: Array) -> _State:
    """Before the first product: d = 0, and rows without a right-hand side are done."""
    zero, none = jnp.zeros(len(b)), jnp.zeros(len(b), dtype=bool)
    rested = _dot(b, b) == 0
    return _State(
        jnp.zeros_like(b),
        b,
        z,
        _dot(b, z),
        zero.astype(int),
        rested,
        none,
        zero + jnp.inf,
        zero,
        jnp.asarray(0),
    )


@program
def _conjugate(  # noqa: PLR0913
    layout: Layout,
    objectives: FlatObjectives,
    kind: Curvature,
    x: Array,
    gradients: Array,
    systems: Systems,
    scales: tuple,
    most: Array,
) -> tuple:
    apply, project = _operator(layout, objectives, kind, x, gradients, systems)
    inverse = layout.split(1 / jnp.matmul(scales[1], scales[0]))

    def precondition(v: Array) -> Array:
        return project(inverse * v)

    b = project(
        jnp.einsum("nm,nml->nl", systems.right, gradients, precision=jax.lax.Precision.HIGHEST)
    )
    size, start = jnp.sqrt(_dot(b, b)), _start(b, precondition(b))

    def going(state: _State) -> Array:
        return jnp.any(~state.done) & (state.n_steps < most)

    def advance(state: _State) -> _State:
        Hp, pp = apply(state.p), _dot(state.p, state.p)
        curved = _dot(state.p, Hp)
        quotient, active = curved / jnp.where(pp > 0, pp, 1.0), ~state.done
        largest = jnp.where(active, jnp.maximum(state.largest, jnp.abs(quotient)), state.largest)
        bad = active & ~(quotient > FLAT * largest)
        step = jnp.where(active & ~bad, state.rz / jnp.where(curved != 0, curved, 1.0), 0.0)[
            :, None
        ].astype(b.dtype)
        d, r = state.d + step * state.p, state.r - step * Hp
        z = precondition(r)
        rz = _dot(r, z)
        done = state.done | bad | (jnp.sqrt(_dot(r, r)) <= systems.tolerance * size)
        ratio = (rz / jnp.where(state.rz != 0, state.rz, 1.0))[:, None].astype(b.dtype)
        return _State(
            d=d,
            r=r,
            p=jnp.where(done[:, None], state.p, z + ratio * state.p),
            rz=jnp.where(active, rz, state.rz),
            products=state.products + active,
            done=done,
            negative=state.negative | bad,
            least=jnp.where(active, jnp.minimum(state.least, quotient), state.least),
            largest=largest,
            n_steps=state.n_steps + 1,
        )

    end = jax.lax.while_loop(going, advance, start)
    residual = jnp.sqrt(_dot(end.r, end.r)) / jnp.where(size > 0, size, 1.0)
    return layout.split(end.d), *map(
        layout.whole, (end.products, residual, end.negative, end.least, end.largest)
    )


@program
def diagonal_probe(
    layout: Layout,
    objectives: FlatObjectives,
    kind: Curvature,
    x: Float[Array, " n_variables"],
    n: int,
) -> Float[Array, "2 n_objectives n_variables"]:
    """Two independent estimates of each Hessian's diagonal at a point, E[v ∘ H v] for signs v, each
    from n products."""
    gradients = jax.jacrev(objectives)(x)
    M = gradients.shape[0]

    def one(key: Array) -> Array:
        signs = layout.split(jax.random.rademacher(key, x.shape, x.dtype))
        product = jax.vmap(partial(_product, kind, objectives), in_axes=(None, 0, 0, None))
        return layout.split(product(x, gradients, jnp.eye(M, dtype=x.dtype), signs) * signs)

    def half(key: Array) -> Array:
        nothing = jnp.zeros((M, x.size), x.dtype)
        return jax.lax.fori_loop(
            0, n, lambda i, total: total + one(jax.random.fold_in(key, i)) / n, nothing
        )

    return jnp.stack([half(jax.random.key(0)), half(jax.random.key(1))])
