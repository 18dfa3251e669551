"""Fitting a surface to points whose t are unknown: control points and foot points all at once."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_solve
from jax.scipy.sparse.linalg import cg
from jaxtyping import Array, Float, PyTree

from ..precision import double_precision
from ..simplex import grid, n_controls, raised_positions
from .basis import basis
from .extremes import extreme_points
from .fitting import frozen_rows
from .model import BezierSimplex
from .projection import nearest_starts, pad_rows, step, tangent_frames
from .values import pack


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


@overload
def fit_points(
    x: PyTree,
    n_objectives: int,
    degree: int,
    *,
    vertices: PyTree | None = None,
    frozen: Mapping[Any, PyTree] | None = None,
    tautness: float = 0.3,
    tol: float = 1e-4,
    max_iterations: int = 500,
    diagnostics: Literal[False] = False,
) -> BezierSimplex: ...


@overload
def fit_points(
    x: PyTree,
    n_objectives: int,
    degree: int,
    *,
    vertices: PyTree | None = None,
    frozen: Mapping[Any, PyTree] | None = None,
    tautness: float = 0.3,
    tol: float = 1e-4,
    max_iterations: int = 500,
    diagnostics: Literal[True],
) -> tuple[BezierSimplex, PointsFit]: ...


def fit_points(
    x: PyTree,
    n_objectives: int,
    degree: int,
    *,
    vertices: PyTree | None = None,
    frozen: Mapping[Any, PyTree] | None = None,
    tautness: float = 0.3,
    tol: float = 1e-4,
    max_iterations: int = 500,
    diagnostics: bool = False,
) -> BezierSimplex | tuple[BezierSimplex, PointsFit]:
    """The surface closest to a cloud of points whose t are unknown: argmin over P and all t_i of Σ_i ‖b(t_i|P) − x_i‖².

    The all-at-once fitting of Kobayashi et al. ("Bézier simplex fitting: describing Pareto fronts of simplicial problems
    with small samples in multi-objective optimization", AAAI 2019), with two changes. They alternate between foot points and
    control points, which creeps: moving a control point along the surface costs as much as moving it off. Here such motion
    is made cheap by degrees, from their alternation to Gauss–Newton with t eliminated, as long as that brings the surface
    closer: tens of iterations instead of thousands. And as nothing in the sum keeps a surface from reaching far beyond the
    points, it is drawn taut (`tautness`), and margins without a foot point are cut off. No chance is involved. 500 points in
    R³ at degree 3 take a second or less after compilation.

    Args:
        x: The points: an array (N, L), or a pytree of arrays with leading axis N. At least as many as free control points.
        n_objectives: M.
        degree: Degree of the surface.
        vertices: The M points near which the corners lie, one a row, in the order of the objectives (the minimizers of single
            objectives, say). If not given, the points of the cloud that span the largest simplex, in no particular order:
            the cloud alone does not say which corner belongs to which objective.
        frozen: Control points that are held, as in `fit`: `{0: x_best_for_objective_0, (1, 1, 1): center}`.
        tautness: What is minimized is (mean squared distance) · (stretch of the control net)^tautness: a surface twice as wide
            must bring the points closer to be worth it. Points on a surface are still met exactly; amid noise the surface
            ends some tenths of the noise inside the cloud. 0 leaves the sum above as it is.
        tol: The fit ends when three iterations in a row lower what is minimized by less than this fraction.
        max_iterations: The fit ends after so many at the latest, with a warning.
        diagnostics: Whether to return `(surface, PointsFit)` instead of the surface alone.
    """
    rows, layout = pack(x)
    corners = extreme_points(rows, n_objectives) if vertices is None else pack(vertices, "vertices")[0]
    if corners.shape != (n_objectives, layout.width):
        raise ValueError(
            f"vertices must be {n_objectives} rows built like those of x ({layout.width} numbers each), "
            f"got {corners.shape[0]} rows of {corners.shape[1]} numbers"
        )
    held, held_values = frozen_rows(frozen, layout, n_objectives, degree)
    start = linear_net(corners, degree)
    start[held] = held_values
    points, report = fit_cloud(rows, start, held, n_objectives, degree, tautness=tautness, tol=tol, max_iterations=max_iterations)
    if not report.converged:
        warnings.warn(f"fit_points {report.reason}", RuntimeWarning, stacklevel=2)
    surface = BezierSimplex(layout.unpack(points), n_objectives, degree)
    if not len(held):
        surface, report = _trim(surface, report)
    return (surface, report) if diagnostics else surface


def _trim(surface: BezierSimplex, report: PointsFit) -> tuple[BezierSimplex, PointsFit]:
    """The same surface without the margins that hold no foot point: over {t : t_m ≥ min_i t_im}, a smaller simplex."""
    margins = report.t.min(axis=0)
    size = 1 - margins.sum()
    if margins.max() < 1e-6 or size < 1e-6:
        return surface, report
    corners = margins + size * np.eye(len(margins))
    t = np.maximum((report.t - margins) / size, 0)
    return surface.subdivide(corners), replace(report, t=t / t.sum(axis=1, keepdims=True))


def linear_net(corners: Float[np.ndarray, "n_objectives width"], degree: int) -> Float[np.ndarray, "n_controls width"]:
    """The flat simplex through these corners, as control points of this degree: p_d = Σ_m d_m/D corner_m."""
    if degree == 0:
        return corners.mean(axis=0, keepdims=True)
    return grid(len(corners), degree) @ corners


def fit_cloud(
    rows: Float[np.ndarray, "n width"],
    start: Float[np.ndarray, "n_controls width"],
    held: np.ndarray,
    n_objectives: int,
    degree: int,
    *,
    tautness: float,
    tol: float,
    max_iterations: int,
) -> tuple[Float[np.ndarray, "n_controls width"], PointsFit]:
    """Control points closest to the rows, from a start, with the control points at the places `held` left alone."""
    _check_settings(len(rows), len(held), n_objectives, degree, tautness, tol, max_iterations)
    center = rows.mean(axis=0)
    scale = float(np.sqrt(np.max(np.sum((rows - center) ** 2, axis=1)))) or 1.0
    padded = pad_rows(rows)
    weights = np.where(np.arange(len(padded)) < len(rows), 1 / len(rows), 0)
    free = np.ones(len(start))
    free[held] = 0
    with double_precision():
        cloud, net = (padded - center) / scale, (start - center) / scale
        end, history = _iterate(
            cloud, weights, net, free, tautness, tol, max_iterations, n_objectives, degree, max(max_iterations, HISTORY)
        )
        end, history = jax.device_get((end, history))
    points = end.points * scale + center
    points[held] = start[held]
    n_iterations = int(end.iteration)
    converged, reason = _reason(end, tol, max_iterations)
    return points, PointsFit(end.t[: len(rows)], scale * np.sqrt(history[:n_iterations]), converged, reason)


def _check_settings(
    n_points: int, n_held: int, n_objectives: int, degree: int, tautness: float, tol: float, max_iterations: int
) -> None:
    n_free = n_controls(n_objectives, degree) - n_held
    if n_points < n_free:
        raise ValueError(
            f"{n_points} points cannot determine {n_free} free control points (n_objectives={n_objectives}, "
            f"degree={degree}); give at least {n_free} points, a lower degree, or frozen control points"
        )
    if not 0 <= tautness < np.inf:
        raise ValueError(f"tautness must be a finite number of at least 0, got {tautness}")
    if not tol > 0:
        raise ValueError(f"tol must be above 0, got {tol}")
    if max_iterations < 1:
        raise ValueError(f"max_iterations must be at least 1, got {max_iterations}")


def _reason(end: "_State", tol: float, max_iterations: int) -> tuple[bool, str]:
    if end.squared <= EXACT**2:
        return True, "converged: every point lies on the surface to rounding"
    if end.quiet >= QUIET:
        return True, f"converged: {QUIET} iterations in a row brought an improvement of less than tol={tol:g}"
    return False, f"stopped at max_iterations={max_iterations} while still improving; raise it, or tol={tol:g}"


EXACT = 1e-12
"""Root mean square distance, relative to the cloud's radius, at which the points lie on the surface as far as one can tell."""

QUIET = 3
"""Iterations in a row without notable improvement that end a fit; one alone may be a step that was too long."""

INNER_STEPS = 2
"""Newton steps for the foot points an iteration. They follow the surface closely, so more would change little."""

HISTORY = 500
"""Room for so many residuals at least, so that fits of few iterations share a compiled program with those of many."""

SEARCH_EVERY = 10
"""Iterations between searches of the whole surface for nearer foot points than those followed so far."""

SMALLEST_DAMPING = 1e-9
"""The weight of motion along the surface ends here: none at all would leave the parametrization undetermined."""

MOST_GRADIENTS = 100
"""Conjugate gradient steps at most for a refit; a direction cut off there still leads closer."""


class _State(NamedTuple):
    """What the next iteration needs: the best surface so far, the next one to try, and how the fit is going."""

    points: Array
    t: Array
    squared: Array
    merit: Array
    trial: Array
    damping: Array
    quiet: Array
    iteration: Array


@partial(jax.jit, static_argnums=(7, 8, 9))
def _iterate(
    x: Array,
    weights: Array,
    start: Array,
    free: Array,
    tautness: Array,
    tol: Array,
    max_iterations: Array,
    n_objectives: int,
    degree: int,
    history_size: int,
) -> tuple[_State, Float[Array, " history_size"]]:
    springs = jnp.asarray(stiffness(n_objectives, degree))

    def proceed(carry: tuple[_State, Array]) -> Array:
        state, _ = carry
        return (state.iteration < max_iterations) & (state.quiet < QUIET) & (state.squared > EXACT**2)

    def advance(carry: tuple[_State, Array]) -> tuple[_State, Array]:
        state, history = carry
        t, squared = _foot_points(state, x, weights, degree)
        merit = squared * _stretch(state.trial, springs) ** tautness
        better = merit < state.merit
        dull = ~(merit < (1 - tol) * state.merit) & (better | (state.damping >= 1))
        best = (state.trial, t, squared, merit)
        kept = (state.points, state.t, state.squared, state.merit)
        points, t, squared, merit = (jnp.where(better, new, old) for new, old in zip(best, kept, strict=True))
        # Success leads toward Gauss–Newton, failure back toward the alternation, which does not fail.
        damping = jnp.where(better, jnp.maximum(state.damping / 4, SMALLEST_DAMPING), jnp.minimum(state.damping * 10, 1))
        tension = tautness * squared / _stretch(points, springs)
        trial = _refit(points, x, t, weights, free, damping, tension * springs, degree)
        quiet = jnp.where(dull, state.quiet + 1, 0)
        following = _State(points, t, squared, merit, trial, damping, quiet, state.iteration + 1)
        return following, history.at[state.iteration].set(squared)

    center = jnp.full((len(x), n_objectives), 1 / n_objectives)
    far, none = jnp.array(jnp.inf), jnp.array(0)
    state = _State(start, center, far, far, start, jnp.array(4.0), none, none)
    return jax.lax.while_loop(proceed, advance, (state, jnp.zeros(history_size)))


def _foot_points(state: _State, x: Array, weights: Array, degree: int) -> tuple[Array, Array]:
    """The foot points on the trial surface, followed from the last ones, and the mean squared distance."""

    def search(t: Array) -> Array:
        nearest = nearest_starts(state.trial, x, t.shape[1], degree, 1)[0]
        squared = jnp.sum((basis(jnp.stack([t, nearest]), degree) @ state.trial - x) ** 2, axis=-1)
        return jnp.where((squared[1] < squared[0])[:, None], nearest, t)

    t = jax.lax.cond(state.iteration % SEARCH_EVERY == 0, search, lambda t: t, state.t)
    follow = lambda _, pair: step(state.trial, x, pair[0], degree)  # noqa: E731
    t, squared = jax.lax.fori_loop(0, INNER_STEPS, follow, (t, jnp.zeros(len(x))))
    return t, weights @ squared


@lru_cache(maxsize=64)
def stiffness(n_objectives: int, degree: int) -> Float[np.ndarray, "n_controls n_controls"]:
    """The matrix K of the net's stretch, tr(PᵀKP) = Σ ‖p_{d+e_m} − p_{d+e_k}‖² over all d ∈ N^M_{D−1} and m < k."""
    matrix = np.zeros((n_controls(n_objectives, degree),) * 2)
    if degree > 0:
        positions = raised_positions(n_objectives, degree)
        cell = n_objectives * np.eye(n_objectives) - 1
        np.add.at(matrix, (positions[:, :, None], positions[:, None, :]), cell)
    return matrix


def _stretch(points: Array, springs: Array) -> Array:
    return jnp.sum(points * (springs @ points)) + jnp.finfo(points.dtype).tiny


def _refit(
    points: Array, x: Array, t: Array, weights: Array, free: Array, damping: Array, pull: Array, degree: int
) -> Float[Array, "n_controls width"]:
    """P − H⁻¹ (Zᵀ(ZP − X) + KP), with H = Σ_i w_i z_i z_iᵀ ⊗ (I − (1 − λ) T_i) + K ⊗ I and T_i the tangent projector at t_i.

    With damping λ = 1 that is the least-squares refit of the alternation, which holds each t_i fast; with λ = 0 it is
    Gauss–Newton for the distance to the surface, as the t_i follow at no cost. In between, motion along the surface has the
    weight λ. K is the pull of the net's tension. H is only ever applied: conjugate gradients, preconditioned by its λ = 1,
    take one step there and tens near 0.
    """
    design, kept = basis(t, degree), free[:, None]
    slopes, coordinates = tangent_frames(points, x, t, degree)
    # A trace of the identity keeps control points in place that no point determines.
    tension = kept * pull * free + jnp.diag(1 - free + 1e-10 / len(points))
    factor = jnp.linalg.cholesky(kept * (design.T @ (weights[:, None] * design)) * free + tension)

    def hessian(change: Array) -> Array:
        moved = design @ (kept * change)
        along = jnp.einsum("nml,nm->nl", slopes, jnp.einsum("nml,nl->nm", coordinates, moved))
        return kept * (design.T @ (weights[:, None] * (moved - (1 - damping) * along))) + tension @ change

    gradient = kept * (design.T @ (weights[:, None] * (design @ points - x)) + pull @ points)
    change, _ = cg(hessian, gradient, tol=1e-3, maxiter=MOST_GRADIENTS, M=lambda v: cho_solve((factor, True), v))
    return points - change
