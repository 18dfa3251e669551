"""Between a surface's t and weights: the w with Σ w_m ∇f_m(x) = 0 at a point, and the point for
given w."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..bezier import BezierSimplex
from ..compilation import program
from ..objectives import JaxEvaluator, face_multipliers
from ..precision import double_precision
from ..simplex import grid, largest_degree_within, support

STARTS = 300
"""About how many grid points are looked at before the best one is refined."""


def multipliers(
    objectives: Callable, surface: BezierSimplex, t: Float[np.ndarray, "n n_objectives"]
) -> Float[np.ndarray, "n n_objectives"]:
    """w(t) ∈ Δ_J(t) with Σ w_m ∇f_m(b(t)) as small as possible, gradients taken at unit length: 0
    on the Pareto set.

    Where b(t) is the minimizer of Σ w_m f_m, these are its weights. At a corner, where only one
    objective counts, w = t.
    """
    evaluator = JaxEvaluator(objectives, surface.n_objectives, surface.n_variables)
    gradients = evaluator.jacobians(np.asarray(surface(t))).gradients
    with double_precision():
        return np.asarray(_multipliers(gradients, support(t)))


@program
def _multipliers(
    gradients: Array | np.ndarray, faces: Bool[Array | np.ndarray, "n n_objectives"]
) -> Array:
    def of_point(gradients: Array, face: Array | np.ndarray) -> Array:
        size = jnp.linalg.norm(gradients, axis=1)
        size = jnp.where(size > 0, size, 1.0)
        w = face_multipliers(gradients / size[:, None], face)
        # Weights of unit gradients; those of the objectives themselves are inverse to the
        # gradients' lengths.
        w = jnp.where(jnp.sum(face) > 1, w / size, w)
        return w / jnp.sum(w)

    return jax.vmap(of_point)(jnp.asarray(gradients), faces)


def t_for_weights(
    front: Callable, slope: Callable, n_objectives: int, w: Float[np.ndarray, " n_objectives"]
) -> np.ndarray:
    """The t that minimizes Σ w_m f_m(b(t)) over the simplex: the best of a grid, refined with exact
    derivatives.

    Args:
        front: t (n, M) -> f(b(t)) (n, M).
        slope: t (M,) -> the derivative of f(b(t)) with respect to t, (M, M), meaningful along the
            simplex.
        n_objectives: M.
        w: weights of the objectives, at least 0.
    """
    from scipy.optimize import minimize

    candidates = grid(n_objectives, largest_degree_within(n_objectives, STARTS))
    values = np.asarray(front(candidates)) @ w
    scale = max(float(np.ptp(values)), np.finfo(float).tiny)
    found = minimize(
        lambda t: float(np.asarray(front(t[None]))[0] @ w) / scale,
        candidates[np.argmin(values)],
        jac=lambda t: w @ np.asarray(slope(t)) / scale,
        bounds=[(0.0, 1.0)] * n_objectives,
        constraints={"type": "eq", "fun": lambda t: t.sum() - 1, "jac": lambda t: np.ones_like(t)},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 200},
    )
    t = np.clip(found.x, 0, None)
    return t / t.sum()


def t_for_aspiration(
    front: Callable, slope: Callable, n_objectives: int, f: Float[np.ndarray, " n_objectives"]
) -> np.ndarray:
    """The t that minimizes max_m (f_m(b(t)) − f_m) in units of ranges: the best of a grid, refined
    in epigraph form by SLSQP.

    Args:
        front: as in `t_for_weights`.
        slope: likewise.
        n_objectives: M.
        f: the objective values hoped for.
    """
    from scipy.optimize import minimize

    candidates = grid(n_objectives, largest_degree_within(n_objectives, STARTS))
    values = np.asarray(front(candidates))
    span = np.ptp(values, axis=0)
    span = np.where(span > 0, span, 1.0)
    worst = ((values - f) / span).max(axis=1)
    up = np.append(np.zeros(n_objectives), 1.0)
    below = {
        "type": "ineq",
        "fun": lambda z: z[-1] - (np.asarray(front(z[None, :-1]))[0] - f) / span,
        "jac": lambda z: np.column_stack(
            [-np.asarray(slope(z[:-1])) / span[:, None], np.ones(n_objectives)]
        ),
    }
    on_simplex = {
        "type": "eq",
        "fun": lambda z: z[:-1].sum() - 1,
        "jac": lambda z: np.append(np.ones(n_objectives), 0.0),
    }
    found = minimize(
        lambda z: z[-1],
        np.append(candidates[np.argmin(worst)], worst.min()),
        jac=lambda z: up,
        bounds=[(0.0, 1.0)] * n_objectives + [(None, None)],
        constraints=[below, on_simplex],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 200},
    )
    t = np.clip(found.x[:-1], 0, None)
    return t / t.sum()
