"""From a run to its bounds: the run's own samples, step sizes, λ_min, Lipschitz constant and curvature."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..bezier import BezierSimplex
from ..bezier.basis import basis
from ..compilation import NO_NESTED_THREADS
from ..flow import Flow
from ..methods import GradientDescent, Newton
from ..methods.step_size import at_iteration
from ..precision import double_precision
from ..scalarizations import Scalarized
from .bounds import CurvatureBounds, SharperBounds, pull_of_one
from .gram import coherence, gram_root
from .losses import dense_points
from .region import curvature, lipschitz
from .smallest_eigenvalue import design_matrices, smallest_eigenvalues
from .twins import Exchange, Objectives, run_many, samples_of_run


@dataclass(frozen=True)
class Trace:
    """A run written down: every P^(k) and every t it drew.

    Attributes:
        control_points: P^(1), …, P^(K+1).
        t: T_1, …, T_K.
        step_sizes: α^(1), …, α^(K).
        degree: D.
    """

    control_points: Float[np.ndarray, "K+1 n_controls n_variables"]
    t: Float[np.ndarray, "K n_samples n_objectives"]
    step_sizes: Float[np.ndarray, " K"]
    degree: int

    @property
    def n_iterations(self) -> int:
        """K."""
        return len(self.t)

    @property
    def n_samples(self) -> int:
        """N."""
        return self.t.shape[1]


def step_sizes(flow: Flow, n_iterations: int) -> Float[np.ndarray, " K"]:
    """α^(1), …, α^(K) of a flow with gradient descent, or with Newton (whose α multiplies the Newton step)."""
    if not isinstance(flow.method, GradientDescent | Newton):
        raise TypeError(
            f"flow must lift GradientDescent (or Newton), whose stability is proved, got {type(flow.method).__name__}; "
            "empirical_stability measures any method"
        )
    with double_precision():
        return np.asarray(_step_sizes(flow.method, n_iterations))


@eqx.filter_jit
def _step_sizes(method: GradientDescent | Newton, n_iterations: int) -> Array:
    return jax.vmap(lambda k: jnp.asarray(at_iteration(method.step_size, k), float))(jnp.arange(1, n_iterations + 1))


def trace(flow: Flow, objectives: Objectives, surface: BezierSimplex, key: Array, n_iterations: int) -> Trace:
    """The run of a flow with gradient descent from this key, written down. Call in double precision."""
    alphas = step_sizes(flow, n_iterations)
    nothing = Exchange.none(1, surface.n_objectives)
    P = run_many(flow, objectives, surface, key[None], nothing, n_iterations, whole=True)[0]
    t = samples_of_run(flow, key, n_iterations, surface.n_objectives)
    return Trace(np.asarray(P), np.asarray(t), alphas, flow.degree)


def exchanged_samples(run: Trace, k: int, position: int, t: np.ndarray) -> Float[np.ndarray, "n_samples n_objectives"]:
    """T'_k: the sample of iteration k with one example exchanged."""
    samples = run.t[k - 1].copy()
    samples[position] = t
    return samples


def sharper_bounds(run: Trace, objectives: Objectives, mu: float | None = None) -> SharperBounds:
    """Bounds for every twin of a run, whichever example is exchanged for whatever t.

    λ'_k is bounded below over all twins by leaving each example out in turn: an example can only add to ZᵀZ.
    """
    mu = lipschitz(objectives, run.control_points[:-1], run.t, run.degree) if mu is None else mu
    smallest = smallest_eigenvalues(run.t, run.degree)
    without = np.array([_smallest_without_one(Z) for Z in design_matrices(run.t, run.degree)])
    return SharperBounds(mu, run.n_samples, run.step_sizes, smallest, np.minimum(without, smallest))


def curvature_bounds(
    run: Trace, flow: Flow, objectives: Objectives, within: tuple[float, float] | None = None
) -> CurvatureBounds:
    """Bounds for every twin of a run that use its residuals and the curvature: (m, β) as given, or measured along the run."""
    if within is None:
        within = curvature(objectives, run.control_points[:-1], run.t, run.degree, flow.scalarization)
    M = run.t.shape[-1]
    white = design_matrices(run.t, run.degree) @ np.linalg.inv(gram_root(M, run.degree))
    values = np.linalg.eigvalsh(white.transpose(0, 2, 1) @ white)
    grown = _growth_by_residuals(run, flow, objectives, white)
    return CurvatureBounds(run.step_sizes, within, grown, np.sqrt(values[:, -1] / values[:, 0]), M, run.degree)


def _growth_by_residuals(run: Trace, flow: Flow, objectives: Objectives, white: np.ndarray) -> Float[np.ndarray, " K"]:
    """|φ_T(P^(k)) − φ_T'(P^(k))|_Γ at most, over all exchanges at iteration k.

    Taking example i out of a fit moves it by w_i r_i / (1 − h_i) exactly, with w_i = A⁻¹y_i and h_i = y_iᵀ w_i. Adding one then
    moves it by `pull_of_one` times a residual, at most sup_t |residual of the first fit| + √R |what taking out moved|.
    """
    M = run.t.shape[-1]
    R = coherence(M, run.degree)
    with double_precision():
        own, anywhere = _residuals(flow, objectives, run.control_points, run.t, run.step_sizes, dense_points(M))
    solved = white @ np.linalg.inv(white.transpose(0, 2, 1) @ white)
    leverage = np.minimum(np.sum(solved * white, axis=-1), 1 - 1e-12)
    taken = np.max(np.linalg.norm(solved, axis=-1) * np.asarray(own) / (1 - leverage), axis=1)
    without = np.array([_smallest_without_one(Y) for Y in white])
    return run.step_sizes * (taken + pull_of_one(without, sqrt(R)) * (np.asarray(anywhere) + sqrt(R) * taken))


@eqx.filter_jit(compiler_options=NO_NESTED_THREADS)  # type: ignore[reportCallIssue]
def _residuals(flow: Flow, objectives: Objectives, P: Any, t: Any, alphas: Any, dense: Any) -> tuple[Array, Array]:
    """Residual sizes of the fitted displacement field in each iteration: at its own samples, and the largest over all t.

    The field that gradient descent fits is the gradient, Newton's is its step; what was fitted is (P^(k) − P^(k+1))/α^(k).
    """

    def displacement(t, x, alpha):
        objective = Scalarized(objectives, flow.scalarization, t)
        moved, _ = flow.method.step(objective, x, jnp.asarray(1))
        return (x - moved) / alpha

    def in_iteration(of_one):
        P, P_next, t, alpha, k_alpha = of_one
        fitted = (P - P_next) / alpha
        everywhere = jnp.concatenate([t, dense])
        Z = basis(everywhere, flow.degree)
        field = jax.vmap(displacement, (0, 0, None))(everywhere, Z @ P, k_alpha)
        sizes = jnp.linalg.norm(field - Z @ fitted, axis=-1)
        return sizes[: len(t)], jnp.max(sizes)

    P, t, alphas, dense = (jnp.asarray(array) for array in (P, t, alphas, dense))
    first = jnp.broadcast_to(alphas[0], alphas.shape)  # `displacement` steps as in iteration 1, so it divides by that α
    return jax.lax.map(in_iteration, (P[:-1], P[1:], t, alphas, first))


def _smallest_without_one(design: Float[np.ndarray, "n_samples n_controls"]) -> float:
    """min_i λ_min(ZᵀZ − z_i z_iᵀ), at least half a rounding above 0 so that bounds stay finite numbers."""
    gram = design.T @ design
    downdated = gram - design[:, :, None] * design[:, None, :]
    values = np.linalg.eigvalsh(downdated)
    return max(float(values[:, 0].min()), np.finfo(float).eps * float(values.max()))
