"""Parts of a region that one patch each shall cover, and the boxes around their nodes."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float

from ..answer import Patch
from ..runs import kind

if TYPE_CHECKING:
    from scipy.spatial import ConvexHull


@kind("atlas.leaf/1")
@dataclass
class Leaf:
    """A part of a region that one patch shall cover."""

    cuts: list[tuple[np.ndarray, float]] = field(default_factory=list)
    """Half-spaces n·c ≤ o of the parts that cuts have left."""
    depth: int = 0
    patch: Patch | None = None
    degree: int = 0
    raise_degree: bool = False
    stale: bool = True
    refuted: list[np.ndarray] = field(default_factory=list)
    """Coordinates at which a patch claimed a solution where there is none."""
    extensions: int = 0
    """How often ends were looked for since nodes last came from elsewhere."""
    hopeless: int = 0
    """How often a fit ended above the tolerance without a way on."""

    def inside(
        self, c: Float[np.ndarray, "n dimension"], slack: float = 1e-12
    ) -> Bool[np.ndarray, " n"]:
        """Which coordinates are in this part."""
        mask = np.ones(len(c), dtype=bool)
        for normal, offset in self.cuts:
            mask &= c @ normal <= offset + slack
        return mask


@dataclass
class Box:
    """A box along the principal axes of a leaf's nodes: u = (c − center) @ axes lies in [−1,
    1]^d."""

    center: np.ndarray
    axes: np.ndarray

    def __call__(self, c: np.ndarray) -> np.ndarray:
        """From coordinates to the box."""
        return (c - self.center) @ self.axes

    def back(self, u: np.ndarray) -> np.ndarray:
        """From the box to coordinates."""
        return self.center + np.linalg.solve(self.axes.T, u.T).T

    @property
    def sizes(self) -> np.ndarray:
        """Half the length of each side."""
        return 1 / np.linalg.norm(self.axes, axis=0)

    def corners(self) -> np.ndarray:
        """A simplex around the box."""
        d = len(self.center)
        u = -np.ones((d + 1, d))
        u[1:] += 2 * d * np.eye(d)
        return self.back(u)


def hull_of(u: Float[np.ndarray, "n dimension"]) -> "ConvexHull | None":
    """The convex hull, or None where the points are too few or lie in a plane."""
    from scipy.spatial import ConvexHull, QhullError

    if len(u) < u.shape[1] + 3:
        return None
    try:
        return ConvexHull(u)
    except QhullError:
        return None


def spread(points: Float[np.ndarray, "n dimension"], n: int) -> np.ndarray:
    """The numbers of n points far from each other."""
    if len(points) <= n:
        return np.arange(len(points))
    chosen = [int(np.linalg.norm(points - points.mean(axis=0), axis=1).argmax())]
    distance = np.linalg.norm(points - points[chosen[0]], axis=1)
    while len(chosen) < n:
        chosen.append(int(distance.argmax()))
        distance = np.minimum(distance, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return np.array(chosen)
