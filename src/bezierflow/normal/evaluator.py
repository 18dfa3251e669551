"""Evaluations of the objectives: compiled once for blocks of a fixed size, counted exactly, and never beyond a budget."""

from collections.abc import Callable
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..precision import double_precision
from .derivatives import Derivatives
from .displacement import Linearization, linearize_points
from .lending import KnownHessians

BLOCK = 16
"""Points a compiled call takes. Any number of points is served by calls of this one shape: a second shape would have to be
compiled, which costs more than a thousand cheap evaluations. The last block is filled up with copies, which do not count."""

BLOCK_NUMBERS = 20_000_000
"""A block's Hessians hold at most this many numbers; blocks shrink where many variables ask for it."""


class BudgetSpentError(Exception):
    """The next evaluations would go beyond the budget. None of them was made."""


class Evaluator:
    """The objectives of one run, with the evaluations made so far.

    A point counts once for each of `n_objective`, `n_jacobian` and `n_hessian` that was computed there, for all M objectives at
    once; `spent` counts points and is what the budget limits. A point that was padding counts nowhere.
    """

    def __init__(self, objectives: Callable[[Array], Array], n_objectives: int, n_variables: int, budget: int | None = None):
        if budget is not None and budget < 0:
            raise ValueError(f"budget must be at least 0 evaluations, or None for no limit, got {budget}")
        self.objectives, self.n_objectives, self.n_variables, self.budget = (
            objectives,
            n_objectives,
            n_variables,
            budget,
        )
        self.block = int(np.clip(BLOCK_NUMBERS // (n_objectives * n_variables**2), 1, BLOCK))
        self.n_objective = self.n_jacobian = self.n_hessian = self.spent = 0
        self.known = KnownHessians()

    @property
    def n_tangents(self) -> int:
        """The dimension of the set where all objectives take part."""
        return min(self.n_objectives - 1, self.n_variables)

    @property
    def left(self) -> float:
        """How many points may still be evaluated."""
        return np.inf if self.budget is None else self.budget - self.spent

    @property
    def counts(self) -> dict[str, int]:
        """How many points each kind of evaluation was made at."""
        return {"objective": self.n_objective, "jacobian": self.n_jacobian, "hessian": self.n_hessian}

    def at(self, points: Float[np.ndarray, "n n_variables"], hessians: bool = True) -> Derivatives:
        """Values, gradients and, if asked for, Hessians at the points; BudgetSpentError if there are too many of them."""
        points = np.asarray(points, dtype=float)
        n = len(points)
        if n > self.left:
            raise BudgetSpentError
        self.spent += n
        self.n_objective += n
        self.n_jacobian += n
        self.n_hessian += n if hessians else 0
        kind = _with_hessians if hessians else _with_gradients
        values, gradients, *rest = self._in_blocks(partial(kind, self.objectives), points)
        found = Derivatives(points, values, gradients, rest[0] if hessians else None)
        if hessians:
            self.known = self.known.add(found)
        return found

    def with_borrowed_hessians(
        self, points: Float[np.ndarray, "n n_variables"], corners: Float[np.ndarray, "n_objectives n_variables"]
    ) -> Derivatives:
        """Values and gradients at the points, with Hessians lent by points nearby; own Hessians if there are none to lend."""
        if not self.known.can_lend(corners):
            return self.at(points)
        return self.known.lend(self.at(points, hessians=False), corners)

    def successor(self) -> "Evaluator":
        """An evaluator that starts to count anew, without a budget, and knows the same Hessians."""
        heir = Evaluator(self.objectives, self.n_objectives, self.n_variables)
        heir.known = self.known
        return heir

    def values(self, points: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n n_objectives"]:
        """The objectives alone."""
        if len(points) > self.left:
            raise BudgetSpentError
        self.spent += len(points)
        self.n_objective += len(points)
        return self._in_blocks(partial(_values, self.objectives), np.asarray(points, dtype=float))[0]

    def linearize(self, derivatives: Derivatives, faces: np.ndarray, support: bool = False) -> Linearization:
        """The normal displacement at evaluated points, with Hessians of their own or borrowed ones."""
        assert derivatives.hessians is not None
        parts = self._in_blocks(partial(_linearize, support), derivatives.gradients, derivatives.hessians, faces)
        return Linearization(*parts)

    def _in_blocks(self, function: Callable, *arrays: np.ndarray) -> list[np.ndarray]:
        """Function over blocks of rows of the same size; the last one is filled up with copies of its last row (or zeros)."""
        n, parts = len(arrays[0]), []
        arrays = arrays if n else tuple(np.zeros((1, *array.shape[1:]), array.dtype) for array in arrays)
        with double_precision():
            for start in range(0, max(n, 1), self.block):
                rows = np.minimum(np.arange(start, start + self.block), max(n, 1) - 1)
                parts.append(function(*[array[rows] for array in arrays]))
        return [np.concatenate([np.asarray(part[i]) for part in parts])[:n] for i in range(len(parts[0]))]


@eqx.filter_jit
def _values(objectives: Callable, x: Array) -> tuple[Array]:
    return (jax.vmap(objectives)(x),)


def _value_and_gradients(objectives: Callable, x: Array) -> tuple[Array, Array]:
    value, pullback = jax.vjp(objectives, x)
    return value, jax.vmap(lambda row: pullback(row)[0])(jnp.eye(len(value), dtype=value.dtype))


@eqx.filter_jit
def _with_gradients(objectives: Callable, x: Array) -> tuple[Array, Array]:
    return jax.vmap(partial(_value_and_gradients, objectives))(x)


@eqx.filter_jit
def _with_hessians(objectives: Callable, x: Array) -> tuple[Array, Array, Array]:
    def both(point: Array) -> tuple[Array, tuple[Array, Array]]:
        value, gradients = _value_and_gradients(objectives, point)
        return gradients, (value, gradients)

    def everything(point: Array) -> tuple[Array, Array, Array]:
        hessians, (value, gradients) = jax.jacfwd(both, has_aux=True)(point)
        return value, gradients, (hessians + jnp.swapaxes(hessians, -1, -2)) / 2

    return jax.vmap(everything)(x)


def _linearize(support: bool, gradients: np.ndarray, hessians: np.ndarray, faces: np.ndarray) -> Linearization:
    return linearize_points(gradients, hessians, faces, np.asarray(support))
