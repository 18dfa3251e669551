"""Searches that several tests look at: distances to two points, told by hand."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from bezierflow.surrogate import Search

BOUNDS = ([-2.0, -1.0], [2.0, 3.0])


def distances(x):
    """Squared distances to (−1, 0) and, negated, to (1, 1); the Pareto set is the segment between
    them. f1 is minimized, f2 maximized; on the set they range over [0, 5] and [−5, 0]."""
    x = np.asarray(x)
    first, second = np.sum((x - [-1.0, 0.0]) ** 2, axis=-1), np.sum((x - [1.0, 1.0]) ** 2, axis=-1)
    return np.stack([first, -second], axis=-1)


def new_search(**settings):
    return Search(BOUNDS, 2, maximize=[1], **{"seed": 3, "budget": 12, **settings})


@pytest.fixture(scope="session")
def problem():
    return SimpleNamespace(bounds=BOUNDS, values=distances, new=new_search)


@pytest.fixture(scope="session")
def searched():
    """A search of 12 evaluations, one of them failed, away from the set, told out of order; what it
    was asked and told, and its memory and open predictions after each ask."""
    search, told, memories, models = new_search(), [], [], []
    while len(told) < 12:
        x = search.ask(4)
        numbers = list(search.pending)
        memories.append(json.dumps(search.memory))
        models.append(search.model()[1] if len(told) >= 4 else None)
        for k in (2, 0, 3, 1):
            y = None if numbers[k] == 4 else distances(x[k])
            search.tell(x[k], y)
            told.append((numbers[k], x[k].tolist(), None if y is None else y.tolist()))
    return SimpleNamespace(search=search, told=told, memories=memories, models=models)


@pytest.fixture(scope="session")
def solved(searched):
    return searched.search.solution()


@pytest.fixture(scope="session")
def told():
    """A function from worst values to a search with them that was told 20 evaluations."""
    found = {}

    def search(worst=()):
        if worst not in found:
            found[worst] = new_search(worst=dict(worst), budget=20)
            while len(found[worst].evaluated[0]) < 20:
                x = found[worst].ask(4)
                found[worst].tell(x, distances(x))
        return found[worst]

    return search
