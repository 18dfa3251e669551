"""Evaluations of a JAX function, compiled once for blocks of a fixed size."""

from collections.abc import Callable
from functools import partial
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..compilation import program
from ..evaluations import Evaluations
from ..precision import double_precision
from ..runs import kind
from .blocks import block_size, in_blocks
from .bridge import Bridge, bridges, raise_failures
from .evaluator import AbstractEvaluator

FlatObjectives = Callable[[Array], Array]
"""Objectives as flows see them: a JAX function of a flat vector, x (L,) -> (M,)."""


@runtime_checkable
class PlacesPoints(Protocol):
    """Objectives of some of the variables, which call others with all of them."""

    def whole(self, points: Float[np.ndarray, "n n_some"]) -> Float[np.ndarray, "n n_all"] | None:
        """All variables of points; None where they are not known to the last bit before they are
        computed."""
        ...


@kind("objectives.evaluator/1")
class JaxEvaluator(AbstractEvaluator):
    """A JAX function, differentiated by JAX, in double precision.

    Making one costs nothing: compiled programs are kept by the function (and by its arrays' shapes,
    where it is a pytree).
    """

    def __init__(
        self,
        objectives: FlatObjectives,
        n_objectives: int,
        n_variables: int,
        budget: int | None = None,
        spent: Evaluations | None = None,
    ):
        super().__init__(n_objectives, n_variables, budget, spent)
        self.objectives, self.block = objectives, block_size(n_objectives, n_variables)

    def _cost(self, order: int) -> Evaluations:
        """Differences count as what they are made of; where there are parts of several kinds, the
        most of each."""
        parts = [bridge.cost(order, self.n_variables) for bridge in bridges(self.objectives)]
        innermost = self.objectives
        while hasattr(innermost, "objectives"):
            innermost = getattr(innermost, "objectives")  # noqa: B009
        if not isinstance(innermost, Bridge):
            parts.append(super()._cost(order))
        return Evaluations(*(max(map(int, kind)) for kind in zip(*parts, strict=True)))

    def _computed(
        self, program: Callable, order: int, points: np.ndarray, *others: np.ndarray
    ) -> list[np.ndarray]:
        """What a compiled program returns at the points.

        Parts that run on the host are evaluated at all points before, where these are known, so
        that the program need only look them up; an error that one of them raises inside of the
        program is raised after it.
        """
        whole = (
            self.objectives.whole(points) if isinstance(self.objectives, PlacesPoints) else points
        )
        if whole is not None:
            for bridge in bridges(self.objectives):
                bridge.know(whole, order)
        found = in_blocks(partial(program, self.objectives), self.block, points, *others)
        raise_failures(self.objectives)
        return found

    def _values(self, points: np.ndarray) -> np.ndarray:
        return self._computed(_values, 0, points)[0]

    def _jacobians(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, gradients = self._computed(_jacobians, 1, points)
        return values, gradients

    def _hessians(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        values, gradients, hessians = self._computed(_hessians, 2, points)
        return values, gradients, hessians

    def _products(self, points: np.ndarray, directions: np.ndarray) -> np.ndarray:
        return self._computed(_products, 2, points, directions)[0]


def count_objectives(objectives: FlatObjectives, n_variables: int) -> int:
    """M, seen by tracing the function; an error if it does not return a vector."""
    with double_precision():
        # A plain function: JAX asks what it traces for its name, which takes a problem milliseconds
        # to spell out.
        shape = jax.eval_shape(
            lambda x: objectives(x), jax.ShapeDtypeStruct((n_variables,), np.float64)
        ).shape
    if len(shape) != 1 or shape[0] < 1:
        raise ValueError(
            f"objectives must return one vector with a value for each objective, got shape {shape}"
        )
    return shape[0]


def _value_and_gradients(objectives: FlatObjectives, x: Array) -> tuple[Array, Array]:
    value, pullback = jax.vjp(objectives, x)
    return value, jax.vmap(lambda row: pullback(row)[0])(jnp.eye(len(value), dtype=value.dtype))


@program
def _values(objectives: FlatObjectives, x: Array) -> tuple[Array]:
    return (jax.vmap(objectives)(x),)


@program
def _jacobians(objectives: FlatObjectives, x: Array) -> tuple[Array, Array]:
    return jax.vmap(partial(_value_and_gradients, objectives))(x)


@program
def _hessians(objectives: FlatObjectives, x: Array) -> tuple[Array, Array, Array]:
    def gradients_twice(point: Array) -> tuple[Array, tuple[Array, Array]]:
        value, gradients = _value_and_gradients(objectives, point)
        return gradients, (value, gradients)

    def everything(point: Array) -> tuple[Array, Array, Array]:
        hessians, (value, gradients) = jax.jacfwd(gradients_twice, has_aux=True)(point)
        return value, gradients, (hessians + jnp.swapaxes(hessians, -1, -2)) / 2

    return jax.vmap(everything)(x)


@program
def _products(objectives: FlatObjectives, x: Array, v: Array) -> tuple[Array]:
    def product(point: Array, direction: Array) -> Array:
        return jax.jvp(lambda y: _value_and_gradients(objectives, y)[1], (point,), (direction,))[1]

    return (jax.vmap(product)(x, v),)
