"""The front as a map on the simplex, t ↦ f(b(t)): exact, or fitted by a Bézier simplex of its own.

A search evaluates single points, so what counts is how fast one small evaluation is and that none
has to wait for a compiler: polynomials are evaluated by NumPy. Only the problem's own objectives go
through JAX. Derivatives are laid out as in `SmoothMap`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..bezier import BezierSimplex, SurfaceMap, design_matrix, differentiate, elevate, fit
from ..compilation import pad_rows, program
from ..precision import double_precision
from ..quiet import one_blas_thread
from ..simplex import lobatto_nodes, low_discrepancy, n_controls
from .schedule import SCHEDULE


@dataclass(frozen=True)
class FittedFront:
    """The front as a Bézier simplex t ↦ f(b(t)), usable without the objectives' code.

    Attributes:
        surface: the fitted surface, M values.
        rms: root mean square error of each objective, over held-out t.
        max: largest error of each objective, over held-out t, with those near faces.
    """

    surface: BezierSimplex
    rms: np.ndarray
    max: np.ndarray

    @property
    def is_rough(self) -> bool:
        """Whether an objective is off by more than `SCHEDULE.rough` of its range somewhere."""
        values = np.asarray(self.surface(held_out_t(self.surface.n_objectives)))
        return bool((self.max > SCHEDULE.rough * np.ptp(values, axis=0)).any())


@lru_cache(maxsize=16)
def held_out_t(n_objectives: int) -> Float[np.ndarray, "n n_objectives"]:
    """The t at which errors are measured: spread evenly, then near and on faces. Read-only."""
    with double_precision():
        even = np.asarray(low_discrepancy(jax.random.key(0), SCHEDULE.fit_held_out, n_objectives))
    quarters = np.array_split(even, len(SCHEDULE.fit_graded))
    near = np.concatenate(
        [part**power for power, part in zip(SCHEDULE.fit_graded, quarters, strict=True)]
    )
    if n_objectives > 2:
        rows = np.arange(0, len(near), 2)
        near[rows, even[rows].argmin(axis=1)] = 0.0
    t = np.concatenate([even, near / near.sum(axis=1, keepdims=True)])
    t.setflags(write=False)
    return t


@one_blas_thread()
def fit_front(
    front: Callable[[np.ndarray], np.ndarray], n_objectives: int, degree: int
) -> FittedFront:
    """Fits t ↦ front(t), raising the degree from `degree` until the held-out error is negligible or
    the net is large."""
    higher = range(degree + 1, SCHEDULE.fit_degree + 1)
    degrees = [degree, *(d for d in higher if n_controls(n_objectives, d) <= SCHEDULE.fit_net)]
    nodes = lobatto_nodes(n_objectives, degrees[-1] + 1).t
    held_out = held_out_t(n_objectives)
    # One call for all t there will be: the objectives are compiled for one number of points.
    values = np.asarray(front(np.concatenate([nodes, held_out])))
    at_nodes, truth = values[: len(nodes)], values[len(nodes) :]
    scale = np.ptp(truth, axis=0) + np.finfo(float).tiny
    best, least = None, np.inf
    for current in degrees:
        surface = fit(nodes, at_nodes, current)
        miss = np.abs(np.asarray(surface(held_out)) - truth)
        even = miss[: SCHEDULE.fit_held_out]
        largest = float((even.max(axis=0) / scale).max())
        # Chosen by the even part: errors near faces fall and rise with the degree.
        if best is None or largest < least:
            rms = np.sqrt(np.mean(even**2, axis=0))
            best, least = FittedFront(surface, rms, miss.max(axis=0)), largest
        if (best.max / scale).max() <= SCHEDULE.fit_tol:
            break
    assert best is not None
    return best


Places = Float[np.ndarray, "n n_objectives"]
Values = Float[np.ndarray, "n n_values"]
Slopes = Float[np.ndarray, "n n_objectives n_values"]
Bends = Float[np.ndarray, "n n_objectives n_objectives n_values"]


class PolynomialMap(SurfaceMap):
    """A Bézier simplex whose values and slopes take one product with the basis."""

    def __init__(
        self,
        control_points: Float[np.ndarray, "n_controls n_values"],
        n_objectives: int,
        degree: int,
    ):
        self.points = np.asarray(control_points, dtype=float)
        self.n_objectives, self.degree = n_objectives, degree
        super().__init__(self.points, n_objectives, degree)
        # Elevated to the same degree, slopes share the basis with the values.
        slopes = differentiate(self.points, n_objectives, degree)
        slopes = elevate(slopes, n_objectives, max(degree - 1, 0), degree)
        self._every = np.concatenate([self.points, *slopes], axis=1)

    values = SurfaceMap.__call__

    def slopes(self, t: Places) -> tuple[Values, Slopes]:
        """b(t) and ∂_m b."""
        every = design_matrix(t, self.degree) @ self._every
        every = every.reshape(len(t), 1 + self.n_objectives, -1)
        return every[:, 0], every[:, 1:]

    def in_units(self, units: Float[np.ndarray, "..."]) -> "PolynomialMap":
        """The same map with its values measured in given units."""
        return PolynomialMap(self.points / units, self.n_objectives, self.degree)


class ExactMap:
    """The problem's own objectives on the surface, differentiated by JAX along the surface: M
    directions, whatever L is.

    The problem's numbers are arguments of the compiled programs, which know nothing of the surface:
    every other solution of the problem, or of one with the same shapes, finds them compiled. A
    derivative that is not finite is given as 0.
    """

    def __init__(
        self,
        objectives: Callable[[Array], Array],
        surface: PolynomialMap,
        units: float | np.ndarray = 1.0,
    ):
        self._objectives, self._surface, self._units = objectives, surface, units

    def values(self, t: Places) -> Values:
        """f(b(t))."""
        return self._run(self._surface.values(t))[0]

    __call__ = values

    def slopes(self, t: Places) -> tuple[Values, Slopes]:
        """f(b(t)) and its first derivatives."""
        return self._run(*self._surface.slopes(t))

    def derivatives(self, t: Places) -> tuple[Values, Slopes, Bends]:
        """f(b(t)) and its first two derivatives."""
        return self._run(*self._surface.derivatives(t))

    def in_units(self, units: Float[np.ndarray, "..."]) -> "ExactMap":
        """The same map with its values measured in given units."""
        return ExactMap(self._objectives, self._surface, units)

    def _run(self, *expansion: np.ndarray) -> Any:
        """The expansion of f along that of a surface."""
        n = len(expansion[0])
        with double_precision():
            # Padded to few numbers of points, since each is compiled.
            points = expansion if n == 1 else [pad_rows(part, least=8) for part in expansion]
            compute = (_values, _slopes, _bends)[len(expansion) - 1]
            values, *derivatives = compute(self._objectives, *points)
        parts = [np.asarray(part)[:n] for part in derivatives]
        finite = [np.where(np.isfinite(part), part, 0.0) / self._units for part in parts]
        return np.asarray(values)[:n] / self._units, *finite


FrontMap = PolynomialMap | ExactMap


def interpolate(front: FrontMap, n_objectives: int, degree: int) -> PolynomialMap:
    """The polynomial of this degree that has the values of the front at the Lobatto nodes."""
    nodes = lobatto_nodes(n_objectives, degree).t
    points = np.linalg.solve(design_matrix(nodes, degree), front.values(nodes))
    return PolynomialMap(points, n_objectives, degree)


@program
def _values(objectives: Callable[[Any], Array], x: Array | np.ndarray) -> tuple[Array]:
    """Values of f at points x."""
    return (jax.vmap(objectives)(x),)


@program
def _slopes(
    objectives: Callable[[Array], Array], x: Array | np.ndarray, X: Array | np.ndarray
) -> tuple[Array, Array]:
    """Values of f on x + vX near v = 0, and slopes, by forward mode along M directions: M
    evaluations, however large L is."""

    def at(x: Any, X: Any) -> tuple[Array, Array]:
        f, along = jax.linearize(objectives, x)
        return f, jax.vmap(along)(X)

    return jax.vmap(at)(x, X)


@program
def _bends(
    objectives: Callable[[Array], Array],
    x: Array | np.ndarray,
    X: Array | np.ndarray,
    Y: Array | np.ndarray,
) -> tuple[Array, Array, Array]:
    """Values of f on x + vX + ½ vYv near v = 0, slopes and bends."""

    def at(x: Any, X: Any, Y: Any) -> tuple[Array, Array, Array]:
        first = jax.jacfwd(lambda v: objectives(x + v @ X + v @ (v @ Y) / 2))
        v = jnp.zeros(len(X))
        return objectives(x), first(v).T, jax.jacfwd(first)(v).transpose(1, 2, 0)

    return jax.vmap(at)(x, X, Y)
