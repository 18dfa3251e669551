"""The interface of a Pareto set, whatever its shape: what solutions, questions, plots, pages and
files ask of it. One Bézier simplex and an atlas are its two implementations."""

import abc
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from ..bezier import Manifest
from ..names import Names
from .error import ErrorEstimate
from .pieces import Piece

Arrays = dict[str, np.ndarray]

Point = Float[np.ndarray, " n_objectives"]
"""One point of the simplex, or one vector of objective values."""

T = Float[np.ndarray, "n n_objectives"]
"""Points of the simplex, one row each."""

Values = Float[np.ndarray, "n n_objectives"]
"""Objective values, one row each."""


class Points(NamedTuple):
    """Points of a Pareto set.

    Attributes:
        t: where on the simplex, one row per point.
        X: the designs, shaped like x0 with an axis in front.
        F: their objective values, one row per point.
    """

    t: T
    X: object
    F: Values


class Found(NamedTuple):
    """The best end of a search.

    Attributes:
        t: where it is.
        goal: how low, or how far from what it should be near to.
        weights: what each value counts for there, see `first_order`; empty for a nearest point.
        residual: of the first-order conditions; not a number where they were not checked.
        starts: from how many places the search started.
        agreed: how many of them led to a point as good.
    """

    t: Point
    goal: float
    weights: Float[np.ndarray, " n_values"]
    residual: float
    starts: int
    agreed: int


class Around(abc.ABC):
    """A smooth part of a set around one of its points, in coordinates y that are 0 there.

    Attributes:
        part: its number; where the set goes on beyond it, another part answers.
        dimension: of y.
    """

    part: int
    dimension: int

    @abc.abstractmethod
    def t(self, y: Float[np.ndarray, " dimension"]) -> Point:
        """The point of the simplex at y."""

    @abc.abstractmethod
    def look(
        self, y: Float[np.ndarray, " dimension"]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The front and its slopes; and what is at most 0 while y is on this part, with slopes."""


class ParetoSet(abc.ABC):
    """A Pareto set with its front over Δ^{M−1}: at t = e_m objective m is least, and a face is the
    Pareto set of its objectives.

    Designs are flat vectors of the solver's variables, objectives are those that are minimized.

    Attributes:
        n_objectives: M.
        n_variables: L.
        text: what the set is, in words.
        trimmed: whether the set ends at bounds, constraints or other parts of itself, so that it
            has kinks and gaps and is no single polynomial.
    """

    n_objectives: int
    n_variables: int
    text: str
    trimmed: bool

    @cached_property
    @abc.abstractmethod
    def sample_t(self) -> T:
        """Places all over the set."""

    @cached_property
    def sample_f(self) -> Values:
        """The front there."""
        return self.front(self.sample_t)

    @cached_property
    @abc.abstractmethod
    def neighbors(self) -> Int[np.ndarray, "n k"]:
        """The rows of the sample next to each of its rows."""

    @cached_property
    @abc.abstractmethod
    def scale(self) -> Point:
        """The range of each objective over the set; 1 for one that is constant."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Connected parts on which the same things are active; empty for one surface."""
        return ()

    def piece_points(self, number: int) -> T:
        """Sample points of a piece, along it if it is a curve."""
        raise IndexError(f"this set has no piece {number}")

    def piece_text(self, number: int, names: Names) -> str:
        """What is active on a piece, with the variables' names."""
        raise IndexError(f"this set has no piece {number}")

    def choice_text(self, number: int, names: Names) -> str:
        """The values on a piece of the variables that are not continuous; empty where all are."""
        return ""

    def owners(self, t: T) -> Int[np.ndarray, " n"]:
        """The number of the piece that each t is on; −1 in a gap of the set."""
        return np.zeros(len(t), dtype=int)

    @abc.abstractmethod
    def designs(self, t: T) -> Float[np.ndarray, "n n_variables"]:
        """The designs at t."""

    @abc.abstractmethod
    def front(self, t: T) -> Values:
        """The front as it is searched: the objectives, or what cannot be told from them."""

    @abc.abstractmethod
    def values(self, t: T) -> Values:
        """The front as it is answered: by the problem's own objectives where they are known."""

    @abc.abstractmethod
    def weights(self, t: T) -> Values:
        """The multipliers w with Σ w_m ∇f_m = 0 along the set, at least 0 and with sum 1."""

    @abc.abstractmethod
    def prices(self, t: Point) -> tuple[Point, bool]:
        """The front's normal at t in units of 1 over each objective, and whether it has just one.
        Its entries sum to 1 where each objective is measured in its range."""

    @abc.abstractmethod
    def t(self, f: Values) -> T:
        """Where objective values lie: `front(t(f))` = f on the front, else the point that exceeds f
        least in units of ranges."""

    @abc.abstractmethod
    def nearest_design(self, x: Float[np.ndarray, " n_variables"], diameter: float) -> Found:
        """The point whose design is nearest to x, on a set of this diameter."""

    @abc.abstractmethod
    def nearest_values(self, f: Point) -> Found:
        """The point whose objectives are nearest to f, each in units of its range."""

    @abc.abstractmethod
    def around(self, t: Point, exact: bool = False) -> Around:
        """The part of the set around a point, as it is searched or as it is answered."""

    def local_minima(self, rank: Float[np.ndarray, " n"]) -> Int[np.ndarray, " n_minima"]:
        """The local minima of a rank on the sample, lowest first, that may lie in the lowest basin.

        The bottom of a basin is taken to be no deeper below its lowest sample than the highest
        neighbor is above it.
        """
        beside = rank[self.neighbors]
        # At most, so that each point of a plateau counts.
        lowest = rank <= beside.min(axis=1)
        minima = np.flatnonzero(lowest & (2 * rank - beside.max(axis=1) <= rank.min()))
        return minima[np.argsort(rank[minima])]

    @abc.abstractmethod
    def spread(self, n: int) -> T:
        """N points that lie evenly on the front, each objective in units of its range: sorted along
        the front for two objectives, else the minimizers first."""

    @abc.abstractmethod
    def front_error(self, error: ErrorEstimate) -> Point:
        """How far `front` may be from each objective, as far as that was measured; `error` is the
        estimate of the solution."""

    @abc.abstractmethod
    def describe(self) -> tuple[Manifest, Arrays]:
        """The set as a part of an archive."""
