"""Fronts in objective space, all objectives minimized: what is nondominated, IGD+, hypervolume."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike

from ..arguments import read_doubles, shown
from .distances import as_points

LEVELS = {2: (313, 1250, 5000), 3: (128, 512, 2048), 4: (64, 256, 1024), 5: (50, 200, 800)}
"""Points of a whole front, by the number of objectives; each time four times as many. For more
objectives those of five, since exact volumes take long."""

ERROR_SHARE = 0.1
"""The least error that an extrapolated volume states, as a share of the last correction."""


def nondominated(
    f: Float[np.ndarray, "n n_objectives"], keep_equal: bool = False
) -> Bool[np.ndarray, " n"]:
    """Which rows no other row dominates. Rows that are not finite are not among them.

    Args:
        f: objective values, one point per row.
        keep_equal: of rows that are equal, whether to keep all or the first only.
    """
    import moocore

    finite = np.isfinite(f).all(axis=1)
    keep = np.zeros(len(f), dtype=bool)
    # moocore calls equal points weakly dominated by each other
    keep[finite] = moocore.is_nondominated(f[finite], keep_weakly=keep_equal)
    return keep


def farthest_points(
    x: Float[np.ndarray, "n width"], n: int, first: Int[np.ndarray, " m"] | None = None
) -> Int[np.ndarray, " chosen"]:
    """Rows far from each other: `first`, then always the row farthest from all that were chosen.

    n rows, or fewer where all others coincide with a chosen one.

    Args:
        x: points, one per row.
        n: how many.
        first: rows to begin with; the one farthest from the mean if not given.
    """
    outermost = int(np.argmax(np.linalg.norm(x - x.mean(axis=0), axis=1)))
    chosen = [outermost] if first is None else [int(row) for row in first]
    away = np.min([np.linalg.norm(x - x[row], axis=1) for row in chosen], axis=0)
    while len(chosen) < n and away.max() > 0:
        chosen.append(int(np.argmax(away)))
        away = np.minimum(away, np.linalg.norm(x - x[chosen[-1]], axis=1))
    return np.array(chosen)


def igd_plus(front: ArrayLike, reference: ArrayLike) -> float:
    """IGD+: the mean over the reference front of the least distance by which the front falls short.

    (Ishibuchi et al., "Modified distance calculation in generational distance and inverted
    generational distance", EMO 2015.) Only objectives in which a point is worse count, so it never
    rewards a dominated front.

    Args:
        front: objective values found, one point per row.
        reference: objective values of the true front, one point per row.
    """
    front = as_points(front, "front")
    import moocore

    return float(moocore.igd_plus(front, ref=as_points(reference, "reference", front.shape[1])))


class Volume(float):
    """A volume, a number like any other, that states its own error.

    Attributes:
        error: how far the number may be from the volume of the whole front; 0 for a finite front.
    """

    error: float

    def __new__(cls, value: float, error: float) -> "Volume":
        """The number with its error."""
        volume = super().__new__(cls, value)
        volume.error = error
        return volume

    def __repr__(self) -> str:
        return f"{float(self):.6g} ± {self.error:.1g}" if self.error else repr(float(self))


def hypervolume(front: Any, reference: ArrayLike) -> Volume:
    """The volume of what the front dominates, up to the reference point.

    Points beyond that in any objective count for nothing. Of finitely many points the volume is
    exact, as `moocore` computes it. What n points of a whole front miss is nearly proportional to
    n^(−1/(M−1)), so that its volume is extrapolated from three numbers of points. `.error` of the
    result says how far off that may be: the difference between the last two extrapolations, or a
    tenth of the last correction.

    Args:
        front: objective values found, one point per row, or a `Solution`.
        reference: one point, worse than the front in each objective.
    """
    if not hasattr(front, "spread"):
        return Volume(_volume(as_points(front, "front"), reference), 0.0)
    n_objectives = np.asarray(reference, dtype=float).size
    levels = LEVELS.get(n_objectives, LEVELS[5])
    # −1 for an objective that is maximized
    signs = np.asarray(getattr(getattr(front, "names", None), "signs", 1.0))
    if np.size(signs) in (1, n_objectives):
        reference = signs * np.asarray(reference, dtype=float)
    volumes = [_volume(signs * np.asarray(front.spread(n).F), reference) for n in levels]
    # The limit of v(n) = v − c n^(−1/d), from the last two levels and from the two before.
    gap = np.array(levels, dtype=float) ** (-1 / max(n_objectives - 1, 1))
    before, limit = (
        volumes[k + 1] + (volumes[k + 1] - volumes[k]) * gap[k + 1] / (gap[k] - gap[k + 1])
        for k in (0, 1)
    )
    return Volume(limit, max(abs(limit - before), ERROR_SHARE * abs(limit - volumes[2])))


def _volume(front: Float[np.ndarray, "n n_objectives"], reference: ArrayLike) -> float:
    point = read_doubles(reference, "reference", "one point of objective values")
    if point.shape != front.shape[1:] or not np.isfinite(point).all():
        raise ValueError(
            f"reference must be one finite point of {front.shape[1]} objectives, got"
            f" {shown(reference)}"
        )
    import moocore

    return float(moocore.hypervolume(front, ref=point))
