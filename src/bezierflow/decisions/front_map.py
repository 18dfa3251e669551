"""The front as a map on the simplex, t ↦ f(b(t)), with its first two derivatives: what every question is asked of.

A question takes some twenty evaluations of a handful of points, so what counts is how fast one small evaluation is and that
none has to wait for a compiler: polynomials are evaluated by NumPy here. Only the problem's own objectives go through JAX.
"""

import abc
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from math import isqrt
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..bezier import BezierSimplex
from ..bezier.projection import pad_rows
from ..precision import double_precision
from ..simplex import multi_indices, multinomials, raised_positions, tangent_basis


class AbstractFrontMap(abc.ABC):
    """A vector of values over the simplex, with derivatives along it in the coordinates of `tangent_basis`."""

    @abc.abstractmethod
    def values(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values"]:
        """The values at each row of t."""

    @abc.abstractmethod
    def expansions(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values width"]:
        """At each row of t and for each value side by side: it, its M−1 slopes, and the upper triangle of its Hessian."""

    def derivatives(self, t: Float[np.ndarray, "n n_objectives"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values (n, V), Jacobians (n, V, M−1) and Hessians (n, V, M−1, M−1) along the simplex."""
        k, every = t.shape[1] - 1, self.expansions(t)
        hessian = every[..., 1 + k :].take(squared(k), axis=2)
        return every[..., 0], every[..., 1 : 1 + k], hessian.reshape(*every.shape[:2], k, k)


class PolynomialMap(AbstractFrontMap):
    """A Bézier simplex, with its derivatives written in its own degree: one product with the monomials gives all of them."""

    def __init__(self, control_points: Float[np.ndarray, "n_controls n_values"], n_objectives: int, degree: int):
        self.points, self.n_objectives, self.degree = np.asarray(control_points, dtype=float), n_objectives, degree
        (n_controls, V), k = self.points.shape, n_objectives - 1
        slopes = _differentiate(self.points, n_objectives, degree)
        bends = _differentiate(slopes, n_objectives, degree).reshape(n_controls, V, k * k)[..., triangle(k)]
        every = np.concatenate([self.points[..., None], slopes.reshape(n_controls, V, k), bends], axis=2)
        coefficients = multinomials(n_objectives, degree)[:, None]
        self._values, self._every = coefficients * self.points, coefficients * every.reshape(n_controls, -1)

    def values(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values"]:
        """b(t|P) = Pᵀ z(t)."""
        return _monomials(t, self.degree) @ self._values

    def expansions(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values width"]:
        """b(t|P) and its derivatives."""
        return (_monomials(t, self.degree) @ self._every).reshape(len(t), self.points.shape[1], -1)


class ExactMap(AbstractFrontMap):
    """The problem's own objectives on the surface, differentiated by JAX along the simplex: (M−1)² directions, whatever L is.

    The surface itself is differentiated without JAX: near t it is x + X v + ½ vᵀY v, and only f of that is left to compile.
    The problem's numbers are arguments of the compiled programs, which know nothing of the surface: every other solution of
    the problem, or of one with the same shapes, finds them compiled.
    """

    def __init__(self, objectives: Callable[[Array], Array], surface: BezierSimplex):
        arrays, code = eqx.partition(objectives, lambda leaf: isinstance(leaf, jax.Array | np.ndarray))
        numbers, structure = jax.tree.flatten(arrays)
        self._surface = polynomial_map(surface)
        self._values, self._expansions = _programs(code, structure)
        with double_precision():
            self._numbers = [jnp.asarray(one) for one in numbers]

    def values(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values"]:
        """f(b(t))."""
        return self.of(self._surface.values(t))

    def of(self, x: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n n_values"]:
        """f(x)."""
        with double_precision():
            return np.asarray(self._values(_padded(x), *self._numbers))[: len(x)]

    def expansions(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values width"]:
        """f(b(t)) and its derivatives, forward over forward."""
        with double_precision():
            return np.asarray(self._expansions(_padded(self._surface.expansions(t)), *self._numbers))[: len(t)]


@dataclass(frozen=True, eq=False)
class ScaledMap(AbstractFrontMap):
    """Another map in units of its own range: (F − origin) / scale, so that all values count alike in a solver."""

    inner: AbstractFrontMap
    origin: Float[np.ndarray, " n_values"]
    scale: Float[np.ndarray, " n_values"]

    def values(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values"]:
        """The scaled values."""
        return (self.inner.values(t) - self.origin) / self.scale

    def expansions(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values width"]:
        """The scaled values and derivatives."""
        every = self.inner.expansions(t) / self.scale[:, None]
        every[..., 0] -= self.origin / self.scale
        return every


@dataclass(frozen=True, eq=False)
class SquaredDistance(AbstractFrontMap):
    """½‖F(t) − target‖² for a map F, as a map with a single value: the question of the nearest point."""

    inner: AbstractFrontMap
    target: Float[np.ndarray, " n_values"]

    def values(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n 1"]:
        """Half the squared distance."""
        return np.sum((self.inner.values(t) - self.target) ** 2, axis=1, keepdims=True) / 2

    def expansions(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n 1 width"]:
        """½ rᵀr, ∇ = Jᵀr and ∇² = JᵀJ + Σ r_i ∇²F_i for r = F(t) − target."""
        n, k, every = len(t), t.shape[1] - 1, self.inner.expansions(t)
        r, jacobian = (every[..., 0] - self.target)[:, None], every[..., 1 : 1 + k]
        squares = (np.swapaxes(jacobian, 1, 2) @ jacobian).reshape(n, 1, k * k)
        result = r @ every
        result[..., 0] = (r**2).sum(axis=2) / 2
        result[..., 1 + k :] += squares[..., triangle(k)]
        return result


def polynomial_map(surface: BezierSimplex) -> PolynomialMap:
    """A surface of flat vectors as such a map; a constant one is written with degree 1, where derivatives exist."""
    surface = surface if surface.degree else surface.elevate(1)
    return PolynomialMap(np.asarray(surface.control_points), surface.n_objectives, surface.degree)


def _padded(rows: Float[np.ndarray, "n *width"]) -> Float[np.ndarray, "padded *width"]:
    """The rows and copies of the last one: one, eight, or a larger power of two, so that few sizes are ever compiled."""
    return rows if len(rows) == 1 else pad_rows(rows, least=8)


@lru_cache(maxsize=64)
def _programs(code: Any, structure: Any) -> tuple[Callable, Callable]:
    """Compiled programs for objectives that differ in their arrays alone, which come last among the arguments.

    The first gives f(x). The second takes the expansion of the surface, x + X v + ½ vᵀY v, and gives that of f on it.
    """

    def value(x: Array, *numbers: Array) -> Array:
        objectives = eqx.combine(jax.tree.unflatten(structure, numbers), code)
        return objectives(x)

    def expansion(every: Array, *numbers: Array) -> Array:
        n_variables, width = every.shape
        k = (isqrt(8 * width + 1) - 3) // 2  # of width = 1 + k + k(k+1)/2
        x, X, Y = every[:, 0], every[:, 1 : 1 + k], every[:, 1 + k :][:, squared(k)].reshape(n_variables, k, k)

        def along(v: Array) -> Array:
            return value(x + X @ v + (Y @ v) @ v / 2, *numbers)

        def with_slopes(v: Array) -> tuple[Array, tuple[Array, Array]]:
            slopes, at = jax.jacfwd(lambda v: (along(v),) * 2, has_aux=True)(v)
            return slopes, (at, slopes)

        bends, (at, slopes) = jax.jacfwd(with_slopes, has_aux=True)(jnp.zeros(k))
        return jnp.concatenate([at[:, None], slopes, bends.reshape(len(at), -1)[:, triangle(k)]], axis=1)

    def for_each(function: Callable) -> Callable:
        def batched(points: Array, *numbers: Array) -> Array:
            return jax.vmap(lambda point: function(point, *numbers))(points)

        return jax.jit(batched)

    return for_each(value), for_each(expansion)


@cache
def triangle(k: int) -> Int[np.ndarray, " n_bends"]:
    """Where the upper triangle of a k × k matrix stands in its entries."""
    rows, columns = np.triu_indices(k)
    return rows * k + columns


@cache
def squared(k: int) -> Int[np.ndarray, " k*k"]:
    """Where each entry of a symmetric k × k matrix stands in its upper triangle."""
    places, (rows, columns) = np.empty((k, k), dtype=int), np.triu_indices(k)
    places[rows, columns] = places[columns, rows] = np.arange(len(rows))
    return places.ravel()


@cache
def _layout(n_objectives: int, degree: int) -> Int[np.ndarray, "n_objectives n_controls"]:
    """Where each factor t_m^{d_m} stands in a flattened table of powers."""
    return np.ascontiguousarray((multi_indices(n_objectives, degree) * n_objectives + np.arange(n_objectives)).T)


def _monomials(t: Float[np.ndarray, "n n_objectives"], degree: int) -> Float[np.ndarray, "n n_controls"]:
    """t^d for all |d| = D in the canonical order, as products of powers 1, t, …, t^D taken from a table."""
    table = np.empty((degree + 1, t.shape[1], len(t)))  # rows of all points together: those are fast to gather
    table[0], table[1:] = 1.0, t.T
    np.multiply.accumulate(table, axis=0, out=table)
    powers = table.reshape(-1, len(t))
    first, *others = _layout(t.shape[1], degree)
    z = powers.take(first, axis=0)
    for places in others:
        z *= powers.take(places, axis=0)
    return z.T


def _differentiate(net: Float[np.ndarray, "n_controls width"], n_objectives: int, degree: int) -> np.ndarray:
    """The nets of the derivatives along the simplex, in the same degree: one column for each value and direction."""
    raised = raised_positions(n_objectives, degree)
    below = degree * np.einsum("dmv,mk->dvk", net[raised], tangent_basis(n_objectives)).reshape(len(raised), -1)
    shares = (multi_indices(n_objectives, degree - 1) + 1) / degree
    same_degree = np.zeros((len(net), below.shape[1]))
    for m in range(n_objectives):  # p_d = Σ_m (d_m / D) p_{d − e_m}
        same_degree[raised[:, m]] += shares[:, m : m + 1] * below
    return same_degree
