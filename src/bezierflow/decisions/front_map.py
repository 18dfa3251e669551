"""The front as a map on the simplex, t ↦ f(b(t)), with its derivative: what every question is asked of.

A search evaluates single points, so what counts is how fast one small evaluation is and that none has to wait for a compiler:
polynomials are evaluated by NumPy here. Only the problem's own objectives go through JAX.
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
from jaxtyping import Array, Float, Int

from ..bezier import BezierSimplex
from ..bezier.design import design_matrix
from ..bezier.projection import pad_rows
from ..precision import double_precision
from ..simplex import lobatto_nodes, multi_indices, multinomials, raised_positions


class AbstractFrontMap(abc.ABC):
    """A vector of values over the simplex, with its derivatives by t ∈ R^M.

    Along the simplex only differences of the columns of a Jacobian have a meaning.
    """

    @abc.abstractmethod
    def values(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values"]:
        """The values at each row of t."""

    @abc.abstractmethod
    def derivatives(
        self, t: Float[np.ndarray, "n n_objectives"]
    ) -> tuple[Float[np.ndarray, "n n_values"], Float[np.ndarray, "n n_values n_objectives"]]:
        """The values and the Jacobians at each row of t."""


class PolynomialMap(AbstractFrontMap):
    """A Bézier simplex, with its derivatives written in its own degree: one product with the monomials gives all of them."""

    def __init__(self, control_points: Float[np.ndarray, "n_controls n_values"], n_objectives: int, degree: int):
        self.points, self.n_objectives, self.degree = np.asarray(control_points, dtype=float), n_objectives, degree
        coefficients = multinomials(n_objectives, degree)[:, None]
        slopes = _differentiate(self.points, n_objectives, degree)
        self._values = coefficients * self.points
        self._every = np.concatenate([self._values, coefficients * slopes.reshape(len(slopes), -1)], axis=1)

    def values(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values"]:
        """b(t|P) = Pᵀ z(t)."""
        return _monomials(t, self.degree) @ self._values

    def derivatives(self, t: Float[np.ndarray, "n n_objectives"]) -> tuple[np.ndarray, np.ndarray]:
        """b(t|P) and its partial derivatives."""
        every, n_values = _monomials(t, self.degree) @ self._every, self.points.shape[1]
        return every[:, :n_values], every[:, n_values:].reshape(len(t), n_values, self.n_objectives)


class ExactMap(AbstractFrontMap):
    """The problem's own objectives on the surface, differentiated by JAX along the surface: M directions, whatever L is.

    The problem's numbers are arguments of the compiled programs, which know nothing of the surface: every other solution of
    the problem, or of one with the same shapes, finds them compiled.
    """

    def __init__(self, objectives: Callable[[Array], Array], surface: BezierSimplex):
        arrays, code = eqx.partition(objectives, lambda leaf: isinstance(leaf, jax.Array | np.ndarray))
        numbers, structure = jax.tree.flatten(arrays)
        self._surface = polynomial_map(surface)
        self._values, self._derivatives = _programs(code, structure)
        with double_precision():
            self._numbers = [jnp.asarray(one) for one in numbers]

    def values(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values"]:
        """f(b(t))."""
        return self.of(self._surface.values(t))

    def of(self, x: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n n_values"]:
        """f(x)."""
        with double_precision():
            return np.asarray(self._values(_padded(x), *self._numbers))[: len(x)]

    def derivatives(self, t: Float[np.ndarray, "n n_objectives"]) -> tuple[np.ndarray, np.ndarray]:
        """f(b(t)) and ∇f(b(t)) ∂b/∂t, in forward mode."""
        x, tangents = (_padded(part) for part in self._surface.derivatives(t))
        with double_precision():
            values, jacobians = self._derivatives(x, tangents, *self._numbers)
        return np.asarray(values)[: len(t)], np.nan_to_num(np.asarray(jacobians)[: len(t)])


@dataclass(frozen=True, eq=False)
class ScaledMap(AbstractFrontMap):
    """Another map in units of its own range: (F − origin) / scale, so that all values count alike in a solver."""

    inner: AbstractFrontMap
    origin: Float[np.ndarray, " n_values"]
    scale: Float[np.ndarray, " n_values"]

    def values(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n n_values"]:
        """The scaled values."""
        return (self.inner.values(t) - self.origin) / self.scale

    def derivatives(self, t: Float[np.ndarray, "n n_objectives"]) -> tuple[np.ndarray, np.ndarray]:
        """The scaled values and Jacobians."""
        values, jacobians = self.inner.derivatives(t)
        return (values - self.origin) / self.scale, jacobians / self.scale[:, None]


@dataclass(frozen=True, eq=False)
class SquaredDistance(AbstractFrontMap):
    """½‖F(t) − target‖² for a map F, as a map with a single value: the question of the nearest point."""

    inner: AbstractFrontMap
    target: Float[np.ndarray, " n_values"]

    def values(self, t: Float[np.ndarray, "n n_objectives"]) -> Float[np.ndarray, "n 1"]:
        """Half the squared distance."""
        return np.sum((self.inner.values(t) - self.target) ** 2, axis=1, keepdims=True) / 2

    def derivatives(self, t: Float[np.ndarray, "n n_objectives"]) -> tuple[np.ndarray, np.ndarray]:
        """½ rᵀr and its gradient rᵀJ for r = F(t) − target."""
        values, jacobians = self.inner.derivatives(t)
        residual = (values - self.target)[:, None]
        return (residual**2).sum(axis=2) / 2, residual @ jacobians


def polynomial_map(surface: BezierSimplex) -> PolynomialMap:
    """A surface of flat vectors as such a map; a constant one is written with degree 1, where derivatives exist."""
    surface = surface if surface.degree else surface.elevate(1)
    return PolynomialMap(np.asarray(surface.control_points), surface.n_objectives, surface.degree)


def interpolate(front: AbstractFrontMap, n_objectives: int, degree: int) -> PolynomialMap:
    """The polynomial of this degree that has the values of the front at the Lobatto nodes."""
    nodes = lobatto_nodes(n_objectives, degree).t
    return PolynomialMap(np.linalg.solve(design_matrix(nodes, degree), front.values(nodes)), n_objectives, degree)


def _padded(rows: Float[np.ndarray, "n *width"]) -> Float[np.ndarray, "padded *width"]:
    """The rows and copies of the last one: one, eight, or a larger power of two, so that few sizes are ever compiled."""
    return rows if len(rows) == 1 else pad_rows(rows, least=8)


@lru_cache(maxsize=64)
def _programs(code: Any, structure: Any) -> tuple[Callable, Callable]:
    """Compiled programs for objectives that differ in their arrays alone, which come last among the arguments.

    The first gives f(x), the second f(x) and ∇f(x) X for the columns X of a tangent space.
    """

    def value(x: Array, *numbers: Array) -> Array:
        objectives = eqx.combine(jax.tree.unflatten(structure, numbers), code)
        return objectives(x)

    def derivatives(x: Array, X: Array, *numbers: Array) -> tuple[Array, Array]:
        def along(v: Array) -> tuple[Array, Array]:
            f = value(x + X @ v, *numbers)
            return f, f

        slopes, f = jax.jacfwd(along, has_aux=True)(jnp.zeros(X.shape[1]))
        return f, slopes

    def batched(points: Array, *numbers: Array) -> Array:
        return jax.vmap(lambda x: value(x, *numbers))(points)

    def batched_derivatives(points: Array, tangents: Array, *numbers: Array) -> tuple[Array, Array]:
        return jax.vmap(lambda x, X: derivatives(x, X, *numbers))(points, tangents)

    return jax.jit(batched), jax.jit(batched_derivatives)


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


def _differentiate(
    net: Float[np.ndarray, "n_controls n_values"], n_objectives: int, degree: int
) -> Float[np.ndarray, "n_controls n_values n_objectives"]:
    """The nets of the partial derivatives, elevated to the same degree."""
    raised = raised_positions(n_objectives, degree)
    below = degree * net[raised].swapaxes(1, 2)
    shares = (multi_indices(n_objectives, degree - 1) + 1) / degree
    same_degree = np.zeros((*net.shape, n_objectives))
    for m in range(n_objectives):  # p_d = Σ_m (d_m / D) p_{d − e_m}
        same_degree[raised[:, m]] += shares[:, m, None, None] * below
    return same_degree
