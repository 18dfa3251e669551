"""What a solution is asked through: its front as a map with derivatives, and that map on a grid, made once and kept."""

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from ..flow import Solution
from ..simplex import n_controls
from .domain import SimplexDomain
from .front_map import AbstractFrontMap, ExactMap, PolynomialMap, ScaledMap, interpolate, polynomial_map
from .search import Terrain

SAME = 5e-10
"""A polynomial this close to the front, in units of its range, answers as the front would: bounds are kept by a wider margin."""

LARGEST_NET = 2000
"""Control points of such a polynomial at most: degree 20 for four objectives, 12 for five."""

SMOOTH_DEGREE = 20
"""What is tried for objectives that are smooth but no quadratics."""


@dataclass(frozen=True, eq=False)
class View:
    """A solution, ready to be asked: the front as a map, and its values on a grid."""

    reference: weakref.ref
    front: AbstractFrontMap

    @property
    def solution(self) -> Solution:
        """The solution, which whoever asks holds. A strong reference here would keep every solution alive for ever."""
        return self.reference()  # type: ignore[return-value]

    @cached_property
    def domain(self) -> SimplexDomain:
        """Where t lives."""
        return SimplexDomain(self.solution.n_objectives)

    @property
    def grid_t(self) -> np.ndarray:
        """The grid."""
        return self.domain.grid

    @cached_property
    def grid_f(self) -> np.ndarray:
        """Objective values on the grid."""
        return self.front.values(self.grid_t)

    @cached_property
    def origin(self) -> np.ndarray:
        """The smallest value of each objective on the grid: close to the ideal point."""
        return self.grid_f.min(axis=0)

    @cached_property
    def scale(self) -> np.ndarray:
        """The range of each objective on the grid; 1 for one that is constant."""
        spread = np.ptp(self.grid_f, axis=0)
        return np.where(spread > 1e-12 * np.abs(self.grid_f).max(axis=0), spread, 1.0)

    @cached_property
    def scaled(self) -> AbstractFrontMap:
        """The front in units of its range."""
        if isinstance(self.front, PolynomialMap):
            return PolynomialMap((self.front.points - self.origin) / self.scale, self.front.n_objectives, self.front.degree)
        return ScaledMap(self.front, self.origin, self.scale)

    @cached_property
    def stand_in(self) -> PolynomialMap | None:
        """A polynomial that cannot be told from `scaled` at places it has not seen, to be searched in its stead; or None.

        Quadratic objectives on a surface of degree D are polynomials of degree 2D; other smooth ones may need a higher one.
        """
        if isinstance(self.front, PolynomialMap):
            return None
        n_objectives, twice = self.solution.n_objectives, 2 * self.solution.degree
        unseen = _unseen(n_objectives)
        values = self.scaled.values(unseen)
        for degree in sorted({twice, max(twice, SMOOTH_DEGREE)}):
            if n_controls(n_objectives, degree) <= LARGEST_NET:
                polynomial = interpolate(self.scaled, n_objectives, degree)
                if np.abs(polynomial.values(unseen) - values).max() <= SAME:
                    return polynomial
        return None

    @cached_property
    def terrain(self) -> Terrain:
        """The front in units of its range, ready to be searched."""
        return Terrain(self.stand_in or self.scaled, self.domain, (self.grid_f - self.origin) / self.scale)

    @cached_property
    def corners(self) -> np.ndarray:
        """Objective values where one weight is all of t, one row a corner."""
        return self.front.values(np.eye(self.solution.n_objectives))

    @cached_property
    def surface(self) -> PolynomialMap:
        """The surface itself as a map, of flat vectors."""
        return polynomial_map(self.solution.flat_surface)

    @cached_property
    def unravel(self) -> Callable[[np.ndarray], Any]:
        """From a flat vector to a design as the user knows it."""
        raveling = self.solution.raveling
        return (lambda vector: vector) if raveling.is_vector else raveling.unravel

    def designs_and_values(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Designs at the rows of t, as flat vectors, and their objective values."""
        x = self.surface.values(t)
        return x, self.front.of(x) if isinstance(self.front, ExactMap) else self.front.values(t)


@cache
def _unseen(n_objectives: int) -> np.ndarray:
    """Places that are on no grid, inside and close to the sides."""
    rng = np.random.default_rng(0)
    return np.concatenate([rng.dirichlet(np.full(n_objectives, share), 200) for share in (1.0, 0.2)])


_VIEWS: dict[int, tuple[weakref.ref, View]] = {}


def view_of(solution: Solution) -> View:
    """The view of a solution, made at the first question and kept while the solution lives."""
    if not isinstance(solution, Solution):
        raise TypeError(
            f"solution must be a bezierflow.Solution, from minimize or load, got {type(solution).__name__}; "
            "a surface alone has no objectives to decide by"
        )
    kept = _VIEWS.get(id(solution))
    if kept is not None and kept[0]() is solution:
        return kept[1]
    key = id(solution)
    reference = weakref.ref(solution, lambda _: _VIEWS.pop(key, None))
    view = View(reference, _front(solution))
    _VIEWS[key] = (reference, view)
    return view


def _front(solution: Solution) -> AbstractFrontMap:
    if solution.objectives is None:
        return polynomial_map(solution.fitted_front.surface.on_host())
    return ExactMap(solution.flat_objectives, solution.flat_surface)
