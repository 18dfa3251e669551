"""What a solution is asked through: its front as a map with derivatives, and that map on a grid,
made once and kept.

A view has the objectives as they are minimized; `names.signs` turns what people ask into that, and
answers back.
"""

import weakref
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
from jaxtyping import PyTree

from ..answer import BezierAtlas, Solution
from ..bezier import BezierSimplex
from ..simplex import n_controls
from .atlas_terrain import AtlasTerrain
from .choice import Choice
from .front_map import ExactMap, FrontMap, PolynomialMap, interpolate
from .terrain import AbstractTerrain, Terrain, search_grid

SAME = 5e-10
"""A polynomial this close to the front, in units of its range, answers as the front would: bounds
are kept by a wider margin."""

SMOOTH_DEGREE, LARGEST_NET = 20, 2000
"""The degree that is tried for objectives that are smooth but no quadratics, and control points of
a polynomial at most."""


@dataclass(frozen=True, eq=False)
class _Asked:
    """What is asked about a solution is kept while the solution lives."""

    reference: weakref.ref[Solution]

    @property
    def solution(self) -> Solution:
        """The solution, which whoever asks holds. A strong reference here would keep every solution
        alive for ever."""
        solution = self.reference()
        assert solution is not None
        return solution


@dataclass(frozen=True, eq=False)
class View(_Asked):
    """A solution, ready to be asked: surface (of flat vectors) and front as maps, and the extremes
    that `ranges` has found."""

    surface: PolynomialMap
    front: FrontMap
    extremes: list[Choice] = field(default_factory=list)

    @property
    def front_error(self) -> float:
        """By how much the values that are searched may differ from the objectives, in units of
        ranges; 0 for a stand-in."""
        return 0.0

    def corners(self) -> np.ndarray:
        """The objectives at the corners of the front."""
        return self.front.values(np.eye(self.solution.n_objectives))

    @property
    def grid_t(self) -> np.ndarray:
        """The grid."""
        return search_grid(self.solution.n_objectives)

    @cached_property
    def grid_f(self) -> np.ndarray:
        """Objective values on the grid."""
        return self.front.values(self.grid_t)

    @cached_property
    def scale(self) -> np.ndarray:
        """The range of each objective on the grid; 1 for one that is constant."""
        spread = np.ptp(self.grid_f, axis=0)
        return np.where(spread > 1e-12 * np.abs(self.grid_f).max(axis=0), spread, 1.0)

    @cached_property
    def stand_in(self) -> PolynomialMap | None:
        """A polynomial that cannot be told from the front at places it has not seen, to be searched
        in its stead; or None.

        Quadratic objectives on a surface of degree D are polynomials of degree 2D; other smooth
        ones may need a higher one.
        """
        if isinstance(self.front, PolynomialMap):
            return self.front
        n_objectives, twice = self.solution.n_objectives, 2 * self.solution.degree
        unseen = _unseen(n_objectives)
        values = self.front.values(unseen)
        for degree in sorted({twice, max(twice, SMOOTH_DEGREE)}):
            if n_controls(n_objectives, degree) <= LARGEST_NET:
                polynomial = interpolate(self.front, n_objectives, degree)
                if np.abs((polynomial.values(unseen) - values) / self.scale).max() <= SAME:
                    return polynomial
        return None

    @cached_property
    def terrain(self) -> AbstractTerrain:
        """The front, ready to be searched."""
        return Terrain(self.stand_in or self.front, self.grid_t, self.grid_f)

    def point(self, t: np.ndarray) -> tuple[PyTree, np.ndarray]:
        """The design at t as people see it, and its objective values as they are minimized."""
        (x,), raveling = self.surface.values(t[None]), self.solution.raveling
        return (
            self.solution.seen(x if raveling.is_vector else raveling.unravel(x)),
            self.front.values(t[None])[0],
        )


@dataclass(frozen=True, eq=False)
class AtlasView(_Asked):
    """A solution whose set is an atlas, ready to be asked; t are chart points."""

    atlas: BezierAtlas
    extremes: list[Choice] = field(default_factory=list)

    @property
    def front_error(self) -> float:
        """By how much the patches' front may differ from the objectives, in units of ranges."""
        return float(self.solution.error.front or 0.0)

    @cached_property
    def terrain(self) -> AbstractTerrain:
        """The front of the patches."""
        return AtlasTerrain(self.atlas)

    @property
    def grid_f(self) -> np.ndarray:
        """Objective values of many points."""
        return self.terrain.values

    @property
    def scale(self) -> np.ndarray:
        """The range of each objective over the front."""
        return self.atlas.units.span

    def corners(self) -> np.ndarray:
        """The objectives where each of them is least."""
        return self.grid_f[self.grid_f.argmin(axis=0)]

    def point(self, t: np.ndarray) -> tuple[PyTree, np.ndarray]:
        """The design at a chart point as people see it, and its objective values as they are
        minimized."""
        return self.solution.design(t), self.solution.names.signs * np.asarray(
            self.solution.front(t)
        )


@cache
def _unseen(n_objectives: int) -> np.ndarray:
    """Places that are on no grid, inside and close to the sides."""
    rng = np.random.default_rng(0)
    return np.concatenate(
        [rng.dirichlet(np.full(n_objectives, share), 200) for share in (1.0, 0.2)]
    )


AnyView = View | AtlasView

_VIEWS: dict[int, AnyView] = {}


def view_of(solution: Solution) -> AnyView:
    """The view of a solution, made at the first question and kept while the solution lives."""
    if not isinstance(solution, Solution):
        raise TypeError(
            "solution must be a bezierflow.Solution, from minimize or load, got"
            f" {type(solution).__name__}; a surface alone has no objectives to decide by"
        )
    key = id(solution)
    view = _VIEWS.get(key)
    if view is None or view.reference() is not solution:
        view = _VIEWS[key] = _make_view(
            solution, weakref.ref(solution, lambda _: _VIEWS.pop(key, None))
        )
    return view


def _make_view(solution: Solution, reference: weakref.ref[Solution]) -> AnyView:
    if isinstance(solution.pareto_set, BezierAtlas):
        return AtlasView(reference, solution.pareto_set.turned(solution.names.signs))
    surface, exact = _polynomial(solution.flat_surface), solution.objectives is not None
    if exact:
        return View(reference, surface, ExactMap(solution.flat_objectives, surface))
    return View(
        reference, surface, _polynomial(solution.fitted_front.surface, solution.names.signs)
    )


def _polynomial(surface: BezierSimplex, signs: float | np.ndarray = 1.0) -> PolynomialMap:
    return PolynomialMap(
        signs * np.asarray(surface.control_points), surface.n_objectives, surface.degree
    )
