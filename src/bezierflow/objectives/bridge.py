"""A function on the host as one that JAX can call, map and differentiate twice."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from ..evaluations import Evaluations
from ..interrupts import BudgetSpentError
from .calls import Calls
from .differences import Differences
from .functions import HostRows
from .schedule import SCHEDULE


class Bridge:
    """A function on the host for JAX: `bridge(x)` inside of `jit`, `vmap`, `grad` and `hessian`, in
    blocks of points.

    A point is never evaluated twice in a row: what was computed is kept by its bytes, so whoever
    knows the points beforehand calls `know` first, on the host, with all of them at once; the
    compiled program then only looks them up. An error that the function raises inside of a compiled
    program is kept in `failure`, since JAX would replace it by one of its own; the rows are then
    not numbers.

    Attributes:
        rows: the function's derivatives up to `order`, on the host.
        n_rows: how many values the function has.
        order: the highest derivative that is exact; others are differences of that one.
        differences: how those are made.
        original: the function as the user gave it.
        calls: how often it was called, and may be.
    """

    def __init__(
        self,
        rows: HostRows,
        n_rows: int,
        order: int,
        differences: Differences,
        original: object = None,
        calls: Calls | None = None,
    ):
        self.rows, self.n_rows, self.order = rows, n_rows, order
        self.differences, self.original, self.calls = differences, original, calls or Calls()
        self.failure: BaseException | None = None
        self._known: tuple[dict[bytes, np.ndarray], ...] = ({}, {}, {})
        self._kept = 0

    def __call__(self, x: Float[Array | np.ndarray, " n_variables"]) -> Float[Array, " n_rows"]:
        """f(x)."""
        return _derivative(self, 0, jnp.asarray(x))

    def prices(self, n_variables: int) -> Int[np.ndarray, "3 3"]:
        """What a value, a Jacobian and a Hessian cost, one row each, in evaluations of values,
        Jacobians and Hessians: differences cost what they are made of."""
        L = n_variables
        if self.order == 0:
            return np.array([[1, 0, 0], [2 * L, 0, 0], [L * L + L, 0, 0]])
        return np.array([[1, 0, 0], [0, 1, 0], [0, 2 * L, 0] if self.order == 1 else [0, 0, 1]])

    def counted(self, evaluations: Evaluations, n_variables: int) -> Evaluations:
        """What was counted as values, Jacobians and Hessians of their own, each for itself, as what
        was evaluated for them."""
        made = np.array([int(n) for n in evaluations]) @ self.prices(n_variables)
        return Evaluations(*made.tolist())

    def know(self, x: Float[np.ndarray, "n n_variables"], order: int) -> None:
        """Computes whatever is not known yet up to this order of derivatives, for all points at
        once."""
        # everything is forgotten at once: a point is asked for again soon or never
        if self._kept > SCHEDULE.table_numbers:
            self._kept = 0
            for table in self._known:
                table.clear()
        for k, table in enumerate(self._known[: order + 1]):
            missing = {key: row for key, row in zip(_keys(x), x, strict=True) if key not in table}
            if missing:
                try:
                    with np.errstate(all="ignore"):
                        found = self._derivatives(k, np.stack(list(missing.values())))
                except BudgetSpentError as over:
                    if k <= self.order:  # what was evaluated before the time was up
                        table.update(zip(missing, over.rows, strict=False))
                    raise
                table.update(zip(missing, found, strict=True))
                self._kept += found.size

    def fresh(self, x: Float[np.ndarray, "n n_variables"]) -> Bool[np.ndarray, " n"]:
        """Which points have no known value; of equal ones the first."""
        keys = _keys(x)
        first = {key: k for k, key in reversed([*enumerate(keys)])}
        new = [key not in self._known[0] and first[key] == k for k, key in enumerate(keys)]
        return np.array(new, dtype=bool)

    def _derivatives(self, order: int, x: np.ndarray) -> np.ndarray:
        """Derivatives of one order: exact, or differences of the highest exact ones."""
        if order <= self.order:
            return self.rows(order, x)

        def exact(points: np.ndarray) -> np.ndarray:
            known, keys = self._known[self.order], _keys(points)
            new = [i for i, key in enumerate(keys) if key not in known]
            rows = iter(self.rows(self.order, points[new]) if new else ())
            return np.stack([known[key] if key in known else next(rows) for key in keys])

        if order == 1:
            return self.differences.gradients(exact, x)
        if self.order == 1:
            return self.differences.hessians_of_gradients(exact, x)
        return self.differences.hessians(exact, x)

    def archive(self) -> tuple[np.ndarray, np.ndarray]:
        """The points whose values are known, and these."""
        known = self._known[0]
        points = [np.frombuffer(key) for key in known]
        shape = (0, len(self.differences.scale))
        return np.stack(points) if points else np.zeros(shape), np.array([*known.values()])

    def remember(self, x: Float[np.ndarray, "n n_variables"], f: np.ndarray) -> None:
        """Takes values that were computed elsewhere."""
        self._known[0].update(zip(_keys(x), f, strict=True))
        self._kept += f.size

    def look_up(self, order: int, points: Float[np.ndarray, "*batch n_variables"]) -> np.ndarray:
        """Derivatives of one order at any batch of points, for JAX: not numbers after an error."""
        rows = points.reshape(-1, points.shape[-1])
        shape = (*points.shape[:-1], self.n_rows, *(points.shape[-1:] * order))
        try:
            if self.failure is None:
                if any(key not in self._known[order] for key in _keys(rows)):
                    self.know(rows, order)
                return np.stack([self._known[order][key] for key in _keys(rows)]).reshape(shape)
        # an interrupt, too, must not be raised inside of a compiled program
        except BaseException as error:
            self.failure = error
        return np.full(shape, np.nan)


def bridges(objectives: PyTree) -> list[Bridge]:
    """The bridges among the parts of a function, which is a pytree or a bridge itself."""
    return [leaf for leaf in jax.tree.leaves(objectives) if isinstance(leaf, Bridge)]


def raise_failures(objectives: PyTree) -> None:
    """Raises, once, what a part of a function raised inside of a compiled program."""
    for bridge in bridges(objectives):
        failure, bridge.failure = bridge.failure, None
        if failure is not None:
            raise failure


def _keys(x: np.ndarray) -> list[bytes]:
    # + 0.0 makes one key of 0 and −0
    return [row.tobytes() for row in np.ascontiguousarray(x + 0.0)]


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _derivative(bridge: Bridge, order: int, x: Array) -> Array:
    """Derivatives of one order at x, by a callback of JAX's.

    Doubles travel as pairs of integers: in the thread of a callback JAX would make them single.
    """
    shape = (bridge.n_rows, *([x.shape[-1]] * order))
    call = partial(jax.pure_callback, vmap_method="broadcast_all")
    if x.dtype != np.float64:

        def single(x: Array) -> np.ndarray:
            return bridge.look_up(order, np.array(x, dtype=float)).astype(np.float32)

        return call(single, jax.ShapeDtypeStruct(shape, np.float32), x)

    def paired(bits: Array) -> np.ndarray:
        # a copy: the memory belongs to a program under way
        points = np.array(bits).view(np.float64)[..., 0]
        return bridge.look_up(order, points)[..., None].view(np.uint32)

    bits = jax.lax.bitcast_convert_type(x, np.uint32)
    pairs = call(paired, jax.ShapeDtypeStruct((*shape, 2), np.uint32), bits)
    return jax.lax.bitcast_convert_type(pairs, np.float64)


@_derivative.defjvp
def _(
    bridge: Bridge, order: int, primals: tuple[Array], tangents: tuple[Array]
) -> tuple[Array, Array]:
    if order == 2:
        raise NotImplementedError("functions on the host have no third derivatives")
    # the next derivative times the direction, by its last axis
    slope = _derivative(bridge, order + 1, *primals) @ tangents[0]
    return _derivative(bridge, order, *primals), slope
