"""What a solution is asked through: its front as a map with derivatives, and that map on a grid, made once and kept."""

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from typing import Any

import numpy as np

from ..bezier import fit
from ..bezier.design import design_matrix
from ..flow import Solution
from ..simplex import grid, index_positions, lobatto_nodes, multi_indices, n_controls
from .front_map import AbstractFrontMap, ExactMap, PolynomialMap, ScaledMap, polynomial_map
from .searching import GUIDE_ERROR
from .terrain import Terrain

LARGEST_GRID = 1500
"""The finest regular grid of the simplex with at most this many points tells where to start: 53 points an edge for M = 3."""

SAME = 5e-10
"""A polynomial this close to the front, in units of its range, answers as the front would: bounds are kept by a wider margin."""

LARGEST_NET = 2000
"""Control points of such a polynomial at most: degree 20 for four objectives, 12 for five."""

SMOOTH_DEGREE = 20
"""What is tried for objectives that are smooth but no quadratics."""

FINEST = 400
"""Steps along an edge at most, which only the grid of two objectives reaches."""


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
    def grid_t(self) -> np.ndarray:
        """The grid."""
        return grid(self.solution.n_objectives, _resolution(self.solution.n_objectives))

    @cached_property
    def grid_neighbors(self) -> np.ndarray:
        """For each point of the grid the positions of its neighbors, one step from one objective to another."""
        return _neighbors(self.solution.n_objectives, _resolution(self.solution.n_objectives))

    @cached_property
    def grid_f(self) -> np.ndarray:
        """Objective values on the grid."""
        return self.values(self.grid_t)

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
    def grid_scaled(self) -> np.ndarray:
        """Objective values on the grid in units of their range."""
        return (self.grid_f - self.origin) / self.scale

    @cached_property
    def scaled(self) -> AbstractFrontMap:
        """The front in units of its range."""
        if isinstance(self.front, PolynomialMap):
            front = self.front
            return PolynomialMap((front.points - self.origin) / self.scale, front.n_objectives, front.degree)
        return ScaledMap(self.front, self.origin, self.scale)

    @cached_property
    def guide(self) -> AbstractFrontMap:
        """A stand-in for `scaled` that is fast to search: a polynomial through the grid, or `scaled` itself if none is close.

        Answers found on it are refined on `scaled`, so it decides where the search looks and never what is answered.
        """
        if isinstance(self.scaled, PolynomialMap):
            return self.scaled
        return _polynomial_guide(self.grid_t, self.grid_scaled, self.solution.degree) or self.scaled

    @cached_property
    def stand_in(self) -> PolynomialMap | None:
        """A polynomial that cannot be told from `scaled` at places it has not seen, to be searched in its stead; or None.

        Quadratic objectives on a surface of degree D are polynomials of degree 2D; other smooth ones may need a higher one.
        """
        if isinstance(self.scaled, PolynomialMap):
            return None
        n_objectives, twice = self.solution.n_objectives, 2 * self.solution.degree
        unseen = _unseen(n_objectives)
        values = self.scaled.values(unseen)
        for degree in sorted({twice, max(twice, SMOOTH_DEGREE)}):
            if n_controls(n_objectives, degree) <= LARGEST_NET:
                nodes = lobatto_nodes(n_objectives, degree).t
                through = np.linalg.solve(design_matrix(nodes, degree), self.scaled.values(nodes))
                polynomial = PolynomialMap(through, n_objectives, degree)
                if np.abs(polynomial.values(unseen) - values).max() <= SAME:
                    return polynomial
        return None

    @cached_property
    def terrain(self) -> Terrain:
        """The front in units of its range, ready to be searched."""
        true, guide = (self.stand_in,) * 2 if self.stand_in else (self.scaled, self.guide)
        return Terrain(true, guide, self.grid_t, self.grid_scaled, self.grid_neighbors)

    @cached_property
    def corners(self) -> np.ndarray:
        """Objective values where one weight is all of t, one row a corner."""
        return self.values(np.eye(self.solution.n_objectives))

    @cached_property
    def grid_x(self) -> np.ndarray:
        """Designs on the grid, as flat vectors."""
        return self.surface.values(self.grid_t)

    @cached_property
    def surface(self) -> PolynomialMap:
        """The surface itself as a map, of flat vectors."""
        return polynomial_map(self.solution.flat_surface)

    @cached_property
    def unravel(self) -> Callable[[np.ndarray], Any]:
        """From a flat vector to a design as the user knows it."""
        raveling = self.solution.raveling
        return (lambda vector: vector) if raveling.is_vector else raveling.unravel

    def values(self, t: np.ndarray) -> np.ndarray:
        """Objective values at the rows of t."""
        return self.front.values(t)

    def designs_and_values(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Designs at the rows of t, as flat vectors, and their objective values."""
        x = self.surface.values(t)
        return x, self.front.of(x) if isinstance(self.front, ExactMap) else self.front.values(t)


@cache
def _resolution(n_objectives: int) -> int:
    resolution = 1
    while n_objectives > 1 and n_controls(n_objectives, resolution + 1) <= LARGEST_GRID:
        resolution += 1
    return min(resolution, FINEST)


@cache
def _neighbors(n_objectives: int, resolution: int) -> np.ndarray:
    """Neighbors on either side one after the other: a point lower than both is rare, which is soon told."""
    indices, identity = multi_indices(n_objectives, resolution), np.eye(n_objectives, dtype=int)
    steps = np.array([sign * (one - other) for one, other in combinations(identity, 2) for sign in (1, -1)])
    beside = indices[:, None, :] + steps
    inside = beside.min(axis=2, keepdims=True) >= 0
    return index_positions(np.where(inside, beside, indices[:, None, :]))


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


def _polynomial_guide(t: np.ndarray, values: np.ndarray, degree: int) -> PolynomialMap | None:
    """The polynomial of least degree that follows the values closely, or None."""
    n_objectives = t.shape[1]
    degree = max(degree, 2)
    while n_controls(n_objectives, degree) <= len(t) // 3:
        surface = fit(t, values, degree)
        if np.abs(np.asarray(surface(t)) - values).max() <= GUIDE_ERROR:
            return polynomial_map(surface)
        degree += 1 + degree // 3
    return None
