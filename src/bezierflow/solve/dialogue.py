"""`Dialogue`: a run of `minimize` whose evaluations are asked for and told, wherever they are
made."""

import threading
import weakref
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from ..answer import Solution
from ..arguments import read_count, read_doubles, read_flag
from ..objectives import Objectives
from .minimize import minimize

ROUNDING = 1e-12
"""A design that is told differs by at most this much, relative to its size, from the one that was
asked for."""


class _Closed(BaseException):
    """Ends a run that nobody waits for."""


class _Told(NamedTuple):
    y: Float[np.ndarray, " n_objectives"]
    jac: Float[np.ndarray, "n_objectives n_variables"] | None


class _Exchange:
    """What a run, in a thread of its own, and the one who evaluates for it have in common.

    Attributes:
        changed: guards everything else, and is notified whenever it changes.
        wanted: designs that the run waits for, in its order.
        told: what is known, by the bytes of a design.
        order: the designs told, in the order told.
        solution: of the run, once it has ended.
        error: that ended it.
        closed: whether nobody will tell anything any more.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.wanted: dict[bytes, np.ndarray] = {}
        self.told: dict[bytes, _Told] = {}
        self.order: list[np.ndarray] = []
        self.solution: Solution | None = None
        self.error: BaseException | None = None
        self.closed = False

    @property
    def ended(self) -> bool:
        return self.solution is not None or self.error is not None

    def look_up(self, x: Float[np.ndarray, "n n_variables"]) -> list[_Told]:
        """What is known at designs; waits until somebody has told it."""
        x = np.asarray(x, dtype=float)
        keys = [row.tobytes() for row in x]
        with self.changed:
            self.wanted = {
                key: row.copy() for key, row in zip(keys, x, strict=True) if key not in self.told
            }
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.closed or not self.wanted)
            if self.closed:
                raise _Closed
            return [self.told[key] for key in keys]

    def values(self, x: Float[np.ndarray, "n n_variables"]) -> Float[np.ndarray, "n n_objectives"]:
        return np.stack([one.y for one in self.look_up(x)])

    def jacobians(
        self, x: Float[np.ndarray, "n n_variables"]
    ) -> Float[np.ndarray, "n n_objectives n_variables"]:
        return np.stack([one.jac for one in self.look_up(x) if one.jac is not None])

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def run(
        self, x0: ArrayLike | None, method: Any, arguments: dict[str, Any], with_jac: bool
    ) -> None:
        """The run itself, until it ends or nobody waits for it."""
        solution, error = None, None
        try:
            jac = self.jacobians if with_jac else None
            objectives = Objectives(self.values, jac=jac, vectorized=True)
            solution = minimize(objectives, x0, method, **arguments)
        except _Closed:
            return
        except BaseException as raised:  # whoever asks next gets it
            error = raised
        with self.changed:
            self.solution, self.error = solution, error
            self.changed.notify_all()


class Dialogue:
    """Any flow by ask and tell: `minimize` says which designs it needs values at, and goes on once
    all of them are told.

    For objectives that cannot be called: an experiment, a queue, another program. Flows follow
    gradients, and without `with_jac`
    gradients are differences of values: a run asks for thousands of designs, hundreds at a time.
    For some dozens of evaluations in all there is `Search`. The answer is that of `minimize` with a
    function of the same values, bit for bit. `told` is all it
    takes to go on in another process: a `Dialogue` with the same arguments that is told these first
    asks for the next ones.

    Args:
        x0: where to start, as an array; None for the center of the bounds.
        n_objectives: how many values each design has.
        method: as in `minimize`; not a `Surrogate`, which is driven by `Search`.
        with_jac: whether gradients are told with the values.
        **arguments: of `minimize`: bounds, maximize, tol, budget, seed and so on.
    """

    def __init__(
        self,
        x0: ArrayLike | None,
        n_objectives: int,
        method: Any = "auto",
        *,
        with_jac: bool = False,
        **arguments: Any,
    ):
        self.n_objectives, self.with_jac = (
            read_count(n_objectives, "n_objectives", 1),
            read_flag(with_jac, "with_jac"),
        )
        for name in ("jac", "hess", "vectorized", "executor"):
            if name in arguments:
                raise TypeError(
                    f"{name} does not go with a Dialogue, which is told values; with_jac=True for"
                    " gradients too"
                )
        self._exchange = _Exchange()
        self._given = (
            None if x0 is None else read_doubles(x0, "x0", "an array of numbers"),
            method,
            arguments,
        )
        self._thread: threading.Thread | None = None
        self._end = weakref.finalize(self, self._exchange.close)

    def ask(self, n: int | None = None) -> Float[np.ndarray, "n n_variables"]:
        """The designs that the run needs values at now, at most n of them; none once it has ended.

        It waits while the run computes. What was asked for and not told yet is asked for again.
        """
        n = None if n is None else read_count(n, "n", 1)
        exchange = self._exchange
        self._begin()
        with exchange.changed:
            exchange.changed.wait_for(lambda: exchange.wanted or exchange.ended)
            if exchange.error is not None:
                raise exchange.error
            wanted = list(exchange.wanted.values())[:n]
        width = 0 if self._given[0] is None else self._given[0].size
        return np.stack(wanted) if wanted else np.zeros((0, width))

    def tell(self, x: ArrayLike, y: ArrayLike, jac: ArrayLike | None = None) -> None:
        """Values at one design or several, in any order; NaN where an evaluation failed.

        Designs that nobody asked for are kept for when they are.
        """
        designs = np.atleast_2d(read_doubles(x, "x", "a design, or one in each row"))
        values = self._rows(y, "y", (len(designs), self.n_objectives))
        if self.with_jac == (jac is None):
            wanted = (
                "gradients are told with the values"
                if self.with_jac
                else "with_jac=True is needed for gradients"
            )
            raise TypeError(f"jac must {'be given' if self.with_jac else 'be None'}: {wanted}")
        gradients = (
            None
            if jac is None
            else self._rows(jac, "jac", (len(designs), self.n_objectives, designs.shape[1]))
        )
        exchange = self._exchange
        with exchange.changed:
            for i, design in enumerate(designs):
                asked = self._asked_as(design)
                exchange.wanted.pop(asked.tobytes(), None)
                exchange.told[asked.tobytes()] = _Told(
                    values[i], None if gradients is None else gradients[i]
                )
                exchange.order.append(asked)
            exchange.changed.notify_all()

    @property
    def told(self) -> tuple[np.ndarray, ...]:
        """The arguments of `tell` that bring another `Dialogue` as far as this one: designs,
        values, and gradients, if any."""
        with self._exchange.changed:
            order = self._exchange.order
            known = [self._exchange.told[x.tobytes()] for x in order]
        x, y = np.array(order), np.array([one.y for one in known])
        return (x, y, np.array([one.jac for one in known])) if self.with_jac else (x, y)

    @property
    def done(self) -> bool:
        """Whether the run has ended; `solution` has its answer."""
        return self._exchange.ended

    def solution(self) -> Solution:
        """The answer, once no design is asked for any more."""
        if len(self.ask(1)):
            raise ValueError(
                "the run has not ended: ask, and tell the values, until ask returns no design"
            )
        assert self._exchange.solution is not None
        return self._exchange.solution

    def close(self) -> None:
        """Ends the run without an answer; what was told stays."""
        self._end()
        if self._thread is not None:
            self._thread.join()

    def _begin(self) -> None:
        if self._thread is None:
            arguments = (*self._given, self.with_jac)
            self._thread = threading.Thread(
                target=self._exchange.run, args=arguments, daemon=True, name="bezierflow dialogue"
            )
            self._thread.start()

    def _asked_as(
        self, design: Float[np.ndarray, " n_variables"]
    ) -> Float[np.ndarray, " n_variables"]:
        """The design as it was asked for: digits may have been lost on the way."""
        wanted = self._exchange.wanted
        if design.tobytes() in wanted or not wanted:
            return design
        known = np.stack(list(wanted.values()))
        if known.shape[1:] != design.shape:
            raise ValueError(f"x must hold {known.shape[1]} variables, got {design.size}")
        away = np.abs(known - design).max(axis=1)
        nearest = int(away.argmin())
        return known[nearest] if away[nearest] <= ROUNDING * (1 + np.abs(design).max()) else design

    def _rows(self, value: ArrayLike, name: str, shape: tuple[int, ...]) -> np.ndarray:
        rows = read_doubles(value, name, f"numbers of the shape {shape}")
        if rows.size != np.prod(shape):
            raise ValueError(f"{name} must have the shape {shape}, got {rows.shape}")
        return rows.reshape(shape)
