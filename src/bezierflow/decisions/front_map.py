"""The front as a map on the simplex, t ↦ f(b(t)), with its first two derivatives: what every question is asked of.

A question takes some twenty evaluations of a handful of points, so what counts is how fast one small evaluation is and that
none has to wait for a compiler: polynomials are evaluated by NumPy here. Only the problem's own objectives go through JAX.
"""

import abc
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..bezier import BezierSimplex
from ..bezier.basis import basis
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
    """A Bézier simplex, whose derivatives are Bézier simplices of lower degree."""

    def __init__(self, control_points: Float[np.ndarray, "n_controls n_values"], n_objectives: int, degree: int):
        self.points, self.n_objectives, self.degree = np.asarray(control_points, dtype=float), n_objectives, degree
        directions = tangent_basis(n_objectives)
        slopes = _differentiate(self.points, n_objectives, degree, directions)
        self._slopes = slopes.reshape(len(slopes), -1)
        if degree > 1:
            bends = _differentiate(self._slopes, n_objectives, degree - 1, directions)
            self._bends = bends.reshape(len(bends), -1)

    def values(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values"]:
        """b(t|P) = Pᵀ z(t)."""
        return _bernstein(_powers(t, self.degree), t.shape[1], self.degree) @ self.points

    def derivatives(self, t: Float[np.ndarray, "n n_objectives"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """b(t|P) and its derivatives."""
        n, V, k = len(t), self.points.shape[1], self.n_objectives - 1
        powers = _powers(t, self.degree)
        values = _bernstein(powers, k + 1, self.degree) @ self.points
        jacobian = (_bernstein(powers, k + 1, self.degree - 1) @ self._slopes).reshape(n, V, k)
        if self.degree == 1:
            return values, jacobian, np.zeros((n, V, k, k))
        hessian = (_bernstein(powers, k + 1, self.degree - 2) @ self._bends).reshape(n, V, k, k)
        return values, jacobian, hessian


class ExactMap(AbstractFrontMap):
    """The problem's own objectives on the surface, differentiated by JAX along the simplex: (M−1)² directions, whatever L is.

    Compiled once for each solution, with its control points as constants: nothing is left to do between the calls of a search.
    """

    def __init__(self, objectives: Callable[[Array], Array], surface: BezierSimplex):
        points, degree = np.asarray(surface.control_points, dtype=float), surface.degree
        directions = tangent_basis(surface.n_objectives)

        def value(t: Array) -> Array:
            return objectives(basis(t, degree) @ points)

        def derivatives(t: Array) -> tuple[Array, Array, Array]:
            def along(v: Array) -> Array:
                return value(t + directions @ v)

            origin = jnp.zeros(directions.shape[1])
            return along(origin), jax.jacfwd(along)(origin), jax.jacfwd(jax.jacfwd(along))(origin)

        self._values, self._derivatives = jax.jit(jax.vmap(value)), jax.jit(jax.vmap(derivatives))

    def values(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values"]:
        """f(b(t))."""
        with double_precision():
            return np.asarray(self._values(t))

    def derivatives(self, t: Float[np.ndarray, "n n_objectives"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """f(b(t)) and its derivatives, forward over forward."""
        with double_precision():
            values, jacobian, hessian = self._derivatives(t)
            return np.asarray(values), np.asarray(jacobian), np.asarray(hessian)


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


@cache
def _layout(n_objectives: int, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each factor t_m^{d_m} stands in a flattened table of powers, and the multinomial coefficients."""
    indices = multi_indices(n_objectives, degree)
    return np.ascontiguousarray((indices * n_objectives + np.arange(n_objectives)).T), multinomials(n_objectives, degree)


def _powers(t: Float[np.ndarray, "n n_objectives"], degree: int) -> np.ndarray:
    """1, t, …, t^D side by side: one row a point."""
    table = np.empty((len(t), degree + 1, t.shape[1]))
    table[:, 0] = 1.0
    for k in range(degree):
        np.multiply(table[:, k], t, out=table[:, k + 1])
    return table.reshape(len(t), -1)


def _bernstein(powers: np.ndarray, n_objectives: int, degree: int) -> Float[np.ndarray, "n n_controls"]:
    """z(t) in the canonical order, as products of powers taken from a table of this degree or a higher one."""
    places, coefficients = _layout(n_objectives, degree)
    z = coefficients * powers.take(places[0], axis=1)
    for place in places[1:]:
        z *= powers.take(place, axis=1)
    return z


def _differentiate(net: np.ndarray, n_objectives: int, degree: int, directions: np.ndarray) -> np.ndarray:
    """The nets of the derivatives in some directions, last axis: (n_below, n_values, n_directions)."""
    raised = net[raised_positions(n_objectives, degree)]
    return degree * np.einsum("dmv,mk->dvk", raised, directions)
