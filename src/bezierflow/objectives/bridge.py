"""A function on the host as one that JAX can call, map and differentiate twice."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..evaluations import Evaluations
from .differences import Differences
from .source import AbstractSource

KEPT_NUMBERS = 4_000_000
"""What is known of points is forgotten once it holds more numbers than this."""


class Bridge:
    """A function on the host for JAX: `bridge(x)` inside of `jit`, `vmap`, `grad` and `hessian`, in
    blocks of points.

    A point is never evaluated twice in a row: what was computed is kept by its bytes, so whoever
    knows the points beforehand calls `know` first, on the host, with all of them at once; the
    compiled program then only looks them up. An error that the function raises inside of a compiled
    program is kept in `failure`, since JAX would replace it by one of its own; the rows are then
    not numbers. `original` is the function as the user gave it.
    """

    def __init__(self, source: AbstractSource, differences: Differences, original: object = None):
        self.source, self.differences, self.original = source, differences, original
        self.failure: BaseException | None = None
        self._known: tuple[dict[bytes, np.ndarray], ...] = ({}, {}, {})

    def __call__(self, x: Float[Array | np.ndarray, " n_variables"]) -> Float[Array, " n_rows"]:
        """f(x)."""
        return _values(self, jnp.asarray(x))

    def cost(self, order: int, n_variables: int) -> Evaluations:
        """What derivatives up to this order evaluate at a point: differences count as the values or
        gradients in them."""
        L, exact = n_variables, self.source.order
        if exact == 0:
            return Evaluations((1, 1 + 2 * L, 1 + 2 * L + L * L + L)[order], 0, 0)
        return Evaluations(
            1,
            min(order, 1) + (2 * L if order == 2 and exact == 1 else 0),
            int(order == 2 and exact == 2),
        )

    def counted(self, evaluations: Evaluations, n_variables: int) -> Evaluations:
        """What was counted as values, Jacobians and Hessians of their own, each for itself, as what
        was evaluated for them."""
        value, jacobian, hessian = (self.cost(order, n_variables) for order in range(3))
        each = (value, _less(jacobian, value), _less(hessian, jacobian))
        kinds = zip(
            *(
                tuple(int(n) * int(part) for part in cost)
                for n, cost in zip(evaluations, each, strict=True)
            ),
            strict=True,
        )
        return Evaluations(*map(sum, kinds))

    def know(self, x: Float[np.ndarray, "n n_variables"], order: int) -> None:
        """Computes whatever is not known yet up to this order of derivatives, for all points at
        once."""
        if sum(sum(row.size for row in part.values()) for part in self._known) > KEPT_NUMBERS:
            for part in self._known:
                part.clear()
        compute = (self.source.values, self._jacobians, self._hessians)
        for part, function in zip(self._known[: order + 1], compute[: order + 1], strict=True):
            missing = {key: row for key, row in zip(_keys(x), x, strict=True) if key not in part}
            if missing:
                with np.errstate(all="ignore"):
                    part.update(
                        zip(missing, function(np.stack(list(missing.values()))), strict=True)
                    )

    def _jacobians(self, x: np.ndarray) -> np.ndarray:
        return (
            self.source.jacobians(x)
            if self.source.order >= 1
            else self.differences.gradients(self._known_or(0), x)
        )

    def _hessians(self, x: np.ndarray) -> np.ndarray:
        if self.source.order == 2:
            return self.source.hessians(x)
        if self.source.order == 1:
            return self.differences.hessians_of_gradients(self._known_or(1), x)
        return self.differences.hessians(self._known_or(0), x)

    def _known_or(self, order: int) -> Callable[[np.ndarray], np.ndarray]:
        """Values or Jacobians of the source at points of which some may be known."""
        return partial(
            _filled, self._known[order], (self.source.values, self.source.jacobians)[order]
        )

    def look_up(self, order: int, points: Float[np.ndarray, "*batch n_variables"]) -> np.ndarray:
        """Derivatives of one order at any batch of points, for JAX: not numbers after an error."""
        rows = points.reshape(-1, points.shape[-1])
        shape = (*points.shape[:-1], self.source.n_rows, *(points.shape[-1:] * order))
        try:
            if self.failure is None:
                if any(key not in self._known[order] for key in _keys(rows)):
                    self.know(rows, order)
                return np.stack([self._known[order][key] for key in _keys(rows)]).reshape(shape)
        # an interrupt, too, must not be raised inside of a compiled program
        except BaseException as error:
            self.failure = error
        return np.full(shape, np.nan)

    def raise_failure(self) -> None:
        """Raises what the function raised inside of a compiled program, once."""
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure


def bridges(objectives: PyTree) -> list[Bridge]:
    """The bridges among the parts of a function, which is a pytree or a bridge itself."""
    return [leaf for leaf in jax.tree.leaves(objectives) if isinstance(leaf, Bridge)]


def raise_failures(objectives: PyTree) -> None:
    """Raises what a part of a function raised inside of a compiled program that has ended."""
    for bridge in bridges(objectives):
        bridge.raise_failure()


def _less(more: Evaluations, less: Evaluations) -> Evaluations:
    return Evaluations(*(int(a) - int(b) for a, b in zip(more, less, strict=True)))


def _filled(
    known: dict[bytes, np.ndarray], compute: Callable[[np.ndarray], np.ndarray], x: np.ndarray
) -> np.ndarray:
    rows = [known.get(key) for key in _keys(x)]
    new = [i for i, row in enumerate(rows) if row is None]
    computed = dict(zip(new, compute(x[new]), strict=True)) if new else {}
    return np.stack([computed[i] if row is None else row for i, row in enumerate(rows)])


def _keys(x: np.ndarray) -> list[bytes]:
    return [row.tobytes() for row in np.ascontiguousarray(x + 0.0)]


def _call(bridge: Bridge, order: int, x: Array) -> Array:
    """A callback of JAX's. Doubles travel as pairs of integers: in the thread of a callback JAX
    would make them single."""
    shape = (bridge.source.n_rows, *([x.shape[-1]] * order))
    if x.dtype != np.float64:

        def single(x: Array) -> np.ndarray:
            return bridge.look_up(order, np.array(x, dtype=float)).astype(np.float32)

        return jax.pure_callback(
            single, jax.ShapeDtypeStruct(shape, np.float32), x, vmap_method="broadcast_all"
        )

    def paired(bits: Array) -> np.ndarray:
        # a copy: the memory belongs to a program under way
        points = np.array(bits).view(np.float64)[..., 0]
        return bridge.look_up(order, points)[..., None].view(np.uint32)

    pairs = jax.pure_callback(
        paired,
        jax.ShapeDtypeStruct((*shape, 2), np.uint32),
        jax.lax.bitcast_convert_type(x, np.uint32),
        vmap_method="broadcast_all",
    )
    return jax.lax.bitcast_convert_type(pairs, np.float64)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _values(bridge: Bridge, x: Array) -> Array:
    return _call(bridge, 0, x)


@_values.defjvp
def _(bridge: Bridge, primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    return _values(bridge, *primals), _jacobian(bridge, *primals) @ tangents[0]


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _jacobian(bridge: Bridge, x: Array) -> Array:
    return _call(bridge, 1, x)


@_jacobian.defjvp
def _(bridge: Bridge, primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    return _jacobian(bridge, *primals), jnp.einsum(
        "mij,j->mi", _call(bridge, 2, *primals), tangents[0]
    )
