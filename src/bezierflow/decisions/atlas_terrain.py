"""An atlas as it is searched: points of all patches as the grid, and one patch after the other to
walk on."""

from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from ..answer import BezierAtlas, Walk, centered
from .terrain import Around

NEIGHBORS = 8
"""A point of the grid is a local minimum if so many points nearest to it are higher."""


class AroundPatch:
    """The patch that answers at a chart point, in coordinates that are 0 there."""

    def __init__(self, atlas: BezierAtlas, start: Float[np.ndarray, " n_objectives"]):
        self.walk = Walk(atlas, start)

    @property
    def dimension(self) -> int:
        """Of the patch."""
        return len(self.walk.c)

    def t(self, y: Float[np.ndarray, " dimension"]) -> Float[np.ndarray, " n_objectives"]:
        """The chart point of a point of the patch."""
        return self.walk.chart(self.walk.c + y)

    def look(
        self, y: Float[np.ndarray, " dimension"]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The front of the patch, and its signs."""
        return self.walk.look(self.walk.c + y)


class AtlasTerrain:
    """The front of an atlas: its own polynomials, at points of the chart; its grid are many points
    of the set.

    Attributes:
        atlas: the set.
        t: chart points of the grid.
        values: their objectives in the user's units.
    """

    def __init__(self, atlas: BezierAtlas):
        self.atlas, self.t = atlas, centered(atlas.points.f)
        self.values = atlas.units.ideal + atlas.units.span * atlas.points.f

    @cached_property
    def _beside(self) -> Int[np.ndarray, "n k"]:
        from scipy.spatial import KDTree

        k = min(NEIGHBORS + 1, len(self.t))
        return np.asarray(KDTree(self.atlas.points.f).query(self.atlas.points.f, k=k)[1]).reshape(
            len(self.t), k
        )

    def front_values(
        self, t: Float[np.ndarray, "n n_objectives"]
    ) -> Float[np.ndarray, "n n_objectives"]:
        """The front as the patches have it."""
        return self.atlas.front(t)

    def local_minima(self, rank: Float[np.ndarray, " n"]) -> Int[np.ndarray, " n_minima"]:
        """Points lower than those nearest to them, lowest first, that may lie in the lowest
        basin."""
        beside = rank[self._beside]
        minima = np.flatnonzero(
            (rank <= beside.min(axis=1)) & (2 * rank - beside.max(axis=1) <= rank.min())
        )
        return minima[np.argsort(rank[minima])]

    def around(self, t: Float[np.ndarray, " n_objectives"]) -> AroundPatch:
        """The patch that answers at t."""
        return AroundPatch(self.atlas, t)

    def rounded(self, t: Float[np.ndarray, " n_objectives"]) -> Float[np.ndarray, " n_objectives"]:
        """A chart point is what it is."""
        return t

    def goes_on(self, around: Around, t: Float[np.ndarray, " n_objectives"]) -> bool:
        """Whether another patch answers at t."""
        return isinstance(around, AroundPatch) and Walk(self.atlas, t).number != around.walk.number
