"""The journal of a search: what was asked, what has arrived, and what the search was told before it
was asked again.

Records, after the first one with the settings of the search:

    {"kind": "asked", "first": 8, "x": [[...], ...], "after": [5, 6, 7], "memory": {...}}
    {"kind": "told", "number": 8, "y": [...], "seconds": 61.2}
    {"kind": "told", "number": 9, "failure": "ZeroDivisionError: ...", "seconds": 0.1}

`after` are the evaluations, by their place in the journal, that the search was told since it was
last asked, in that order. So a search is made again as it was, however evaluations arrived, and
goes on to the same points to the last bit.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from .folder import Folder
from .journal import Journal, Record
from .outcome import Outcome

GROWING = ("budget",)
"""Settings that may be larger when a study goes on."""


@runtime_checkable
class AbstractSearch(Protocol):
    """What is asked for designs and told their values; `bezierflow.Search` is one."""

    @property
    def settings(self) -> Record:
        """What it takes to make it again, ready for JSON."""
        ...

    @property
    def memory(self) -> Record:
        """What it has learned, ready for JSON."""
        ...

    @property
    def pending(self) -> dict[int, np.ndarray]:
        """The designs asked for and not told, by number."""
        ...

    def ask(self, n: int = 1) -> np.ndarray:
        """The next n designs."""
        ...

    def tell(self, x: ArrayLike, y: ArrayLike | None) -> None:
        """Takes the values of a design; None where its evaluation failed."""
        ...


Restore = Callable[..., AbstractSearch]
"""`Search.restore`: settings, asked, told and memory to a search."""


@dataclass(frozen=True)
class Arrival:
    """An evaluation that has arrived.

    Attributes:
        number: under which it was asked for; None where nobody asked.
        x: the design.
        outcome: its values, or why there are none.
    """

    number: int | None
    x: Float[np.ndarray, " n_variables"]
    outcome: Outcome

    @property
    def y(self) -> Float[np.ndarray, " n_objectives"] | None:
        """The values; None where the evaluation failed."""
        return None if self.outcome.y is None else np.array(self.outcome.y)


class LoggedSearch:
    """A search with its journal.

    Attributes:
        search: it has been told what `told` says.
        journal: None where nothing is kept.
        arrived: everything that has arrived, in that order.
        told: the places in `arrived` of what the search was told, in that order.
    """

    def __init__(self, search: AbstractSearch, journal: Journal | None = None):
        self.search, self.journal = search, journal
        self.arrived: list[Arrival] = []
        self.told: list[int] = []
        self.n_asked = 0
        self._since: list[int] = []

    @classmethod
    def of(cls, restore: Restore, records: Sequence[Record]) -> "LoggedSearch":
        """The search that a journal tells of, to look at."""
        return cls.restored(restore, kept_settings(records), records)

    @classmethod
    def restored(
        cls, restore: Restore, settings: Record, records: Iterable[Record]
    ) -> "LoggedSearch":
        """The study as it was when the search was last asked; what has arrived since is in
        `arrived` and not told."""
        asked: dict[int, np.ndarray] = {}
        evaluated: list[Arrival] = []
        told: list[int] = []
        memory: Record = {}
        for record in records:
            if record["kind"] == "asked":
                told += record["after"]
                asked |= {record["first"] + i: np.array(x) for i, x in enumerate(record["x"])}
                memory = record["memory"]
            elif record["kind"] == "told":
                evaluated.append(_arrival(record, asked))
        known = [(evaluated[i].number, evaluated[i].x, evaluated[i].y) for i in told]
        study = cls(restore(settings, list(asked.items()), known, memory))
        study.arrived, study.told, study.n_asked = evaluated, told, len(asked)
        return study

    @property
    def waiting(self) -> list[int]:
        """The places of what has arrived and was not told yet."""
        known = set(self.told)
        return [place for place in range(len(self.arrived)) if place not in known]

    def place(self, number: int) -> int | None:
        """Where the evaluation of a number is; None where it has not arrived."""
        return next((place for place in self.waiting if self.arrived[place].number == number), None)

    def respecify(self, restore: Restore, settings: Record) -> None:
        """Other settings for a search that was told no values yet, failures at most; its points
        stay."""
        known = [self.arrived[place] for place in self.told]
        assert all(one.outcome.failed for one in known)
        asked = {one.number: one.x for one in known if one.number is not None} | self.search.pending
        self.search = restore(
            settings, list(asked.items()), [(one.number, one.x, None) for one in known]
        )
        self._append({"kind": "changed", "settings": dict(settings)})

    def ask(self, n: int) -> list[tuple[int, np.ndarray]]:
        """The next n designs with their numbers, written down."""
        first, x = self.n_asked, self.search.ask(n)
        after, self._since = self._since, []
        self.n_asked += len(x)
        self._append(
            {
                "kind": "asked",
                "first": first,
                "x": x.tolist(),
                "after": after,
                "memory": self.search.memory,
            }
        )
        return list(enumerate(x, first))

    def arrive(self, number: int | None, x: np.ndarray, outcome: Outcome) -> int:
        """Writes down an evaluation and returns its place; the search knows nothing of it yet."""
        values: Record = (
            {"failure": outcome.failure} if outcome.y is None else {"y": list(outcome.y)}
        )
        design = {"x": np.asarray(x).tolist()} if number is None else {}
        self._append(
            {"kind": "told", "number": number, **design, **values, "seconds": outcome.seconds}
        )
        self.arrived.append(Arrival(number, np.asarray(x), outcome))
        return len(self.arrived) - 1

    def tell(self, place: int) -> None:
        """Tells the search what has arrived."""
        known = self.arrived[place]
        self.search.tell(known.x, known.y)
        self.told.append(place)
        self._since.append(place)

    @property
    def failures(self) -> list[Arrival]:
        """The evaluations that failed for good."""
        return [one for one in self.arrived if one.outcome.failed]

    def _append(self, record: Record) -> None:
        if self.journal is not None:
            self.journal.append(record)


def _arrival(record: Record, asked: Mapping[int, np.ndarray]) -> Arrival:
    number = record["number"]
    x = np.array(record["x"]) if number is None else asked[number]
    y = tuple(record["y"]) if "y" in record else None
    return Arrival(number, x, Outcome(y, record.get("failure", ""), record["seconds"]))


@contextmanager
def open_search(
    folder: str | os.PathLike[str] | None,
    search: AbstractSearch | None,
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
    if folder is None:
        assert search is not None
        yield LoggedSearch(search)
        return
    with Folder(folder) as owned:
        journal = Journal(owned.path / "journal.jsonl")
        grown = _growth(owned.path, journal, search)
        prepare(owned.path)  # what is refused has changed nothing
        if search is not None and not journal.records:
            journal.append(
                {"kind": "study", "format": 1, "settings": search.settings, **(about or {})}
            )
            journal.flush()  # a disk that is full is said now
        elif grown:
            journal.append({"kind": "changed", "settings": grown})
        study = LoggedSearch.restored(restore, kept_settings(journal.records), journal.records)
        study.journal = journal
        yield study


def kept_settings(records: Iterable[Record]) -> Record:
    """The settings of a search, with what has grown since."""
    changes = [record["settings"] for record in records if record["kind"] in ("study", "changed")]
    return {name: value for change in changes for name, value in change.items()}


def _changes(before: Record, now: Record) -> tuple[Record, list[str]]:
    """What has grown and may, and what else has changed, in words."""
    changed = [name for name in now if before.get(name) != now[name]]
    grown = [
        name
        for name in changed
        if name in GROWING and before.get(name) and (now[name] or np.inf) > before[name]
    ]
    words = [
        f"{name} was {before.get(name)} and is {now[name]}" for name in changed if name not in grown
    ]
    return {name: now[name] for name in grown}, words


def _growth(path: Path, journal: Journal, search: AbstractSearch | None) -> Record:
    """Which settings of the study that a folder holds have grown; an error if others are not those
    of the search."""
    if not journal.records:
        if search is None:
            raise FileNotFoundError(f"{path} holds no study; it was to be the checkpoint of one")
        return {}
    if journal.records[0]["kind"] != "study":
        raise ValueError(
            f"{path} holds a {journal.records[0]['kind']}, not a study; give another folder"
        )
    if search is None:
        return {}
    grown, other = _changes(kept_settings(journal.records), json.loads(json.dumps(search.settings)))
    if other:
        raise ValueError(
            f"{path} holds another study: {'; '.join(other)}. Give another folder, or the same"
            " settings"
        )
    return grown
