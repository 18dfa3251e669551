"""How much of the front the surface may still miss, for all that the evaluations say.

Functions drawn from the posterior are as likely as its mean. Each has a front of its own, and at
the designs of the surface values of its own: what these leave of the hypervolume of that front is
what would be missing if it were the truth.
"""

import equinox as eqx
import numpy as np
from jaxtyping import Float

from ..gaussian import Paths, Posterior, sample_paths
from .acquisition import ANYTHING, Settings, find_sets, path_values, thin, useful
from .feasibility import Gates
from .schedule import SCHEDULE


def missing(
    posterior: Posterior,
    calibration: float,
    u: Float[np.ndarray, "n n_free"],
    worst: Float[np.ndarray, " n_objectives"],
    rng: np.random.Generator,
    gates: Gates = (),
    settings: Settings = ANYTHING,
) -> tuple[float, float]:
    """The share of the front's hypervolume that designs u all over the surface miss: its
    expectation, and what it is below with a probability of `Schedule.confidence`.

    `calibration` is a factor of standard deviations; the others are those of `find_sets`. Fronts
    have fewer points than there are designs, so that those between designs count for little.
    """
    paths = _calibrated(sample_paths(posterior, SCHEDULE.n_fronts, rng), calibration)
    some = u[:: max(len(u) // SCHEDULE.n_targets, 1)]
    fronts = find_sets(paths, some, worst, rng, gates, settings, n_rounds=1)
    shares = [
        _share(thin(useful(front, worst), SCHEDULE.n_targets).f, values, worst)
        for front, values in zip(fronts, path_values(paths, u), strict=True)
    ]
    return float(np.mean(shares)), float(np.quantile(shares, SCHEDULE.confidence))


def _calibrated(paths: Paths, calibration: float) -> Paths:
    """The paths farther from the mean by a factor."""
    mean, alpha = np.asarray(paths.posterior.alpha), np.asarray(paths.alpha)
    rows = calibration * np.asarray(paths.height), mean + calibration * (alpha - mean)
    return eqx.tree_at(lambda one: (one.height, one.alpha), paths, rows)


def _share(
    front: Float[np.ndarray, "k n_objectives"],
    surface: Float[np.ndarray, "n n_objectives"],
    worst: Float[np.ndarray, " n_objectives"],
) -> float:
    """The share of the hypervolume of a front, as far as values are of use, that the values of the
    surface miss."""
    import moocore

    low, high = front.min(axis=0), front.max(axis=0)
    reference = np.minimum(high + SCHEDULE.beyond * (high - low), worst)
    whole = moocore.hypervolume(np.vstack([front, surface]), ref=reference)
    found = moocore.hypervolume(surface, ref=reference)
    return 1 - found / whole if whole > 0 else 0.0
