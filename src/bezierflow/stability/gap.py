"""The generalization gap R_S − R: how much better a surface looks at the examples that made it than at fresh ones."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.special import stdtrit

from ..bezier import BezierSimplex
from ..compilation import NO_NESTED_THREADS
from ..flow import Flow
from .checks import check_count, check_probability
from .losses import AbstractLoss, held_out_points
from .smallest_eigenvalue import Interval
from .twins import Exchange, Objectives, run_many

HELD_OUT = 4000
"""Evenly spread t whose mean loss stands for R: their error is far below that of the examples themselves."""


@dataclass(frozen=True)
class GeneralizationGap:
    """R_S − R over independent runs, S being all K N examples of a run.

    Attributes:
        expected: E[R_S − R] with its confidence interval, freed of most noise: from each run's gap, the gap of another run's
            surface on the same examples is subtracted, whose expectation is 0 because it never saw them.
        gaps: R_S − R of each run. Their spread is mostly that of the examples, not of the surface.
        risks: R of each run.
        control_points: P^(K+1) of each run.
    """

    expected: Interval
    gaps: Float[np.ndarray, " n_runs"]
    risks: Float[np.ndarray, " n_runs"]
    control_points: Float[np.ndarray, "n_runs n_controls n_variables"]


def generalization_gap(
    flow: Flow,
    objectives: Objectives,
    surface: BezierSimplex,
    n_iterations: int,
    loss: AbstractLoss,
    *,
    keys: Array,
    confidence: float = 0.95,
    control_points: Float[np.ndarray, "n_runs n_controls n_variables"] | None = None,
) -> GeneralizationGap:
    """Measures the gap over independent runs. Call in double precision, with a settled flow.

    Args:
        flow: any flow that JAX can trace.
        objectives: of a flat vector.
        surface: P^(1).
        n_iterations: K.
        loss: ℓ, from `loss_for`; with the stationarity residual the gap is that of the surrogate.
        keys: one key a run, two at least.
        confidence: of the interval (Student's t over the runs).
        control_points: where the runs from these keys have ended, if that is known already.
    """
    check_probability(confidence, "confidence")
    check_count(len(keys), "the number of keys", 2)
    M = surface.n_objectives
    if control_points is None:
        P = run_many(flow, objectives, surface, keys, Exchange.none(len(keys), M), n_iterations)
    else:
        P = jnp.asarray(control_points)
    others = jnp.roll(P, 1, axis=0)
    seen, seen_by_others = _mean_losses(flow, loss, P, others, keys, n_iterations, M)
    risks = np.asarray(_risks(loss, P, jnp.asarray(held_out_points(M, HELD_OUT)), flow.degree))
    gaps, controls = np.asarray(seen) - risks, np.asarray(seen_by_others) - np.roll(risks, 1)
    return GeneralizationGap(mean_interval(gaps - controls, confidence), gaps, risks, np.asarray(P))


def mean_interval(values: Float[np.ndarray, " n"], confidence: float = 0.95) -> Interval:
    """The mean of independent values with Student's interval."""
    n, mean = len(values), float(np.mean(values))
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * float(np.std(values, ddof=1)) / n**0.5
    return Interval(mean, mean - half, mean + half)


@eqx.filter_jit(compiler_options=NO_NESTED_THREADS)  # type: ignore[reportCallIssue]
def _mean_losses(flow: Flow, loss: AbstractLoss, own: Array, other: Array, keys: Array, K: int, M: int) -> tuple[Array, Array]:
    """R_S of each run's own surface and of another run's, S drawn again from the run's key."""

    def of_run(of_one):
        P, Q, key = of_one

        def add(k, totals):
            t, _ = flow.draw(key, k, M)
            return totals + jnp.stack([jnp.mean(loss(P, t, flow.degree)), jnp.mean(loss(Q, t, flow.degree))])

        totals = jax.lax.fori_loop(1, K + 1, add, jnp.zeros(2))
        return totals[0] / K, totals[1] / K

    return jax.lax.map(of_run, (own, other, keys), batch_size=16)


@eqx.filter_jit(compiler_options=NO_NESTED_THREADS)  # type: ignore[reportCallIssue]
def _risks(loss: AbstractLoss, control_points: Array, t: Array, degree: int) -> Array:
    return jax.lax.map(lambda P: jnp.mean(loss(P, t, degree)), control_points)
