"""A study: a search that is asked for designs and told their values, with the journal of both.

Records of the journal, after the first one with the settings of the search:

    {"kind": "asked", "first": 8, "x": [[...], ...], "after": [5, 6, 7], "memory": {...}}
    {"kind": "told", "number": 8, "x": [...], "y": [...], "seconds": 61.2}
    {"kind": "told", "number": 9, "x": [...], "failure": "ZeroDivisionError: ...", "seconds": 0.1}
    {"kind": "undone", "places": [7, 8], "numbers": []}

`after` are the evaluations, by their place in the journal, that the search was told since it was
last asked, in that order. So a search is made again as it was, however evaluations arrived, and
goes on to the same points to the last bit. A number that is told once more corrects what was told
before; what was told with one call has the same `call`.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..interrupts import raise_if_interrupted
from .executors import Evaluation, Pool
from .journal import Journal, Record, open_journal

GROWING = ("budget",)
"""Settings that may be larger when a study goes on."""


Restore = Callable[..., Any]
"""`Search.restore`: settings, asked, told and memory to a search."""


class LoggedSearch:
    """A search with its log.

    A search, such as `bezierflow.surrogate.Search`, has `settings`, what it takes to make it again,
    and `memory`, what it has learned, both ready for JSON; `pending`, the designs asked for and not
    told, by number; `ask(n)` and `tell(x, y, number)`; `done`; and `restore`, which makes it again
    from its past. Where asking changes nothing, and need not be written down, its memory is None.

    Attributes:
        search: it has been told what `told` says; what has arrived since it was last asked waits.
        records: of the journal, or of what it would hold.
        journal: None where nothing is kept.
        asked: the designs that the search was asked for, by number; None for one withdrawn.
        evaluations: everything that has arrived, in that order.
        gone: the places in `evaluations` of what was corrected since, or taken back.
        told: the places of what the search was told, in that order.
    """

    def __init__(self, restore: Restore, records: Iterable[Record], journal: Journal | None = None):
        self.records, self.journal = list(records), journal
        self._load(restore)

    def _load(self, restore: Restore) -> None:
        """Everything from the records. A correction, or what is taken back, takes this way too, so
        that a study in memory and one from its journal are the same to the last bit."""
        self.asked: dict[int, np.ndarray | None] = {}
        self.evaluations: list[Evaluation] = []
        self.told: list[int] = []
        self._since: list[int] = []
        memory: Record = {}
        undone: set[int] = set()
        before: set[int] = set()  # what was gone when the search was last asked
        for record in self.records:
            if record["kind"] == "asked":
                self.told += record["after"]
                self.asked |= enumerate(map(np.array, record["x"]), record["first"])
                memory, before = record["memory"], _gone(self.evaluations, undone)
            elif record["kind"] == "told":
                self.evaluations.append(_from_record(record))
            elif record["kind"] == "undone":
                undone |= set(record["places"])
                self.asked |= dict.fromkeys(record["numbers"])
        self.gone = _gone(self.evaluations, undone)
        self.asked |= {cast(int, one.number): None for one in self.current if one.skipped}
        # nothing depends yet on what was told after the last ask, so that it waits to be told again
        known = [self.evaluations[place] for place in self.told if place not in self.gone]
        changed = {self.evaluations[place].number for place in (self.gone ^ before) & {*self.told}}
        told = [(one.number, one.x, one.y) for one in known]
        past = list(self.asked.items()), told, memory, changed
        self.search = restore(kept_settings(self.records), *past)

    @property
    def n_asked(self) -> int:
        """How many designs the search was asked for."""
        return len(self.asked)

    @property
    def current(self) -> list[Evaluation]:
        """What has arrived, without what was corrected since or taken back."""
        return [one for place, one in enumerate(self.evaluations) if place not in self.gone]

    @property
    def waiting(self) -> list[int]:
        """The places of what has arrived and was not told yet."""
        known = {*self.told, *self.gone}
        return [
            place
            for place, one in enumerate(self.evaluations)
            if place not in known and not one.skipped
        ]

    def place(self, number: int, x: np.ndarray) -> int | None:
        """Where the evaluation of a design waits to be told, by its number, or by the design of the
        user's own where that is negative; None where it has not arrived."""
        for place in self.waiting:
            one = self.evaluations[place]
            # the same design may be among those of the user's own and among those asked for
            own = number < 0 and one.number is None and np.array_equal(one.x, x)
            if own or one.number == number:
                return place
        return None

    @property
    def failures(self) -> list[Evaluation]:
        """The evaluations that failed for good."""
        return [one for one in self.current if one.failed and not one.skipped]

    def respecify(self, restore: Restore, settings: Record) -> None:
        """Other settings for a search that was told no values yet, failures at most; its points
        stay."""
        known = [self.evaluations[place] for place in self.told if place not in self.gone]
        assert all(one.failed for one in known)
        failed = [(one.number, one.x, None) for one in known]
        self.search = restore(settings, list(self.asked.items()), failed)
        self._write({"kind": "changed", "settings": dict(settings)})

    def _write(self, *records: Record) -> None:
        if self.journal is not None and records:
            self.journal.append(*records)
        self.records += records

    def ask(self, n: int | None = None) -> np.ndarray:
        """The next n designs, or as many as the search gives by itself, written down."""
        x = self.search.ask() if n is None else self.search.ask(n)
        memory = self.search.memory
        if memory is not None:
            first = self.n_asked
            record = {"kind": "asked", "first": first, "x": x.tolist(), "after": self._since}
            self._write({**record, "memory": memory})
            self.asked |= enumerate(x, first)
            self._since = []
        return x

    def arrive(self, *new: Evaluation) -> list[int]:
        """Writes down evaluations, and returns the places of what the search is to be told.

        One with the number of an earlier one takes its place; the earlier one stays in the records.
        """
        first, records = len(self.evaluations), []
        for one in new:
            record = {"kind": "told", "number": one.number, "seconds": one.seconds, "call": first}
            record |= {"failure": one.failure} if one.failure else {}
            for name, value in (("x", one.x), ("y", one.y), ("jac", one.jac)):
                if value is not None:
                    # JSON has no infinity
                    number = float if np.isfinite(value).all() else str
                    record[name] = np.asarray(value).astype(number).tolist()
            records.append(record)
        self._write(*records)
        self.evaluations += new
        if _gone(self.evaluations, self.gone) != self.gone or any(one.skipped for one in new):
            self._load(self.search.restore)
            return self.waiting
        return list(range(first, len(self.evaluations)))

    def undo(self) -> tuple[list[Evaluation], list[int]]:
        """Takes the last step back, an ask or all that was told with one call: the evaluations that
        do not count any more, and the numbers that are not asked for any more."""
        steps: list[tuple[set[int], set[int]]] = []
        place, call = 0, None
        for record in self.records:
            if record["kind"] == "told":
                if "call" not in record or record["call"] != call:
                    steps.append((set(), set()))
                call = record.get("call")
                steps[-1][0].add(place)
                place += 1
            elif record["kind"] == "asked":
                numbers = range(record["first"], record["first"] + len(record["x"]))
                steps.append((set(), set(numbers)))
            elif record["kind"] == "undone":
                steps.remove((set(record["places"]), set(record["numbers"])))
        if not steps:
            raise ValueError("there is nothing to undo: nothing was asked for and nothing was told")
        places, numbers = steps[-1]
        self._write({"kind": "undone", "places": sorted(places), "numbers": sorted(numbers)})
        self._load(self.search.restore)
        return [self.evaluations[place] for place in sorted(places)], sorted(numbers)

    def tell(self, *places: int) -> None:
        """Tells the search what has arrived."""
        for place in places:
            one = self.evaluations[place]
            more = (one.number,) if one.jac is None else (one.number, one.jac)
            self.search.tell(one.x, one.y, *more)
            self.told.append(place)
            self._since.append(place)


def _from_record(record: Record) -> Evaluation:
    """What `arrive` wrote down."""
    arrays = {
        name: np.array(record[name]).astype(float) for name in ("x", "y", "jac") if name in record
    }
    about = {"failure": record.get("failure", ""), "seconds": record["seconds"]}
    return Evaluation(record["number"], **{"y": None, **arrays, **about})


def _gone(evaluations: list[Evaluation], undone: set[int]) -> set[int]:
    """The places of what does not count: what was taken back, and what a later one with the same
    number corrects."""
    numbered = [
        (place, one.number)
        for place, one in enumerate(evaluations)
        if one.number is not None and place not in undone
    ]
    newest = {number: place for place, number in numbered}
    return undone | {place for place, number in numbered if newest[number] != place}


@contextmanager
def open_search(
    folder: str | os.PathLike[str] | None,
    search: Any,
    restore: Restore,
    about: Record | None = None,
    prepare: Callable[[Path], object] = lambda path: None,
) -> Iterator[LoggedSearch]:
    """The study of a folder, which is locked meanwhile: a new one of this search, or the one that
    is there, if it is the same.

    Args:
        folder: None for a study that is kept nowhere.
        search: a fresh one; None for whatever the folder holds.
        restore: what makes a search from its settings and its past.
        about: what else the first record says, such as versions.
        prepare: what is done to the folder under its lock, before anything is written to its
            journal.
    """
    settings = None if search is None else search.settings
    first = {"kind": "study", "format": 1, "settings": settings, **(about or {})}
    if folder is None:
        yield LoggedSearch(restore, [first])
        return
    with open_journal(folder, "study") as journal:
        path, is_new, grown = journal.path.parent, not journal.records, {}
        if is_new and settings is None:
            raise FileNotFoundError(f"{path} holds no study; it was to be the checkpoint of one")
        if not is_new and settings is not None:
            grown = _growth(path, journal.records, settings)
        prepare(path)  # what is refused has changed nothing
        if is_new:
            journal.begin(first)
        elif grown:
            journal.append({"kind": "changed", "settings": grown})
        yield LoggedSearch(restore, journal.records, journal)


def kept_settings(records: Iterable[Record]) -> Record:
    """The settings of a search, with what has changed since."""
    changes = [record["settings"] for record in records if record["kind"] in ("study", "changed")]
    return {name: value for change in changes for name, value in change.items()}


def _growth(path: Path, records: list[Record], settings: Record) -> Record:
    """Which settings of the study that a folder holds have grown; an error if others differ."""
    # through JSON, in which tuples are lists
    before, now = map(_unfolded, (kept_settings(records), json.loads(json.dumps(settings))))
    changed = {name: value for name, value in now.items() if before.get(name) != value}
    grown = {
        name: value
        for name, value in changed.items()
        if name in GROWING and before.get(name) and (value or np.inf) > before[name]
    }
    words = [
        f"{name} was {before.get(name)} and is {value}"
        for name, value in changed.items()
        if name not in grown
    ]
    if words:
        raise ValueError(
            f"{path} holds another study: {'; '.join(words)}. Give another folder, or the same"
            " settings"
        )
    return grown


def _unfolded(settings: Record) -> Record:
    """Settings with those of names beside the others: a message shows what differs alone."""
    rest = {name: value for name, value in settings.items() if name != "names"}
    return {**rest, **(settings.get("names") or {})}


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
    first: tuple[np.ndarray, ...] = field(default=(), repr=False)


def run_study(
    log: LoggedSearch,
    pool: Pool,
    plan: Plan,
    before_telling: Callable[[LoggedSearch, int], None] = lambda log, place: None,
    after_telling: Callable[[LoggedSearch], bool | None] = lambda log: None,
) -> str | None:
    """Evaluates until the budget is spent or the search is done; "interrupted" or "stopped" where
    somebody ended it before.

    The search is told in the order in which it was asked, and asked whenever there is room for a
    batch. Which points it is told before it is asked does not depend on how fast they were
    evaluated, so the same study gives the same points, on any engine. What arrives is written down
    at once.

    Args:
        log: new, or as it was restored.
        pool: evaluates a design.
        plan: how many, and how many at once.
        before_telling: sees what has arrived, by its place, before the search is told of it.
        after_telling: sees the study after that, and returns True to stop it.
    """
    # designs under way, in the order in which the search will be told of them
    designs = _open_designs(log, plan)
    _submit(log, pool, designs)
    room = max(plan.batch, plan.in_flight or plan.batch)
    try:
        enough = bool(log.told) and log.search.done
        while True:
            while not enough and (left := plan.budget - log.n_asked - len(plan.first)) > 0:
                n = min(plan.batch, left)
                if len(designs) + n > room:
                    break
                raise_if_interrupted()
                x = log.ask(n)
                new = dict(enumerate(x, log.n_asked - n))
                _submit(log, pool, new)
                designs |= new
            if not designs:
                return None
            number = next(iter(designs))
            place = _wait_for(log, pool, number, designs.pop(number))
            before_telling(log, place)
            log.tell(place)
            if after_telling(log):
                return "stopped"
            enough = log.search.done
    except KeyboardInterrupt:
        return "interrupted"
    finally:
        pool.close()


def _open_designs(log: LoggedSearch, plan: Plan) -> dict[int, np.ndarray]:
    """The designs that a study goes on with, by number: first those of the user's own, with
    negative ones. The search is told what others have told."""
    known = [log.evaluations[i].x for i in log.told if log.evaluations[i].number is None]
    own = {
        -1 - i: x
        for i, x in enumerate(plan.first)
        if not any(np.array_equal(x, other) for other in known)
    }
    mine = {log.place(number, x) for number, x in own.items()}
    # before the search is told: a design that others have told may be one of those pending
    asked = sorted(log.search.pending.items())
    others = [
        i for i in log.waiting if not isinstance(log.evaluations[i].number, int) and i not in mine
    ]
    log.tell(*others)
    return own | dict(asked)


def _submit(log: LoggedSearch, pool: Pool, designs: dict[int, np.ndarray]) -> None:
    """Has those designs evaluated whose evaluations have not arrived."""
    pool.submit((key, x) for key, x in designs.items() if log.place(key, x) is None)


def _wait_for(log: LoggedSearch, pool: Pool, number: int, x: np.ndarray) -> int:
    """The place of the evaluation of a design; whatever arrives before it is written down."""
    while (place := log.place(number, x)) is None:
        for one in pool.arrivals():
            own = cast(int, one.number) < 0
            log.arrive(replace(one, number=None) if own else one)
    return place
