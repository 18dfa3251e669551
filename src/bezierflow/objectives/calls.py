"""Every call of a user's function, counted where it is made, within a hard limit."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..evaluations import Evaluations, total
from ..interrupts import NO_LIMIT, BudgetSpentError, TimeLimit


@runtime_checkable
class Workers(Protocol):
    """Who calls functions in place of this process, such as `runs.Workers`."""

    def answers(
        self,
        part: Any,
        unravel: Callable[[np.ndarray], object] | None,
        x: np.ndarray,
        pause: Callable[[], None],
    ) -> Sequence[Callable[[], np.ndarray | None]] | None:
        """For each point what returns the values there or raises, see `runs.Workers.answers`."""
        ...

    def release(self) -> None:
        """Ends that."""
        ...


class Calls:
    """How often a function on the host was called, by purpose, and the most that it may be.

    Purposes are "probes" (what kind of function it is, its noise and scales), "search", "estimate"
    (of the error, and whether something elsewhere is better) and, when the solution is in its
    user's hands, "questions".

    Attributes:
        limit: of all calls together; None for none.
        kept: of the limit, for the estimate alone.
        made: what was called, by purpose.
        workers: who makes the calls; None for this process.
        time: when the run shall end.
        seconds: that one call takes, as far as it is known.
        first: the point and the values of the first call.
    """

    def __init__(
        self,
        limit: int | None = None,
        workers: Workers | None = None,
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
