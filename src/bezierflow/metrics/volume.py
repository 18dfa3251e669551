"""The hypervolume of finite fronts, exact, and of whole fronts, from ever denser points of them."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from ..arguments import read_doubles, shown
from .point_set import as_points

LEVELS = {2: (313, 1250, 5000), 3: (128, 512, 2048), 4: (64, 256, 1024), 5: (50, 200, 800)}
"""Points of a whole front, by the number of objectives; each time four times as many. For more
objectives those of five, since exact volumes take long."""


@runtime_checkable
class HasPoints(Protocol):
    """Some points of a front, one a row of `F`."""

    @property
    def F(self) -> np.ndarray:
        """Objective values."""
        ...


@runtime_checkable
class WholeFront(Protocol):
    """A front that gives as many of its points as one asks for: a `bezierflow.Solution`."""

    def spread(self, n: int) -> HasPoints:
        """Points spread evenly over the front, n of them."""
        ...


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


def hypervolume(front: ArrayLike | WholeFront, reference: ArrayLike) -> Volume:
    """The volume of what the front dominates, up to the reference point. Points beyond that in any
    objective count for nothing.

    Of finitely many points it is exact, as `moocore` computes it. A whole front dominates more than
    any points of it: what n points miss is nearly proportional to n^(−1/(M−1)), so that it is
    extrapolated from three numbers of points. `.error` of the result says how far off that may be:
    the difference between the last two extrapolations, or a tenth of the last correction.

    Args:
        front: objective values found, one point a row, or a `Solution`.
        reference: one point, worse than the front in each objective.
    """
    if not isinstance(front, WholeFront):
        return Volume(_volume(as_points(front, "front"), reference), 0.0)
    n_objectives = np.asarray(reference, dtype=float).size
    levels = LEVELS.get(n_objectives, LEVELS[5])
    # −1 for an objective that is maximized
    signs = np.asarray(getattr(getattr(front, "names", None), "signs", 1.0))
    worst = (
        signs * np.asarray(reference, dtype=float)
        if np.size(signs) in (1, n_objectives)
        else reference
    )
    volumes = [_volume(signs * np.asarray(front.spread(n).F), worst) for n in levels]
    return _extrapolated(volumes, levels, max(n_objectives - 1, 1))


def _extrapolated(volumes: Sequence[float], levels: Sequence[int], dimension: int) -> Volume:
    """The limit of v(n) = v − c n^(−1/d), from the last two numbers of points, beside that from the
    two before."""
    gap = np.array(levels, dtype=float) ** (-1 / dimension)
    limits = [
        volumes[k + 1] + (volumes[k + 1] - volumes[k]) * gap[k + 1] / (gap[k] - gap[k + 1])
        for k in (0, 1)
    ]
    return Volume(limits[1], max(abs(limits[1] - limits[0]), 0.1 * abs(limits[1] - volumes[2])))


def _volume(front: Float[np.ndarray, "n n_objectives"], reference: ArrayLike) -> float:
    point = read_doubles(reference, "reference", "one point of objective values")
    if point.shape != front.shape[1:] or not np.isfinite(point).all():
        raise ValueError(
            f"reference must be one finite point of {front.shape[1]} objectives, got"
            f" {shown(reference)}"
        )
    import moocore

    return float(moocore.hypervolume(front, ref=point))
