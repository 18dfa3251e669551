"""Functions on the host: every call counted within a hard limit, and bridges by which JAX can call,
map and differentiate them twice."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from ..evaluations import Evaluations, total
from ..interrupts import NO_LIMIT, BudgetSpentError, TimeLimit
from .differences import Differences
from .schedule import SCHEDULE

Points = Float[np.ndarray, "n n_variables"]

HostRows = Callable[[int, Points], Float[np.ndarray, "n n_rows ..."]]
"""A function on the host by the order of its derivatives: f, ∇f or ∇²f at n flat vectors."""


class Calls:
    """How often a function on the host was called, by purpose, and the most that it may be.

    Purposes are "probes" (what kind of function it is, its noise and scales), "search", "estimate"
    (of the error, and whether something elsewhere is better) and, when the solution is in its
    user's hands, "questions".

    Attributes:
        limit: of all calls together; None for none.
        kept: of the limit, for the estimate alone.
        made: what was called, by purpose.
        workers: who makes the calls, such as `runs.Workers`; None for this process.
        time: when the run shall end.
        seconds: that one call takes, as far as it is known.
        first: the point and the values of the first call.
    """

    def __init__(
        self,
        limit: int | None = None,
        workers: Any = None,
        time: TimeLimit = NO_LIMIT,
    ):
        self.limit, self.kept, self.workers, self.time = limit, 0, workers, time
        self.seconds = 0.0
        self.first: tuple[np.ndarray, np.ndarray] | None = None
        self.made: dict[str, Evaluations] = {}
        self._purpose = "probes"

    def add(self, order: int, n: int) -> None:
        """Notes n calls of the function, or of its derivative of this order, before they are made;
        raises if that were too many."""
        if n > self.left:
            raise BudgetSpentError
        new = Evaluations(*(n if k == order else 0 for k in range(3)))
        self.made[self._purpose] = total(self.made.get(self._purpose, Evaluations()), new)

    @property
    def total(self) -> Evaluations:
        """All that was called."""
        return total(Evaluations(), *self.made.values())

    @property
    def left(self) -> float:
        """How many calls may still be made for the present purpose."""
        if self._timed and self.time.left == 0.0:
            self.time.reached = True
            return 0.0
        if self.limit is None:
            return float("inf")
        kept = 0 if self._purpose == "estimate" else self.kept
        return max(self.limit - kept - sum(map(int, self.total)), 0)

    def affords(self, n: int, share: float) -> bool:
        """Whether n calls are at most this share of the limit, and of the time that is left."""
        if n * self.seconds > share * self.time.left:
            return False
        return self.limit is None or n <= min(share * self.limit, self.left)

    @property
    def _timed(self) -> bool:
        return self._purpose in ("search", "estimate")

    def check_time(self) -> None:
        """Raises `BudgetSpentError` when the time of a search is up."""
        if self._timed:
            self.time.check()

    @contextmanager
    def during(self, purpose: str) -> Iterator[None]:
        """Calls inside of this are made for that purpose."""
        before, self._purpose = self._purpose, purpose
        try:
            yield
        finally:
            self._purpose = before

    def hand_over(self) -> None:
        """From now on calls are made for the questions of the solution's user, without a limit,
        and in this process."""
        self.limit, self._purpose = None, "questions"
        if self.workers is not None:
            self.workers.release()


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
        original: object,
        calls: Calls,
    ):
        self.rows, self.n_rows, self.order = rows, n_rows, order
        self.differences, self.original, self.calls = differences, original, calls
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
