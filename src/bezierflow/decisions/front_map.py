"""The front as a map on the simplex, t ↦ f(b(t)), with its first two derivatives: what every question is asked of.

A question takes some twenty evaluations of a handful of points, so what counts is how fast one small evaluation is and that
none has to wait for a compiler: polynomials are evaluated by NumPy here. Only the problem's own objectives go through JAX.
"""

import abc
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..bezier import BezierSimplex
from ..bezier.basis import basis
from ..bezier.projection import pad_rows
from ..precision import double_precision
from ..simplex import multi_indices, multinomials, raised_positions


class AbstractFrontMap(abc.ABC):
    """A vector of values over the simplex, with derivatives along it in the coordinates of `tangent_basis`."""

    @abc.abstractmethod
    def values(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values"]:
        """The values at each row of t."""

    @abc.abstractmethod
    def derivatives(self, t: Float[np.ndarray, "n n_objectives"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values (n, V), Jacobians (n, V, M−1) and Hessians (n, V, M−1, M−1) along the simplex."""


class PolynomialMap(AbstractFrontMap):
    """A Bézier simplex, with its derivatives written in its own degree: one product with z(t) gives all of them."""

    def __init__(self, control_points: Float[np.ndarray, "n_controls n_values"], n_objectives: int, degree: int):
        self.points, self.n_objectives, self.degree = np.asarray(control_points, dtype=float), n_objectives, degree
        slopes = _differentiate(self.points, n_objectives, degree)
        bends = _differentiate(slopes, n_objectives, degree)
        self._all = np.concatenate([self.points, slopes, bends], axis=1)

    def values(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values"]:
        """b(t|P) = Pᵀ z(t)."""
        return _bernstein(t, self.degree) @ self.points

    def derivatives(self, t: Float[np.ndarray, "n n_objectives"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """b(t|P) and its derivatives."""
        n, V, k = len(t), self.points.shape[1], self.n_objectives - 1
        every = _bernstein(t, self.degree) @ self._all
        jacobian, hessian = every[:, V : V * (1 + k)], every[:, V * (1 + k) :]
        return every[:, :V], jacobian.reshape(n, V, k), hessian.reshape(n, V, k, k)


class ExactMap(AbstractFrontMap):
    """The problem's own objectives on the surface, differentiated by JAX along the simplex: (M−1)² directions, whatever L is.

    The numbers of the problem and of the surface are arguments of the compiled programs, so that another solution of the same
    shapes, a part that was zoomed to for one, finds them compiled.
    """

    def __init__(self, objectives: Callable[[Array], Array], surface: BezierSimplex):
        arrays, code = eqx.partition(objectives, lambda leaf: isinstance(leaf, jax.Array | np.ndarray))
        numbers, structure = jax.tree.flatten(arrays)
        self._values, self._derivatives = _programs(code, structure, surface.degree)
        with double_precision():
            self._numbers = [jnp.asarray(one) for one in (surface.control_points, *numbers)]

    def values(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values"]:
        """f(b(t))."""
        with double_precision():
            return np.asarray(self._values(_padded(t), *self._numbers))[: len(t)]

    def derivatives(self, t: Float[np.ndarray, "n n_objectives"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """f(b(t)) and its derivatives, forward over forward."""
        with double_precision():
            values, jacobian, hessian = self._derivatives(_padded(t), *self._numbers)
            return np.asarray(values)[: len(t)], np.asarray(jacobian)[: len(t)], np.asarray(hessian)[: len(t)]


@dataclass(frozen=True, eq=False)
class ScaledMap(AbstractFrontMap):
    """Another map in units of its own range: (F − origin) / scale, so that all values count alike in a solver."""

    inner: AbstractFrontMap
    origin: Float[np.ndarray, " n_values"]
    scale: Float[np.ndarray, " n_values"]

    def values(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values"]:
        """The scaled values."""
        return (self.inner.values(t) - self.origin) / self.scale

    def derivatives(self, t: Float[np.ndarray, "n n_objectives"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The scaled values and derivatives."""
        values, jacobian, hessian = self.inner.derivatives(t)
        return (values - self.origin) / self.scale, jacobian / self.scale[:, None], hessian / self.scale[:, None, None]


@dataclass(frozen=True, eq=False)
class SquaredDistance(AbstractFrontMap):
    """½‖F(t) − target‖² for a map F, as a map with a single value: the question of the nearest point."""

    inner: AbstractFrontMap
    target: Float[np.ndarray, " n_values"]

    def values(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n 1"]:
        """Half the squared distance."""
        return np.sum((self.inner.values(t) - self.target) ** 2, axis=1, keepdims=True) / 2

    def derivatives(self, t: Float[np.ndarray, "n n_objectives"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """∇ = Jᵀr and ∇² = JᵀJ + Σ r_i ∇²F_i."""
        values, jacobian, hessian = self.inner.derivatives(t)
        r = values - self.target
        curvature = np.swapaxes(jacobian, 1, 2) @ jacobian + np.einsum("nv,nvmk->nmk", r, hessian)
        return np.sum(r**2, axis=1, keepdims=True) / 2, r[:, None, :] @ jacobian, curvature[:, None]


def polynomial_map(surface: BezierSimplex) -> PolynomialMap:
    """A surface of flat vectors as such a map; a constant one is written with degree 1, where derivatives exist."""
    surface = surface if surface.degree else surface.elevate(1)
    return PolynomialMap(np.asarray(surface.control_points), surface.n_objectives, surface.degree)


@cache
def tangent_basis(n_objectives: int) -> np.ndarray:
    """Orthonormal columns that span the directions along the simplex, those with Σ = 0."""
    full = np.column_stack([np.ones(n_objectives), np.eye(n_objectives)[:, 1:]])
    return np.linalg.qr(full)[0][:, 1:]


def _padded(t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "padded n_objectives"]:
    """The rows of t and copies of the last one: one, eight, or a larger power of two, so that few sizes are ever compiled."""
    return t if len(t) == 1 else pad_rows(np.concatenate([t, np.repeat(t[-1:], max(0, 8 - len(t)), axis=0)]))


@lru_cache(maxsize=64)
def _programs(code: Any, structure: Any, degree: int) -> tuple[Callable, Callable]:
    """Compiled programs of (t, control points, the problem's arrays), for objectives that differ in their arrays alone."""

    def value(t: Array, points: Array, *numbers: Array) -> Array:
        objectives = eqx.combine(jax.tree.unflatten(structure, numbers), code)
        return objectives(basis(t, degree) @ points)

    def derivatives(t: Array, *numbers: Array) -> tuple[Array, Array, Array]:
        directions = tangent_basis(len(t))

        def along(v: Array) -> Array:
            return value(t + directions @ v, *numbers)

        origin = jnp.zeros(directions.shape[1])
        return along(origin), jax.jacfwd(along)(origin), jax.jacfwd(jax.jacfwd(along))(origin)

    def for_each(function: Callable) -> Callable:
        return jax.jit(lambda t, *numbers: jax.vmap(lambda one: function(one, *numbers))(t))

    return for_each(value), for_each(derivatives)


@cache
def _layout(n_objectives: int, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each factor t_m^{d_m} stands in a flattened table of powers, and the multinomial coefficients."""
    indices = multi_indices(n_objectives, degree)
    return np.ascontiguousarray((indices * n_objectives + np.arange(n_objectives)).T), multinomials(n_objectives, degree)


def _bernstein(t: Float[np.ndarray, "n n_objectives"], degree: int) -> Float[np.ndarray, "n n_controls"]:
    """z(t) in the canonical order, as products of powers 1, t, …, t^D taken from a table."""
    places, coefficients = _layout(t.shape[1], degree)
    table = np.empty((len(t), degree + 1, t.shape[1]))
    table[:, 0] = 1.0
    for k in range(degree):
        np.multiply(table[:, k], t, out=table[:, k + 1])
    powers = table.reshape(len(t), -1)
    z = coefficients * powers.take(places[0], axis=1)
    for place in places[1:]:
        z *= powers.take(place, axis=1)
    return z


def _differentiate(net: Float[np.ndarray, "n_controls width"], n_objectives: int, degree: int) -> np.ndarray:
    """The nets of the derivatives along the simplex, in the same degree: one column for each value and direction."""
    raised = raised_positions(n_objectives, degree)
    below = degree * np.einsum("dmv,mk->dvk", net[raised], tangent_basis(n_objectives)).reshape(len(raised), -1)
    shares = (multi_indices(n_objectives, degree - 1) + 1) / degree
    same_degree = np.zeros((len(net), below.shape[1]))
    for m in range(n_objectives):  # p_d = Σ_m (d_m / D) p_{d − e_m}
        same_degree[raised[:, m]] += shares[:, m : m + 1] * below
    return same_degree
