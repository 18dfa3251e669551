"""What the objectives do where a run and its twins go: their slopes and curvature, proved where the
problem allows it."""

from dataclasses import dataclass
from math import e, sqrt

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..bezier import basis
from ..compilation import compiled
from ..objectives import FlatObjectives
from ..precision import double_precision
from ..problems import Fonseca, Quadratic, ScaledMED
from ..scalarizations import Scalarized, WeightedSum
from ..simplex import multi_indices, n_controls, raised_positions
from .losses import DENSE, dense_points
from .trace import Trace

LOOKED_AT = 100
"""Grid points and evenly spread points, so many of each, at which unknown constants are measured
besides the run's own t."""


@dataclass(frozen=True)
class Curvature:
    """(m, β) enclosing all eigenvalues of the Hessians of f(·|t) where the runs go.

    Attributes:
        least: m.
        most: β.
        proved: whether they hold for every t and every twin, or were measured on a grid.
    """

    least: float
    most: float
    proved: bool


@dataclass(frozen=True)
class Slopes:
    """Bounds on gradients. Made by `slopes`.

    Attributes:
        mu: μ ≥ |∇f_m(x)| for every objective where the runs go.
        proved: whether it holds for every t and every twin, or was measured on a grid.
    """

    mu: float
    proved: bool


def known_curvature(objectives: FlatObjectives) -> Curvature | None:
    """The curvature of a built-in problem on all of R^L, in closed form; None where there is none.

    The extreme eigenvalues of Σ t_m H_m lie between the least and the largest over all H_m.
    Quadratics have constant H_m. For 1 − exp(−r²) the eigenvalues are exp(−r²)(2 − 4r²) and 2
    exp(−r²): between −4 e^{−3/2} and 2.
    """
    if isinstance(objectives, Quadratic | ScaledMED):
        values = np.linalg.eigvalsh(_hessians(objectives))
        return Curvature(float(values.min()), float(values.max()), proved=True)
    if isinstance(objectives, Fonseca):
        return Curvature(-4 * e**-1.5, 2.0, proved=True)
    return None


def is_quadratic(objectives: FlatObjectives) -> bool:
    """Whether all objectives are quadratics by construction."""
    return isinstance(objectives, Quadratic | ScaledMED)


def known_slope(objectives: FlatObjectives) -> float | None:
    """A Lipschitz constant on all of R^L in closed form; None where there is none. That of 1 −
    exp(−r²) is √(2/e)."""
    return sqrt(2 / e) if isinstance(objectives, Fonseca) else None


def measured_curvature(run: Trace, objectives: FlatObjectives) -> Curvature:
    """The extreme eigenvalues of the Hessians of f(·|t) at the run's own samples and on a grid of
    t, in every iteration."""
    with double_precision():
        P, t = jnp.asarray(run.control_points[:-1]), jnp.asarray(_with_grid(run, LOOKED_AT))
        least, most = _extreme_curvature(objectives, P, t, run.degree)
    return Curvature(float(least), float(most), proved=False)


def measured_slopes(run: Trace, objectives: FlatObjectives) -> Slopes:
    """Max |∇f_m(x)| over all m and all x = b(t|P^(k)), t being the run's own samples and a grid.
    (Assumption "mu")."""
    with double_precision():
        P, t = jnp.asarray(run.control_points[:-1]), jnp.asarray(_with_grid(run, LOOKED_AT))
        largest = float(_largest_gradient(objectives, P, t, run.degree))
    if not (np.isfinite(largest) and largest > 0):
        raise ValueError(
            "objectives must have gradients where the run goes, finite and not all 0; the largest"
            f" found is {largest}. Rounding and comparisons have none; where a gradient is"
            " infinite, start elsewhere"
        )
    return Slopes(largest, proved=False)


def slopes_of_quadratics(
    run: Trace, objectives: FlatObjectives, most: float, farthest: float
) -> Slopes:
    """μ for quadratics, proved: gradients are affine, so their length is largest at a control
    point; a twin adds β·farthest.

    Args:
        run: the run.
        objectives: quadratics.
        most: β, the largest eigenvalue of a Hessian.
        farthest: how far a twin's surface is from the run's at most.
    """
    with double_precision():
        P = jnp.asarray(run.control_points[:-1]).reshape(-1, run.control_points.shape[-1])
        jacobians = _jacobians(objectives, P)
        return Slopes(
            float(jnp.max(jnp.linalg.norm(jacobians, axis=-1))) + most * farthest, proved=True
        )


def residuals_of_quadratics(run: Trace, objectives: FlatObjectives) -> Float[np.ndarray, " K"]:
    """sup_t |∇f(b(t|P^(k)) | t) − ĝ_k(t)| at most, ĝ_k = (P^(k) − P^(k+1))/α^(k) being the fitted
    gradient field.

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


def residuals_by_slope(run: Trace, mu: float) -> Float[np.ndarray, " K"]:
    """The same for any objectives with |∇f(x|t)| ≤ μ everywhere: at most μ plus the longest control
    point of ĝ_k."""
    return mu + np.linalg.norm(run.fitted(), axis=-1).max(axis=1)


def measured_residuals(run: Trace, objectives: FlatObjectives) -> Float[np.ndarray, " K"]:
    """The same, the largest over the run's own samples and a grid of t."""
    with double_precision():
        return _residuals(run, objectives, _with_grid(run, DENSE)).max(axis=1)


def own_residuals(run: Trace, objectives: FlatObjectives) -> Float[np.ndarray, "K n_samples"]:
    """|∇f(b(t_n|P^(k)) | t_n) − ĝ_k(t_n)| at the run's own samples."""
    return _residuals(run, objectives, run.t)


def _residuals(
    run: Trace, objectives: FlatObjectives, t: Float[np.ndarray, "K n n_objectives"]
) -> Float[np.ndarray, "K n"]:
    with double_precision():
        P, fitted = jnp.asarray(run.control_points[:-1]), jnp.asarray(run.fitted())
        return np.asarray(_residual_sizes(objectives, P, fitted, jnp.asarray(t), run.degree))


def _hessians(
    objectives: Quadratic | ScaledMED,
) -> Float[np.ndarray, "n_objectives n_variables n_variables"]:
    with double_precision():
        return np.asarray(_hessians_at(objectives, jnp.zeros(objectives.n_variables)))


def _with_grid(run: Trace, n: int) -> Float[np.ndarray, "K n_points n_objectives"]:
    """The run's own samples with n grid points and n evenly spread points, in every iteration. Call
    in double precision."""
    points = dense_points(run.t.shape[-1], n)
    return np.concatenate([run.t, np.broadcast_to(points, (len(run.t), *points.shape))], axis=1)


@compiled
def _hessians_at(objectives: Quadratic | ScaledMED, x: Array) -> Array:
    return jax.hessian(objectives)(x)


@compiled
def _jacobians(objectives: FlatObjectives, x: Array) -> Array:
    return jax.vmap(jax.jacrev(objectives))(x)


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
        field = jax.vmap(lambda t, x: Scalarized(objectives, WeightedSum(), t).gradient(x))(
            t, Z @ P
        )
        return jnp.linalg.norm(field - Z @ fitted, axis=-1)

    return jax.lax.map(in_iteration, (control_points, fitted, t))


@compiled
def _largest_gradient(
    objectives: FlatObjectives,
    control_points: Float[Array, "K n_controls n_variables"],
    t: Float[Array, "K n n_objectives"],
    degree: int,
) -> Float[Array, ""]:
    def in_iteration(arrays: tuple[Array, Array]) -> Array:
        P, t = arrays
        jacobians = jax.vmap(jax.jacrev(objectives))(basis(t, degree) @ P)
        return jnp.max(jnp.linalg.norm(jacobians, axis=-1))

    return jnp.max(jax.lax.map(in_iteration, (control_points, t)))


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
