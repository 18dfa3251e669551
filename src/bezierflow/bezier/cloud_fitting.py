"""The iteration behind fits with unknown t: control points and foot points all at once, between
alternation and Gauss–Newton."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Num

from ..simplex import n_controls, nearest_from, nearest_of_grid, raised_positions
from .numpy_nets import design_matrix, partial_derivatives
from .projection import SurfaceMap

EXACT = 1e-12
"""Root mean square distance, relative to the cloud's radius, at which the points lie on the surface
as far as one can tell."""

QUIET = 3
"""Iterations in a row without notable improvement that end a fit; one alone may be a step that was
too long."""

INNER_STEPS = 2
"""Newton steps for the foot points an iteration. They follow the surface closely, so more would
change little."""

SEARCH_EVERY = 10
"""Iterations between searches of the whole surface for nearer foot points than those followed so
far."""

FIRST_DAMPING = 4.0
SMALLEST_DAMPING = 1e-9
"""The weight of motion along the surface starts at the first number, is divided by 4 after a
success down to the second, and multiplied by 10 after a failure up to 1. None at all would leave
the parametrization undetermined."""

MOST_GRADIENTS = 100
"""Conjugate gradient steps at most for a refit; a direction cut off there still leads closer."""


@dataclass(frozen=True)
class FitOptions:
    """What a fit with unknown t minimizes, and when it ends."""

    tautness: float = 0.3
    """What is minimized is (mean squared distance) · (stretch of the control net)^tautness: a
    surface twice as wide must bring the points closer to be worth it. Points on a surface are still
    met exactly; amid noise the surface ends some tenths of the noise inside the cloud. 0 leaves the
    sum of squared distances as it is."""
    tol: float = 1e-4
    """The fit ends when three iterations in a row lower what is minimized by less than this
    fraction."""
    max_iterations: int = 500
    """The fit ends after so many at the latest."""

    def __post_init__(self):
        if not 0 <= self.tautness < np.inf:
            raise ValueError(f"tautness must be a finite number of at least 0, got {self.tautness}")
        if not self.tol > 0:
            raise ValueError(f"tol must be above 0, got {self.tol}")
        if self.max_iterations < 1:
            raise ValueError(f"max_iterations must be at least 1, got {self.max_iterations}")


@dataclass(frozen=True)
class PointsFit:
    """How a fit with unknown t went."""

    t: np.ndarray
    """Where each point's foot lies on the simplex, (N, M)."""
    residuals: np.ndarray
    """The root mean square distance from the points to the surface after each iteration."""
    converged: bool
    """Whether the fit ended by itself."""
    reason: str
    """Why it ended, in words."""

    @property
    def n_iterations(self) -> int:
        """How many surfaces were tried."""
        return len(self.residuals)

    @property
    def residual_rms(self) -> float:
        """The root mean square distance from the points to the surface."""
        return float(self.residuals[-1])


class _Cloud(NamedTuple):
    """What is fitted: the points, about the origin and of radius 1, and the kind of surface, of
    which some controls are free."""

    x: Float[np.ndarray, "n width"]
    n_objectives: int
    degree: int
    free: Int[np.ndarray, " n_free"]
    springs: Float[np.ndarray, "n_controls n_controls"]


class _State(NamedTuple):
    """What the next iteration needs: the best surface so far, the next one to try, and how the fit
    is going."""

    points: Float[np.ndarray, "n_controls width"]
    t: Float[np.ndarray, "n n_objectives"]
    squared: float
    merit: float
    trial: Float[np.ndarray, "n_controls width"]
    damping: float
    quiet: int


def fit_cloud(
    rows: Float[np.ndarray, "n width"],
    start: Float[np.ndarray, "n_controls width"],
    held: Int[np.ndarray, " n_held"],
    n_objectives: int,
    degree: int,
    options: FitOptions,
) -> tuple[Float[np.ndarray, "n_controls width"], PointsFit]:
    """Control points closest to the rows, from a start, with the control points at the places
    `held` left alone."""
    n_free = len(start) - len(held)
    if len(rows) < n_free:
        raise ValueError(
            f"{len(rows)} points cannot determine {n_free} free control points"
            f" (n_objectives={n_objectives}, degree={degree}); give at least {n_free} points, a"
            " lower degree, or frozen control points"
        )
    center = rows.mean(axis=0)
    scale = float(np.sqrt(np.max(np.sum((rows - center) ** 2, axis=1)))) or 1.0
    free = np.delete(np.arange(len(start)), held)
    cloud = _Cloud(
        (rows - center) / scale, n_objectives, degree, free, stiffness(n_objectives, degree)
    )
    net = (start - center) / scale
    middle = np.full((len(rows), n_objectives), 1 / n_objectives)
    state, squares = _State(net, middle, np.inf, np.inf, net, FIRST_DAMPING, 0), []
    while (
        len(squares) < options.max_iterations and state.quiet < QUIET and state.squared > EXACT**2
    ):
        state = _advance(state, cloud, options, search=len(squares) % SEARCH_EVERY == 0)
        squares.append(state.squared)
    points = start.copy()
    points[free] = state.points[free] * scale + center
    return points, PointsFit(state.t, scale * np.sqrt(squares), *_reason(state, options))


def _reason(state: _State, options: FitOptions) -> tuple[bool, str]:
    if state.squared <= EXACT**2:
        return True, "converged: every point lies on the surface to rounding"
    if state.quiet >= QUIET:
        return (
            True,
            (
                f"converged: {QUIET} iterations in a row brought an improvement of less than"
                f" tol={options.tol:g}"
            ),
        )
    return (
        False,
        (
            f"stopped at max_iterations={options.max_iterations} while still improving; raise it,"
            f" or tol={options.tol:g}"
        ),
    )


def _advance(state: _State, cloud: _Cloud, options: FitOptions, *, search: bool) -> _State:
    """One iteration: foot points on the trial surface, which is kept if it is better, and the next
    trial."""
    surface = SurfaceMap(state.trial, cloud.n_objectives, cloud.degree)
    t, squares = nearest_from(
        surface,
        cloud.x,
        _nearer_starts(surface, cloud, state.t) if search else state.t,
        INNER_STEPS,
    )
    squared = float(squares.mean())
    merit = squared * _stretch(state.trial, cloud) ** options.tautness
    better = merit < state.merit
    notable = merit < (1 - options.tol) * state.merit
    # A failure counts as quiet only where it comes from the alternation itself, which cannot fail
    # by going too far.
    quiet = state.quiet + 1 if not notable and (better or state.damping >= 1) else 0
    # Success leads toward Gauss–Newton, failure back toward the alternation.
    damping = max(state.damping / 4, SMALLEST_DAMPING) if better else min(state.damping * 10, 1.0)
    best = (
        state._replace(points=state.trial, t=t, squared=squared, merit=merit) if better else state
    )
    pull = options.tautness * best.squared / _stretch(best.points, cloud)
    trial = _refit(best.points, cloud, best.t, damping, pull)
    return best._replace(trial=trial, damping=damping, quiet=quiet)


def _nearer_starts(
    surface: SurfaceMap, cloud: _Cloud, t: Float[np.ndarray, "n n_objectives"]
) -> np.ndarray:
    """The best of a grid for each point where that is nearer than its t."""
    on_grid = nearest_of_grid(surface, cloud.x, cloud.n_objectives)
    squares = [np.sum((surface(places) - cloud.x) ** 2, axis=1) for places in (on_grid, t)]
    return np.where((squares[0] < squares[1])[:, None], on_grid, t)


@lru_cache(maxsize=64)
def stiffness(n_objectives: int, degree: int) -> Float[np.ndarray, "n_controls n_controls"]:
    """The matrix K of the net's stretch, tr(PᵀKP) = Σ ‖p_{d+e_m} − p_{d+e_k}‖² over all d ∈
    N^M_{D−1} and m < k."""
    matrix = np.zeros((n_controls(n_objectives, degree),) * 2)
    if degree > 0:
        positions = raised_positions(n_objectives, degree)
        cell = n_objectives * np.eye(n_objectives) - 1
        np.add.at(matrix, (positions[:, :, None], positions[:, None, :]), cell)
    return matrix


def _stretch(points: Float[np.ndarray, "n_controls width"], cloud: _Cloud) -> float:
    return float(np.sum(points * (cloud.springs @ points))) + np.finfo(float).tiny


def _refit(
    points: Float[np.ndarray, "n_controls width"],
    cloud: _Cloud,
    t: Float[np.ndarray, "n n_objectives"],
    damping: float,
    pull: float,
) -> Float[np.ndarray, "n_controls width"]:
    """P − H⁻¹ (Zᵀ(ZP − X)/N + KP), with H = (1/N) Σ_i z_i z_iᵀ ⊗ (I − (1 − λ) T_i) + K ⊗ I and T_i
    the tangent projector at t_i.

    With damping λ = 1 that is the least-squares refit of the alternation, which holds each t_i
    fast; with λ = 0 it is Gauss–Newton for the distance to the surface, as the t_i follow at no
    cost. In between, motion along the surface has the weight λ. K is the stiffness times `pull`,
    the tension of the net. With Q the change in units of its λ = 1 part, ZᵀZ/N + K = RRᵀ and P's
    change = R⁻ᵀQ, H is I − (1 − λ) Σ_i y_i y_iᵀ ⊗ T_i for the rows y_i of ZR⁻ᵀ/√N. It is only ever
    applied: conjugate gradients take one step for λ = 1 and tens near 0.
    """
    # a tenth of a second that only this fit needs
    from scipy.sparse.linalg import aslinearoperator, cg

    design, free, n = design_matrix(t, cloud.degree), cloud.free, len(t)
    residual = design @ points - cloud.x
    frames = _tangent_frames(partial_derivatives(points, t, cloud.degree), residual, t)
    gradient = (design.T @ residual / n + pull * (cloud.springs @ points))[free]
    # A trace of the identity keeps control points in place that no point determines.
    tension = pull * cloud.springs[np.ix_(free, free)] + 1e-10 / len(points) * np.eye(len(free))
    root = np.linalg.cholesky(design.T[free] @ design[:, free] / n + tension)
    hessian = _SlidingHessian(
        np.linalg.solve(root, design.T[free] / np.sqrt(n)).T, *frames, damping
    )
    downhill = np.linalg.solve(root, gradient).ravel()
    change, _ = cg(aslinearoperator(hessian), downhill, rtol=1e-3, maxiter=MOST_GRADIENTS)
    moved = points.copy()
    moved[free] -= np.linalg.solve(root.T, change.reshape(gradient.shape))
    return moved


class _SlidingHessian(NamedTuple):
    """H of `_refit` in units of its λ = 1 part, as an operator on flat vectors: I − (1 − λ) Σ_i y_i
    y_iᵀ ⊗ S_iᵀC_i."""

    rows: Float[np.ndarray, "n n_free"]
    slopes: Float[np.ndarray, "n n_objectives width"]
    coordinates: Float[np.ndarray, "n n_objectives width"]
    damping: float

    @property
    def shape(self) -> tuple[int, int]:
        """As many rows as columns, one for each number of the free control points."""
        size = self.rows.shape[1] * self.slopes.shape[2]
        return size, size

    def matvec(self, flat: Num[np.ndarray, " size"]) -> Float[np.ndarray, " size"]:
        """H Q."""
        change = flat.reshape(self.rows.shape[1], -1)
        along = np.einsum(
            "nml,nm->nl", self.slopes, np.einsum("nml,nl->nm", self.coordinates, self.rows @ change)
        )
        return (change - (1 - self.damping) * (self.rows.T @ along)).ravel()


def _tangent_frames(
    slopes: Float[np.ndarray, "n n_objectives width"],
    residual: Float[np.ndarray, "n width"],
    t: Float[np.ndarray, "n n_objectives"],
) -> tuple[Float[np.ndarray, "n n_objectives width"], Float[np.ndarray, "n n_objectives width"]]:
    """Two frames S and C of the surface's tangent space at each t, such that SᵀC is the orthogonal
    projector onto it.

    Where t lies on the boundary and the point pulls it outward, of the tangent space of that face
    alone: t cannot leave it.
    The directions sum to 0 and leave coordinates alone that are 0 and would fall: those whose slope
    exceeds the mean over t.
    """
    gradient = np.einsum("nml,nl->nm", slopes, residual)
    level = np.sum(gradient * t, axis=1, keepdims=True)
    free = ((t > 0) | (gradient < level)).astype(float)
    within = (
        np.eye(t.shape[1]) * free[:, None]
        - free[:, :, None] * (free / free.sum(axis=1, keepdims=True))[:, None, :]
    )
    frame = within @ slopes
    gram = frame @ frame.swapaxes(1, 2)
    # What makes the Gram matrix invertible: anything off the tangent space, and a trace along it
    # where slopes vanish.
    scale = np.trace(gram, axis1=1, axis2=2)[:, None, None] + 1e-200
    return frame, np.linalg.solve(gram + scale * (np.eye(t.shape[1]) - (1 - 1e-13) * within), frame)
