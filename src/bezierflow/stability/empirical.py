"""Empirical stability: how far one exchanged example really moves the surface, over many twins."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..bezier import basis
from ..compilation import compiled, map_in_batches
from .gram import gram_root
from .losses import AbstractLoss, dense_points
from .setting import Setting
from .twins import Exchange, run_many


@dataclass(frozen=True)
class TwinRuns:
    """Pairs of runs that share all examples but one, and how far apart they end. One entry a pair.

    Attributes:
        exchange: what was exchanged; `exchange.k` is the iteration.
        control_points: P^(K+1).
        control_points_twin: P'^(K+1).
        distance: |P^(K+1) − P'^(K+1)|_F.
        rms: RMS distance of the two surfaces over the simplex, |P − P'|_Γ.
        sup_move: sup_t |b(t|P) − b(t|P')|, over a dense grid.
        sup_loss: sup_t |ℓ(P; t) − ℓ(P'; t)|, likewise: what uniform stability is about.
        at_example: ℓ(P; t_i) − ℓ(P'; t_i) at the exchanged example t_i, which P has seen and P' has
            not. For exchanges drawn uniformly over iterations and positions its expectation is that
            of the generalization gap R_S − R.
        ends: P^(K+1) of each run, one for each key, twins or not.
    """

    exchange: Exchange
    control_points: Float[np.ndarray, "n_twins n_controls n_variables"]
    control_points_twin: Float[np.ndarray, "n_twins n_controls n_variables"]
    distance: Float[np.ndarray, " n_twins"]
    rms: Float[np.ndarray, " n_twins"]
    sup_move: Float[np.ndarray, " n_twins"]
    sup_loss: Float[np.ndarray, " n_twins"]
    at_example: Float[np.ndarray, " n_twins"]
    ends: Float[np.ndarray, "n_runs n_controls n_variables"]


def empirical_stability(
    setting: Setting,
    exchange: Exchange,
    *,
    keys: Array,
    runs: Int[np.ndarray, " n_twins"] | None = None,
) -> TwinRuns:
    """Makes runs and their twins and compares the ends. Call in double precision.

    Args:
        setting: what all runs share.
        exchange: what each twin has of its own, such as `Exchange.random(k, n_samples,
            n_objectives)`.
        keys: one key a run.
        runs: which run each twin belongs to, by the position of its key; in turn if not given.
    """
    runs = np.arange(len(exchange.k)) % len(keys) if runs is None else runs
    # Runs and their twins go in one call: one compilation, one batch.
    together = Exchange.none(len(keys), setting.n_objectives).followed_by(exchange)
    P = run_many(setting, jnp.concatenate([keys, keys[runs]]), together)
    ends, twins = P[: len(keys)], P[len(keys) :]
    base, loss = ends[runs], setting.loss
    t = jnp.asarray(dense_points(setting.n_objectives))
    sup_move, sup_loss = _suprema(loss, base, twins, t, setting.degree)
    seen = _examples(setting, keys[runs], jnp.asarray(exchange.k), jnp.asarray(exchange.position))
    at_example = _loss_at(loss, base, seen, setting.degree) - _loss_at(
        loss, twins, seen, setting.degree
    )
    apart = np.asarray(base - twins)
    return TwinRuns(
        exchange=exchange,
        control_points=np.asarray(base),
        control_points_twin=np.asarray(twins),
        distance=np.linalg.norm(apart, axis=(1, 2)),
        rms=np.linalg.norm(gram_root(setting.n_objectives, setting.degree) @ apart, axis=(1, 2)),
        sup_move=np.asarray(sup_move),
        sup_loss=np.asarray(sup_loss),
        at_example=np.asarray(at_example),
        ends=np.asarray(ends),
    )


@compiled
def _suprema(
    loss: AbstractLoss, base: Array, twins: Array, t: Array, degree: int
) -> tuple[Array, Array]:
    Z = basis(t, degree)

    def of_pair(pair: tuple[Array, Array]) -> tuple[Array, Array]:
        P, Q = pair
        move = jnp.max(jnp.linalg.norm(Z @ (P - Q), axis=-1))
        return move, jnp.max(jnp.abs(loss(P, t, degree) - loss(Q, t, degree)))

    return map_in_batches(of_pair, (base, twins), 32)


@compiled
def _loss_at(loss: AbstractLoss, control_points: Array, t: Array, degree: int) -> Array:
    return jax.vmap(lambda P, t: loss(P, t[None], degree)[0])(control_points, t)


@compiled
def _examples(setting: Setting, keys: Array, k: Array, position: Array) -> Array:
    """The example t_i of iteration k that was exchanged, for each twin: drawn again from the run's
    key."""
    samples = jax.vmap(lambda key, k: setting.flow.draw(key, k, setting.n_objectives)[0])(keys, k)
    return samples[jnp.arange(len(keys)), position]
