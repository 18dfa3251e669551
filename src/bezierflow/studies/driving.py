"""Driving a study: designs go to an engine, and what comes back to the search, in an order that does not depend on time."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from ..engines import Pool
from ..interrupts import raise_if_interrupted
from .study import LoggedSearch


@dataclass(frozen=True)
class Plan:
    """How a study is driven.

    Attributes:
        budget: how many designs are evaluated, exactly, unless the study is done before. A design that is tried again counts
            once.
        batch: how many designs the search is asked for at a time.
        in_flight: how many designs are under way at most; as many as `batch` for one batch after the other.
    """

    budget: int
    batch: int = 1
    in_flight: int | None = None

    @property
    def room(self) -> int:
        """How many designs may be under way."""
        return max(self.batch, self.in_flight or self.batch)


def run_study(
    study: LoggedSearch,
    pool: Pool,
    plan: Plan,
    done: Callable[[LoggedSearch], bool] = lambda study: False,
    watch: Callable[[LoggedSearch], None] = lambda study: None,
) -> bool:
    """Evaluates until the budget is spent or the study is done; whether it was interrupted instead.

    The search is told in the order in which it was asked, and asked whenever there is room for a batch. Which points it is told
    before it is asked does not depend on how fast they were evaluated, so the same study gives the same points, on any engine.
    What arrives is written down at once.

    Args:
        study: new, or as it was restored.
        pool: evaluates a design.
        plan: how many, and how many at once.
        done: whether no more designs are needed, asked after each one that the search was told.
        watch: sees the study whenever something has changed.
    """
    open_numbers = deque(sorted(study.search.pending))
    designs = dict(study.search.pending)
    pool.submit((number, designs[number]) for number in open_numbers if study.place(number) is None)
    try:
        for place in study.waiting:
            if study.arrived[place].number is None:
                study.tell(place)
        enough = study.told != [] and done(study)
        while True:
            while not enough and _has_room(study, plan, len(open_numbers)):
                raise_if_interrupted()
                asked = study.ask(min(plan.batch, plan.budget - study.n_asked))
                designs |= asked
                open_numbers += (number for number, _ in asked)
                pool.submit(asked)
            if not open_numbers:
                return False
            place = study.place(open_numbers[0])
            while place is None:
                for number, outcome in pool.arrivals():
                    study.arrive(number, designs[number], outcome)
                watch(study)
                place = study.place(open_numbers[0])
            study.tell(place)
            open_numbers.popleft()
            enough = done(study)
            watch(study)
    except KeyboardInterrupt:
        return True
    finally:
        pool.close()


def _has_room(study: LoggedSearch, plan: Plan, n_open: int) -> bool:
    left = plan.budget - study.n_asked
    return left > 0 and n_open + min(plan.batch, left) <= plan.room
