"""What the objectives do where a run goes: their Lipschitz constant μ and their curvature, measured along the run."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..bezier.basis import basis
from ..compilation import NO_NESTED_THREADS
from ..precision import double_precision
from ..scalarizations import AbstractScalarization, Scalarized, WeightedSum


def lipschitz(
    objectives: Callable[[Array], Array],
    control_points: Float[Any, "K n_controls n_variables"],
    t: Float[Any, "K n_samples n_objectives"],
    degree: int,
) -> float:
    """μ = max |∇f_m(x)| over all objectives m and all x = b(t_n^(k)|P^(k)) that a run visited (Assumption "mu").

    Objectives such as squares have no Lipschitz constant on all of R^L. The proofs only use |∇f(x|t)| ≤ μ at visited points, so
    with the run's own P^(k) and T_k this is the constant for that run; with other t it is an estimate from below.
    """
    with double_precision():
        largest = float(_largest_gradient(objectives, jnp.asarray(control_points), jnp.asarray(t), degree))
    if not (np.isfinite(largest) and largest > 0):
        raise ValueError(
            f"objectives must have gradients where the run goes, finite and not all 0; the largest found is {largest}. "
            "Rounding and comparisons have none; where a gradient is infinite, start elsewhere"
        )
    return largest


def curvature(
    objectives: Callable[[Array], Array],
    control_points: Float[Any, "K n_controls n_variables"],
    t: Float[Any, "K n_samples n_objectives"],
    degree: int,
    scalarization: AbstractScalarization | None = None,
) -> tuple[float, float]:
    """(m, β): the extreme eigenvalues of the Hessians of f(·|t_n) at the points a run visited. Exact for quadratics."""
    with double_precision():
        least, most = _extreme_curvature(
            objectives, scalarization or WeightedSum(), jnp.asarray(control_points), jnp.asarray(t), degree
        )
    return float(least), float(most)


@eqx.filter_jit(compiler_options=NO_NESTED_THREADS)  # type: ignore[reportCallIssue]
def _largest_gradient(objectives: Callable, control_points: Array, t: Array, degree: int) -> Array:
    def in_iteration(of_one):
        P, t = of_one
        jacobians = jax.vmap(jax.jacrev(objectives))(basis(t, degree) @ P)
        return jnp.max(jnp.linalg.norm(jacobians, axis=-1))

    return jnp.max(jax.lax.map(in_iteration, (control_points, t)))


@eqx.filter_jit(compiler_options=NO_NESTED_THREADS)  # type: ignore[reportCallIssue]
def _extreme_curvature(objectives: Callable, scalarization: Any, control_points: Array, t: Array, degree: int) -> tuple:
    def in_iteration(of_one):
        P, t = of_one
        hessians = jax.vmap(lambda t, x: jax.hessian(Scalarized(objectives, scalarization, t))(x))(t, basis(t, degree) @ P)
        values = jnp.linalg.eigvalsh(hessians)
        return jnp.min(values), jnp.max(values)

    least, most = jax.lax.map(in_iteration, (control_points, t))
    return jnp.min(least), jnp.max(most)
