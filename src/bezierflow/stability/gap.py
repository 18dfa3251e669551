"""The generalization gap R_S − R: how much better a surface looks at the examples that made it than
at fresh ones."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..compilation import compiled, map_in_batches
from .checks import check_count
from .intervals import Interval, mean_interval
from .losses import AbstractLoss, held_out_points
from .setting import Setting
from .twins import Exchange, run_many

HELD_OUT = 4000
"""Evenly spread t whose mean loss stands for R: their error is far below that of the examples
themselves."""


@dataclass(frozen=True)
class GeneralizationGap:
    """R_S − R over independent runs, S being all K N examples of a run.

    Attributes:
        expected: E[R_S − R] with its confidence interval, freed of most noise: from each run's gap,
            the gap of another run's surface on the same examples is subtracted, whose expectation
            is 0 because it never saw them.
        gaps: R_S − R of each run. Their spread is mostly that of the examples, not of the surface.
        risks: R of each run.
        control_points: P^(K+1) of each run.
    """

    expected: Interval
    gaps: Float[np.ndarray, " n_runs"]
    risks: Float[np.ndarray, " n_runs"]
    control_points: Float[np.ndarray, "n_runs n_controls n_variables"]


def generalization_gap(
    setting: Setting,
    *,
    keys: Array,
    confidence: float = 0.95,
    control_points: Float[np.ndarray, "n_runs n_controls n_variables"] | None = None,
) -> GeneralizationGap:
    """Measures the gap over independent runs. Call in double precision.

    Args:
        setting: what all runs share; where its loss is the stationarity residual, the gap is that
            of the surrogate.
        keys: one key a run, two at least.
        confidence: of the interval (Student's t over the runs).
        control_points: where the runs from these keys have ended, if that is known already.
    """
    check_count(len(keys), "the number of keys", 2)
    if control_points is None:
        P = run_many(setting, keys, Exchange.none(len(keys), setting.n_objectives))
    else:
        P = jnp.asarray(control_points)
    seen, seen_by_others = _mean_losses(setting, P, jnp.roll(P, 1, axis=0), keys)
    held_out = jnp.asarray(held_out_points(setting.n_objectives, HELD_OUT))
    risks = np.asarray(_risks(setting.loss, P, held_out, setting.degree))
    gaps, controls = np.asarray(seen) - risks, np.asarray(seen_by_others) - np.roll(risks, 1)
    return GeneralizationGap(mean_interval(gaps - controls, confidence), gaps, risks, np.asarray(P))


@compiled
def _mean_losses(setting: Setting, own: Array, other: Array, keys: Array) -> tuple[Array, Array]:
    """R_S of each run's own surface and of another run's, S drawn again from the run's key."""
    K, degree, loss = setting.n_iterations, setting.degree, setting.loss

    def of_run(surfaces_and_key: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        P, Q, key = surfaces_and_key
        both = jnp.stack([P, Q])

        def add(k: Array, totals: Array) -> Array:
            t, _ = setting.flow.draw(key, k, setting.n_objectives)
            return totals + jnp.mean(jax.vmap(lambda P: loss(P, t, degree))(both), axis=1)

        totals = jax.lax.fori_loop(1, K + 1, add, jnp.zeros(2))
        return totals[0] / K, totals[1] / K

    return map_in_batches(of_run, (own, other, keys), 16)


@compiled
def _risks(loss: AbstractLoss, control_points: Array, t: Array, degree: int) -> Array:
    return jax.lax.map(lambda P: jnp.mean(loss(P, t, degree)), control_points)
