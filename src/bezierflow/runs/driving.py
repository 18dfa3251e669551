"""Driving a study: designs go to an engine, and what comes back to the search, in an order that
does not depend on time."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..interrupts import raise_if_interrupted
from .pool import Pool
from .study import LoggedSearch


@dataclass(frozen=True)
class Plan:
    """How a study is driven.

    Attributes:
        budget: how many designs are evaluated, exactly, unless the study is done before. A design
            that is tried again counts once.
        batch: how many designs the search is asked for at a time.
        in_flight: how many designs are under way at most; as many as `batch` for one batch after
            the other.
        first: designs of the user's own that are evaluated before any other.
    """

    budget: int
    batch: int = 1
    in_flight: int | None = None
    first: Sequence[np.ndarray] = field(default=(), repr=False)

    @property
    def room(self) -> int:
        """How many designs may be under way."""
        return max(self.batch, self.in_flight or self.batch)


class Ticket(NamedTuple):
    """A design under way: its key in the pool, and the number under which the search has asked for
    it, if it has."""

    key: int
    number: int | None
    x: np.ndarray


Look = Callable[[LoggedSearch], object]
"""What sees a study on its way."""


def run_study(
    study: LoggedSearch,
    pool: Pool,
    plan: Plan,
    before_telling: Callable[[LoggedSearch, int], None] = lambda study, place: None,
    after_telling: Look = lambda study: None,
    done: Callable[[LoggedSearch], bool] = lambda study: False,
) -> bool:
    """Evaluates until the budget is spent or the study is done; whether it was interrupted instead.

    The search is told in the order in which it was asked, and asked whenever there is room for a
    batch. Which points it is told before it is asked does not depend on how fast they were
    evaluated, so the same study gives the same points, on any engine. What arrives is written down
    at once.

    Args:
        study: new, or as it was restored.
        pool: evaluates a design.
        plan: how many, and how many at once.
        before_telling: sees what has arrived, by its place, before the search is told of it.
        after_telling: sees the study after that.
        done: whether no more designs are needed, asked after that, too.
    """
    course = _Course(study, pool, plan)
    try:
        enough = bool(study.told) and done(study)
        while True:
            while not enough and course.has_room:
                raise_if_interrupted()
                course.ask()
            if not course.open:
                return False
            place = course.wait_for_first()
            before_telling(study, place)
            study.tell(place)
            course.open.popleft()
            after_telling(study)
            enough = done(study)
    except KeyboardInterrupt:
        return True
    finally:
        pool.close()


class _Course:
    """The designs under way, in the order in which the search will be told of them."""

    def __init__(self, study: LoggedSearch, pool: Pool, plan: Plan):
        self.study, self.pool, self.plan = study, pool, plan
        self.tickets: dict[int, Ticket] = {}
        own = [Ticket(-1 - i, None, x) for i, x in enumerate(plan.first)]
        known = [
            study.arrived[place].x for place in study.told if study.arrived[place].number is None
        ]
        open_own = [ticket for ticket in own if not any(np.array_equal(ticket.x, x) for x in known)]
        asked = [Ticket(number, number, x) for number, x in sorted(study.search.pending.items())]
        self.open: deque[Ticket] = deque()
        self._take([*open_own, *asked])
        for place in study.waiting:  # what others have told
            if study.arrived[place].number is None and all(
                self.place(ticket) != place for ticket in open_own
            ):
                study.tell(place)

    @property
    def has_room(self) -> bool:
        """Whether the search is asked for more now."""
        left = self._left
        return left > 0 and len(self.open) + min(self.plan.batch, left) <= self.plan.room

    @property
    def _left(self) -> int:
        return self.plan.budget - self.study.n_asked - len(self.plan.first)

    def ask(self) -> None:
        """The next batch."""
        self._take(
            [
                Ticket(number, number, x)
                for number, x in self.study.ask(min(self.plan.batch, self._left))
            ]
        )

    def _take(self, tickets: list[Ticket]) -> None:
        self.open += tickets
        self.tickets |= {ticket.key: ticket for ticket in tickets}
        self.pool.submit((ticket.key, ticket.x) for ticket in tickets if self.place(ticket) is None)

    def place(self, ticket: Ticket) -> int | None:
        """Where its evaluation is among those that have arrived; None where it is not."""
        if ticket.number is not None:
            return self.study.place(ticket.number)
        waiting = ((place, self.study.arrived[place]) for place in self.study.waiting)
        return next(
            (
                place
                for place, one in waiting
                if one.number is None and np.array_equal(one.x, ticket.x)
            ),
            None,
        )

    def wait_for_first(self) -> int:
        """The place of the evaluation that the search is told of next; whatever arrives before it
        is written down."""
        place = self.place(self.open[0])
        while place is None:
            for key, outcome in self.pool.arrivals():
                ticket = self.tickets[key]
                self.study.arrive(ticket.number, ticket.x, outcome)
            place = self.place(self.open[0])
        return place
