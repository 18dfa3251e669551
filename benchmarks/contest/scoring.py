"""How good what was found is: distances in decision space, and IGD+ and hypervolume in objective
space."""

from typing import NamedTuple

import numpy as np

from bezierflow.bezier import project
from bezierflow.metrics import hypervolume, igd_plus

from .entries import Entry
from .found import Found

N_LOOKED_AT = 400
"""Random t at which a surface is looked at, besides its corners."""

NADIR_MARGIN = 0.1
"""The reference point of the hypervolume lies this part of each objective's range beyond its worst
value on the exact front."""

N_FRONT = 403
"""At most so many points of a cloud count for IGD+ and hypervolume, evenly picked: as many as the
exact front has. A surface is asked at the foot points of the exact points, so that a surface on the
set scores 0 whatever points are taken."""


class Scores(NamedTuple):
    """The scores of one run; NaN where the exact set is not known or nothing was found."""

    mean: float
    """Mean distance between what was found and the exact set, the worse of both ways, over the
    diameter."""
    max: float
    """The largest such distance."""
    igd_plus: float
    """IGD+ of the front found, objectives in units of their range on the exact front."""
    hypervolume_lost: float
    """1 − hypervolume/that of the exact points, both up to the reference point. A little below 0 is
    possible: other points."""


NOTHING = Scores(*([float("nan")] * 4))


def scores(found: Found, entry: Entry) -> Scores:
    """All four."""
    if found.surface is None and found.points is None:
        return NOTHING
    diameter = np.linalg.norm(entry.exact[:, None] - entry.exact[None], axis=2).max()
    if found.surface is not None:
        M = entry.n_objectives
        t = np.concatenate([np.eye(M), np.random.default_rng(1).dirichlet(np.ones(M), N_LOOKED_AT)])
        x = np.asarray(found.surface(t))
        feet, to_found = (np.asarray(part) for part in project(found.surface, entry.exact))
        front = np.asarray(found.surface(feet))
    else:
        assert found.points is not None
        x = found.points
        to_found = np.linalg.norm(entry.exact[:, None] - x[None], axis=2).min(axis=1)
        front = x[np.unique(np.linspace(0, len(x) - 1, N_FRONT).astype(int))]
    to_set = entry.distance(x)
    mean, largest = (
        max(to_set.mean(), to_found.mean()) / diameter,
        max(to_set.max(), to_found.max()) / diameter,
    )
    return Scores(
        float(mean), float(largest), *_front_scores(entry.values(front), entry.values(entry.exact))
    )


def _front_scores(front: np.ndarray, exact: np.ndarray) -> tuple[float, float]:
    low, high = exact.min(axis=0), exact.max(axis=0)
    front, exact = ((values - low) / (high - low) for values in (front, exact))
    reference = np.full(exact.shape[1], 1 + NADIR_MARGIN)
    return igd_plus(front, exact), 1 - hypervolume(front, reference) / hypervolume(exact, reference)
