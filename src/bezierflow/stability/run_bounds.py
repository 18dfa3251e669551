"""From a run to its bounds: its samples, step sizes, λ_min and residuals, and constants of f."""

from math import e, sqrt
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..bezier import basis
from ..compilation import compiled
from ..objectives import FlatObjectives
from ..precision import ROUNDING, double_precision
from ..problems import Fonseca, Quadratic, ScaledMED
from ..scalarizations import Scalarized, WeightedSum
from ..simplex import multi_indices, n_controls, raised_positions
from .bounds import CurvatureBounds, SharperBounds, pull_of_one
from .eigenvalues import coherence, design_matrices, gram_root, smallest_eigenvalues
from .schedule import SCHEDULE
from .setting import dense_points
from .twins import Trace


class RunBounds(NamedTuple):
    """Bounds that hold for every twin of one run, whichever example is exchanged for whatever t.

    Attributes:
        sharper: from a Lipschitz constant.
        curvature: from curvature and residuals.
    """

    sharper: SharperBounds
    curvature: CurvatureBounds


def run_bounds(
    run: Trace,
    objectives: FlatObjectives,
    *,
    mu: float | None = None,
    curvature: tuple[float, float] | None = None,
) -> RunBounds:
    """The bounds of a run, proved where the constants of the objectives are known, else estimates.

    Known are those of quadratics (`Quadratic`, `ScaledMED`) and of `Fonseca`, and those that are
    given. Others are measured at the run's own samples and on a grid of t: a steep place between
    the points of the grid is not seen.

    Args:
        run: the run.
        objectives: of a flat vector.
        mu: a Lipschitz constant of every objective on all of R^L.
        curvature: (m, β) enclosing the eigenvalues of the Hessian of every objective on all of R^L.
    """
    quadratic = isinstance(objectives, Quadratic | ScaledMED)
    if mu is None and isinstance(objectives, Fonseca):
        mu = sqrt(2 / e)  # of 1 − exp(−r²)
    slope_is_known = quadratic or mu is not None
    limits = known_curvature(objectives) if curvature is None else curvature
    proved = limits is not None and slope_is_known
    with double_precision():
        P, t = jnp.asarray(run.control_points[:-1]), jnp.asarray(_with_grid(run, SCHEDULE.measured))
        if limits is None:
            least, most = _extreme_curvature(objectives, P, t, run.degree)
            limits = float(least), float(most)
        curved = _curvature_bounds(run, objectives, mu, limits, proved)
        if mu is None and quadratic:
            # Affine gradients are longest at a control point; those of a twin are longer by at most
            # β times how far it is from the run.
            at_controls = jnp.broadcast_to(jnp.eye(P.shape[1]), (*P.shape[:2], P.shape[1]))
            mu = float(_steepest(objectives, P, at_controls)) + limits[1] * curved.farthest()
        elif mu is None:
            mu = float(_steepest(objectives, P, basis(t, run.degree)))
            if not (np.isfinite(mu) and mu > 0):
                raise ValueError(
                    "objectives must have gradients where the run goes, finite and not all 0; the"
                    f" largest found is {mu}. Rounding and comparisons have none; where a gradient"
                    " is infinite, start elsewhere"
                )
    # λ'_k is bounded below over all twins by leaving each example out in turn: an example can only
    # add to ZᵀZ.
    smallest = smallest_eigenvalues(run.t, run.degree)
    without = np.array([_smallest_without_one(Z) for Z in design_matrices(run.t, run.degree)])
    twin = np.minimum(without, smallest)
    sharper = SharperBounds(mu, run.t.shape[1], run.step_sizes, smallest, twin, slope_is_known)
    return RunBounds(sharper, curved)


def _curvature_bounds(
    run: Trace,
    objectives: FlatObjectives,
    mu: float | None,
    limits: tuple[float, float],
    proved: bool,
) -> CurvatureBounds:
    """κ_k, and |φ_T(P^(k)) − φ_T'(P^(k))|_Γ at most, over all exchanges at iteration k.

    Taking example i out of a fit moves it by w_i r_i / (1 − h_i) exactly, with w_i = A⁻¹y_i and h_i
    = y_iᵀ w_i. Adding one then moves it by `pull_of_one` times a residual, at most sup_t |residual
    of the first fit| + √R |what taking out moved|.
    """
    M, degree = run.t.shape[-1], run.degree
    # sup_t |∇f(b(t|P^(k)) | t) − ĝ_k(t)|
    if isinstance(objectives, Quadratic | ScaledMED):
        residual = residuals_of_quadratics(run, objectives)
    elif mu is not None:  # |∇f(x|t)| ≤ μ, and no point of ĝ_k is longer than its control points
        residual = mu + np.linalg.norm(run.fitted(), axis=-1).max(axis=1)
    else:
        residual = residuals(run, objectives, _with_grid(run, SCHEDULE.dense)).max(axis=1)
    y = design_matrices(run.t, degree) @ np.linalg.inv(gram_root(M, degree))
    A, root_R = y.transpose(0, 2, 1) @ y, sqrt(coherence(M, degree))
    w = y @ np.linalg.inv(A)
    left = 1 - np.sum(w * y, axis=-1)
    # A leverage h_i of 1 to rounding: nothing is left of the fit without that example.
    moved = np.linalg.norm(w, axis=-1) * residuals(run, objectives, run.t)
    moved = np.where(left > ROUNDING, moved / np.where(left > ROUNDING, left, 1.0), np.inf)
    taken = np.max(moved, axis=1)
    without = np.array([_smallest_without_one(rows) for rows in y])
    added = pull_of_one(without, root_R) * (residual + root_R * taken)
    values = np.linalg.eigvalsh(A)
    kappa = np.sqrt(values[:, -1] / values[:, 0])
    grown = run.step_sizes * (taken + added)
    return CurvatureBounds(run.step_sizes, limits, grown, kappa, M, degree, proved)


def _smallest_without_one(design: Float[np.ndarray, "n_samples n_controls"]) -> float:
    """min_i λ_min(ZᵀZ − z_i z_iᵀ); 0 where it is lost in rounding, which is on the safe side."""
    gram = design.T @ design
    values = np.linalg.eigvalsh(gram - design[:, :, None] * design[:, None, :])
    smallest = float(values[:, 0].min())
    return smallest if smallest > ROUNDING * float(values.max()) else 0.0


def known_curvature(objectives: FlatObjectives) -> tuple[float, float] | None:
    """(m, β) of a built-in problem on all of R^L, in closed form; None where there is none.

    The extreme eigenvalues of Σ t_m H_m lie between the least and the largest over all H_m.
    Quadratics have constant H_m. For 1 − exp(−r²) the eigenvalues are exp(−r²)(2 − 4r²) and 2
    exp(−r²): between −4 e^{−3/2} and 2.
    """
    if isinstance(objectives, Quadratic | ScaledMED):
        with double_precision():
            hessians = jax.hessian(objectives)(jnp.zeros(objectives.n_variables))
        values = np.linalg.eigvalsh(np.asarray(hessians))
        return float(values.min()), float(values.max())
    return (-4 * e**-1.5, 2.0) if isinstance(objectives, Fonseca) else None


def residuals_of_quadratics(run: Trace, objectives: FlatObjectives) -> Float[np.ndarray, " K"]:
    """sup_t |∇f(b(t|P^(k)) | t) − ĝ_k(t)| at most, ĝ_k being the fitted gradient field.

    With affine ∇f_m the difference is a polynomial of degree D+1, whose Bernstein coefficients are
    Σ_m e_m/(D+1) (∇f_m(p_{e−e_m}) − ĝ_{e−e_m}). No point of a Bézier simplex is farther out than
    its farthest control point.
    """
    M, D, L = run.t.shape[-1], run.degree, run.control_points.shape[-1]
    raised, shares = raised_positions(M, D + 1), (multi_indices(M, D) + 1) / (D + 1)
    with double_precision():
        P = jnp.asarray(run.control_points[:-1])
        gradients = np.asarray(_jacobians(objectives, P.reshape(-1, L))).reshape(*P.shape[:2], M, L)
    parts = shares[:, :, None] * (gradients - run.fitted()[:, :, None, :])
    coefficients = np.zeros((len(P), n_controls(M, D + 1), L))
    for d, positions in enumerate(raised):
        coefficients[:, positions] += parts[:, d]
    return np.linalg.norm(coefficients, axis=-1).max(axis=1)


def residuals(
    run: Trace, objectives: FlatObjectives, t: Float[np.ndarray, "K n n_objectives"]
) -> Float[np.ndarray, "K n"]:
    """|∇f(b(t_n|P^(k)) | t_n) − ĝ_k(t_n)| for the t of each iteration."""
    with double_precision():
        P, fitted = jnp.asarray(run.control_points[:-1]), jnp.asarray(run.fitted())
        return np.asarray(_residual_sizes(objectives, P, fitted, jnp.asarray(t), run.degree))


def _with_grid(run: Trace, n: int) -> Float[np.ndarray, "K n_points n_objectives"]:
    """The run's own samples with n grid points and n evenly spread ones, in every iteration."""
    with double_precision():
        points = dense_points(run.t.shape[-1], n)
    return np.concatenate([run.t, np.broadcast_to(points, (len(run.t), *points.shape))], axis=1)


@compiled
def _jacobians(objectives: FlatObjectives, x: Array) -> Array:
    return jax.vmap(jax.jacrev(objectives))(x)


@compiled
def _steepest(
    objectives: FlatObjectives,
    control_points: Float[Array, "K n_controls n_variables"],
    Z: Float[Array, "K n n_controls"],
) -> Float[Array, ""]:
    """Max |∇f_m(x)| over m and the points x = ZP of all iterations (Assumption "mu")."""

    def in_iteration(Z_and_P: tuple[Array, Array]) -> Array:
        Z, P = Z_and_P
        return jnp.max(jnp.linalg.norm(jax.vmap(jax.jacrev(objectives))(Z @ P), axis=-1))

    return jnp.max(jax.lax.map(in_iteration, (Z, control_points)))


@compiled
def _residual_sizes(
    objectives: FlatObjectives,
    control_points: Float[Array, "K n_controls n_variables"],
    fitted: Float[Array, "K n_controls n_variables"],
    t: Float[Array, "K n n_objectives"],
    degree: int,
) -> Float[Array, "K n"]:
    def in_iteration(arrays: tuple[Array, Array, Array]) -> Array:
        P, fitted, t = arrays
        Z = basis(t, degree)
        gradient = jax.vmap(lambda t, x: Scalarized(objectives, WeightedSum(), t).gradient(x))
        return jnp.linalg.norm(gradient(t, Z @ P) - Z @ fitted, axis=-1)

    return jax.lax.map(in_iteration, (control_points, fitted, t))


@compiled
def _extreme_curvature(
    objectives: FlatObjectives,
    control_points: Float[Array, "K n_controls n_variables"],
    t: Float[Array, "K n n_objectives"],
    degree: int,
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    def eigenvalues(t: Array, x: Array) -> Array:
        return jnp.linalg.eigvalsh(jax.hessian(Scalarized(objectives, WeightedSum(), t))(x))

    def in_iteration(arrays: tuple[Array, Array]) -> tuple[Array, Array]:
        P, t = arrays
        values = jax.vmap(eigenvalues)(t, basis(t, degree) @ P)
        return jnp.min(values), jnp.max(values)

    least, most = jax.lax.map(in_iteration, (control_points, t))
    return jnp.min(least), jnp.max(most)
