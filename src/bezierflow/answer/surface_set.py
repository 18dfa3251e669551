"""One Bézier simplex as a Pareto set: the surface, and its front by the objectives or by a fit."""

from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np
from jaxtyping import Array, Float, Int

from ..bezier import BezierSimplex, Manifest, describe_surface
from ..metrics import farthest_points
from ..objectives import JaxEvaluator, find_multipliers
from ..simplex import (
    check_on_simplex,
    grid,
    largest_degree_within,
    n_controls,
    nearest,
    neighbor_positions,
    support,
    tangent_basis,
)
from .error import ErrorEstimate
from .front import ExactMap, FittedFront, FrontMap, PolynomialMap, interpolate
from .pareto_set import Around, Arrays, Found, ParetoSet, Point, T, Values
from .program import Program, search
from .schedule import SCHEDULE

FRONT_ERRORS = ("front_error/rms", "front_error/max")
"""The arrays of a file that hold the errors of a fitted front."""


class AroundSimplex(Around):
    """The simplex around a point: t = start + directions y, from the largest coordinate of the
    start to each of the others."""

    part = 0

    def __init__(self, front: FrontMap, start: Point):
        largest = int(np.argmax(start))
        self.front, self.start, self.faces = front, start, -np.eye(len(start))
        self.directions = np.delete(np.eye(len(start)), largest, axis=1)
        self.directions[largest] = -1.0
        self.dimension = self.directions.shape[1]

    def t(self, y: Float[np.ndarray, " dimension"]) -> Point:
        """The point of the simplex, its coordinates free of rounding."""
        t = self.start + self.directions @ y
        t = np.where(t < SCHEDULE.zero, 0.0, t)
        return t / t.sum()

    def look(
        self, y: Float[np.ndarray, " dimension"]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The front and the faces −t ≤ 0."""
        t = self.start + self.directions @ y
        (values,), (slopes,) = self.front.slopes(t[None])
        return values, slopes.T @ self.directions, self.faces @ t, self.faces @ self.directions


class SurfaceSet(ParetoSet):
    """A Bézier simplex with its front.

    Args:
        surface: with flat vectors for values.
        whole: the same surface with values shaped like x0, for files.
        objectives: what is minimized, of a flat vector; None where only the fitted front is known.
        fitted: makes the fitted front, whose values have the user's signs; called once.
        signs: −1 for each objective that is maximized.
    """

    trimmed = False

    def __init__(
        self,
        surface: BezierSimplex,
        whole: BezierSimplex,
        objectives: Callable[[Array], Array] | None,
        fitted: Callable[[], FittedFront],
        signs: Point,
    ):
        self.surface, self.whole, self.objectives, self._fit = surface, whole, objectives, fitted
        self.n_objectives, self.n_variables = surface.n_objectives, surface.n_variables
        self.signs = signs
        self.text = f"a Bézier simplex of degree {surface.degree}"
        points = np.asarray(surface.control_points)
        self.map = PolynomialMap(points, self.n_objectives, surface.degree)

    @cached_property
    def fitted_front(self) -> FittedFront:
        """The front as a surface of its own."""
        return self._fit()

    @cached_property
    def exact(self) -> FrontMap:
        """The front by the objectives; where they are not known, by the fit."""
        if self.objectives is not None:
            return ExactMap(self.objectives, self.map)
        front = self.fitted_front.surface
        points = self.signs * np.asarray(front.control_points)
        return PolynomialMap(points, self.n_objectives, front.degree)

    @cached_property
    def searched(self) -> FrontMap:
        """A polynomial that cannot be told from the front at places it has not seen, else the
        front.

        Quadratic objectives on a surface of degree D are polynomials of degree 2D; other smooth
        ones may need a higher one.
        """
        if isinstance(self.exact, PolynomialMap):
            return self.exact
        # Searches evaluate single points hundreds of times, and a polynomial takes microseconds.
        M, twice = self.n_objectives, 2 * self.surface.degree
        # Compared at places that are on no grid, inside and close to the sides.
        rng = np.random.default_rng(0)
        unseen = np.concatenate([rng.dirichlet(np.full(M, share), 200) for share in (1.0, 0.2)])
        values = self.exact.values(unseen)
        for degree in sorted({twice, max(twice, SCHEDULE.smooth_degree)}):
            if n_controls(M, degree) <= SCHEDULE.smooth_net:
                polynomial = interpolate(self.exact, M, degree)
                if np.abs((polynomial.values(unseen) - values) / self.scale).max() <= SCHEDULE.same:
                    return polynomial
        return self.exact

    @cached_property
    def _resolution(self) -> int:
        return min(
            largest_degree_within(self.n_objectives, SCHEDULE.grid_points), SCHEDULE.grid_steps
        )

    @cached_property
    def sample_t(self) -> T:
        """A regular grid."""
        return grid(self.n_objectives, self._resolution)

    @cached_property
    def sample_f(self) -> Values:
        """The front on the grid. Exact, since `searched` is chosen by the ranges seen here."""
        return self.exact.values(self.sample_t)

    @cached_property
    def scale(self) -> Point:
        """The range of each objective over the set; 1 for one that is constant."""
        spread = np.ptp(self.sample_f, axis=0)
        return np.where(spread > 1e-12 * np.abs(self.sample_f).max(axis=0), spread, 1.0)

    @cached_property
    def neighbors(self) -> Int[np.ndarray, "n k"]:
        """Those of the grid."""
        return neighbor_positions(self.n_objectives, self._resolution)

    def designs(self, t: T) -> Float[np.ndarray, "n n_variables"]:
        """b(t)."""
        return self.map.values(t)

    def front(self, t: T) -> Values:
        """f(b(t)), or the polynomial that stands for it."""
        return self.searched.values(t)

    def values(self, t: T) -> Values:
        """f(b(t))."""
        return self.exact.values(t)

    def weights(self, t: T) -> Values:
        """w(t) ∈ Δ_J(t) with Σ w_m ∇f_m(b(t)) as small as possible, gradients taken at unit length:
        0 on the Pareto set. At a corner, where only one objective counts, w = t."""
        if self.objectives is None:
            raise ValueError(
                "weights takes gradients of the objectives, and this solution came from points, or"
                " from a file without its objectives; load it with bf.load(path, objectives=f)"
            )
        evaluator = JaxEvaluator(self.objectives, self.n_objectives, self.n_variables)
        gradients = evaluator.jacobians(np.asarray(self.surface(t))).gradients
        known = np.asarray(np.isfinite(gradients).all(axis=(1, 2), keepdims=True))
        size = np.linalg.norm(np.where(known, gradients, 0.0), axis=2, keepdims=True)
        size = np.where(size > np.finfo(float).tiny, size, 1.0)
        directions = np.where(known, gradients, 0.0) / size
        w = find_multipliers(directions @ np.swapaxes(directions, 1, 2), np.asarray(support(t)))
        # Weights of unit gradients; those of the objectives are inverse to the gradients' lengths.
        w = np.where(known[..., 0], w / size[..., 0], np.nan)
        return w / w.sum(axis=1, keepdims=True)

    def prices(self, t: Point) -> tuple[Point, bool]:
        """The left null vector of the M × (M−1) derivative of the front along the simplex."""
        check_on_simplex(t, self.n_objectives)
        _, (slopes,) = self.exact.slopes(t[None])
        along = (slopes.T @ tangent_basis(self.n_objectives)) / self.scale[:, None]
        directions, sizes, _ = np.linalg.svd(along)
        normal = directions[:, -1] * np.sign(directions[:, -1].sum() or 1.0)
        # A unit vector's rounding is no price: an objective at its very minimum has none.
        normal[np.abs(normal) < 1e-12] = 0.0
        return normal / normal.sum() / self.scale, bool(sizes[-1] > SCHEDULE.rounding * sizes[0])

    def t(self, f: Values) -> T:
        """The t that minimizes max_m (f_m(b(t)) − f_m) in units of ranges."""
        goals, none = np.diag(1 / self.scale), np.zeros((0, self.n_objectives))
        found = [search(self, Program(goals, row / self.scale, none, np.zeros(0))) for row in f]
        return np.array([one.t for one in found]).reshape(-1, self.n_objectives)

    def nearest_design(self, x: Float[np.ndarray, " n_variables"], diameter: float) -> Found:
        """Argmin ‖b(t) − x‖."""
        return self._nearest(self.map, x, max(diameter, np.finfo(float).tiny))

    def nearest_values(self, f: Point) -> Found:
        """Argmin ‖(f(b(t)) − f) / ranges‖."""
        return self._nearest(self.searched.in_units(self.scale), f / self.scale, 1.0)

    def _nearest(self, image: FrontMap, target: np.ndarray, size: float) -> Found:
        found = nearest(image, target[None], self.n_objectives)
        (t,), (point,), (slopes,) = found.t, *image.slopes(found.t)
        gradient = slopes @ (point - target) / size**2
        # With the multipliers ∇ − min ∇ ≥ 0 of t ≥ 0 this is all that is left of the first-order
        # conditions.
        residual = float((t * (gradient - gradient.min())).max())
        starts, agreed = int(found.n_starts[0]), int(found.n_agreed[0])
        return Found(t, float(found.distances[0]), np.zeros(0), residual, starts, agreed)

    def around(self, t: Point, exact: bool = False) -> AroundSimplex:
        """The whole simplex."""
        return AroundSimplex(self.searched, t)

    def spread(self, n: int) -> T:
        """Chosen on the fitted front: equal lengths of arc for two objectives; for more, always the
        point farthest from all that were chosen."""
        t = _candidates(self.n_objectives)
        values = np.asarray(self.fitted_front.surface(t))
        span = np.ptp(values, axis=0)
        scaled = values / np.where(span > 0, span, 1.0)
        if self.n_objectives != 2:
            # Where all values coincide, points are repeated.
            return t[np.resize(farthest_points(scaled, n, (t == 1).argmax(axis=0)), n)]
        # Equal arcs: the candidates are fine enough to take chords for arcs.
        steps = np.linalg.norm(np.diff(scaled, axis=0), axis=1)
        length = np.concatenate([[0.0], np.cumsum(steps)])
        first = np.interp(np.linspace(0, length[-1], n), length, t[:, 0])
        return np.column_stack([first, 1 - first])

    def front_error(self, error: ErrorEstimate) -> Point:
        """The largest error of the fitted front at held-out t."""
        return np.asarray(self.fitted_front.max, dtype=float)

    def describe(self) -> tuple[Manifest, Arrays]:
        """The surface and its fitted front."""
        fitted = self.fitted_front
        pareto_set, arrays = describe_surface(self.whole.on_host(), "pareto_set")
        front, front_arrays = describe_surface(fitted.surface.on_host(), "front")
        errors = dict(zip(FRONT_ERRORS, (fitted.rms, fitted.max), strict=True))
        return {"pareto_set": pareto_set, "front": front}, {**arrays, **front_arrays, **errors}


@lru_cache(maxsize=8)
def _candidates(n_objectives: int) -> T:
    """Points of the simplex to choose from; half of them crowd towards its faces, where fronts may
    be steep. The same for all sets, and some megabytes."""
    if n_objectives == 2:
        return grid(2, SCHEDULE.candidates)
    regular = grid(n_objectives, largest_degree_within(n_objectives, SCHEDULE.candidates // 2))
    crowded = regular**2 / np.sum(regular**2, axis=1, keepdims=True)
    return np.concatenate([regular, crowded])
