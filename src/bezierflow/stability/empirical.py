"""Empirical stability: how far one exchanged example really moves the surface, over many twins."""

from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..bezier import BezierSimplex
from ..bezier.basis import basis
from ..compilation import NO_NESTED_THREADS
from ..flow import Flow
from .gram import gram_root
from .losses import AbstractLoss, dense_points
from .twins import Exchange, Objectives, run_many


@dataclass(frozen=True)
class TwinRuns:
    """Pairs of runs that share all examples but one, and how far apart they end. One entry a pair.

    Attributes:
        k: the iteration with the exchanged example.
        control_points: P^(K+1).
        control_points_twin: P'^(K+1).
        distance: |P^(K+1) − P'^(K+1)|_F.
        rms: RMS distance of the two surfaces over the simplex, |P − P'|_Γ.
        sup_move: sup_t |b(t|P) − b(t|P')|, over a dense grid.
        sup_loss: sup_t |ℓ(P; t) − ℓ(P'; t)|, likewise: what uniform stability is about.
        at_example: ℓ(P; t_i) − ℓ(P'; t_i) at the exchanged example t_i, which P has seen and P' has not. For exchanges drawn
            uniformly over iterations and positions its expectation is that of the generalization gap R_S − R.
        exchange: what was exchanged.
        ends: P^(K+1) of each run, one for each key, twins or not.
    """

    k: Int[np.ndarray, " n_twins"]
    control_points: Float[np.ndarray, "n_twins n_controls n_variables"]
    control_points_twin: Float[np.ndarray, "n_twins n_controls n_variables"]
    distance: Float[np.ndarray, " n_twins"]
    rms: Float[np.ndarray, " n_twins"]
    sup_move: Float[np.ndarray, " n_twins"]
    sup_loss: Float[np.ndarray, " n_twins"]
    at_example: Float[np.ndarray, " n_twins"]
    exchange: Exchange
    ends: Float[np.ndarray, "n_runs n_controls n_variables"]


def empirical_stability(
    flow: Flow,
    objectives: Objectives,
    surface: BezierSimplex,
    n_iterations: int,
    loss: AbstractLoss,
    k: Int[np.ndarray, " n_twins"] | Sequence[int],
    *,
    keys: Array,
    of: Int[np.ndarray, " n_twins"] | None = None,
    seed: int = 0,
) -> TwinRuns:
    """Makes runs and their twins, with one example exchanged at iteration k at a random position, and compares the ends.

    Call in double precision, with a settled flow.

    Args:
        flow: any flow that JAX can trace.
        objectives: of a flat vector.
        surface: P^(1).
        n_iterations: K.
        loss: ℓ, from `loss_for`.
        k: the iteration of the exchange, one for each twin.
        keys: one key a run.
        of: which run each twin belongs to, by the position of its key; in turn if not given.
        seed: draws the positions and the new t.
    """
    k = np.asarray(k)
    n_samples = flow.sampler.n_samples  # type: ignore[union-attr]
    exchange = Exchange.random(k, n_samples, surface.n_objectives, seed)
    run = np.arange(len(k)) % len(keys) if of is None else np.asarray(of)
    # Runs and their twins go in one call: one compilation, one batch.
    nothing = Exchange.none(len(keys), surface.n_objectives)
    together = Exchange(*(np.concatenate(pair) for pair in zip(nothing, exchange, strict=True)))
    P = run_many(flow, objectives, surface, jnp.concatenate([keys, keys[run]]), together, n_iterations)
    return _compare(flow, loss, P[: len(keys)], P[len(keys) :], keys, run, exchange)


def _compare(
    flow: Flow, loss: AbstractLoss, ends: Array, twins: Array, keys: Array, run: np.ndarray, exchange: Exchange
) -> TwinRuns:
    base, M = ends[run], exchange.t.shape[-1]
    t = jnp.asarray(dense_points(M))
    sup_move, sup_loss = _suprema(loss, base, twins, t, flow.degree)
    seen = _examples(flow, keys[run], jnp.asarray(exchange.k), jnp.asarray(exchange.position), M)
    at_example = _loss_at(loss, base, seen, flow.degree) - _loss_at(loss, twins, seen, flow.degree)
    apart = np.asarray(base - twins)
    return TwinRuns(
        k=np.asarray(exchange.k),
        control_points=np.asarray(base),
        control_points_twin=np.asarray(twins),
        distance=np.linalg.norm(apart, axis=(1, 2)),
        rms=np.linalg.norm(gram_root(M, flow.degree) @ apart, axis=(1, 2)),
        sup_move=np.asarray(sup_move),
        sup_loss=np.asarray(sup_loss),
        at_example=np.asarray(at_example),
        exchange=exchange,
        ends=np.asarray(ends),
    )


@eqx.filter_jit(compiler_options=NO_NESTED_THREADS)  # type: ignore[reportCallIssue]
def _suprema(loss: AbstractLoss, base: Array, twins: Array, t: Array, degree: int) -> tuple[Array, Array]:
    Z = basis(t, degree)

    def of_pair(pair):
        P, Q = pair
        move = jnp.max(jnp.linalg.norm(Z @ (P - Q), axis=-1))
        return move, jnp.max(jnp.abs(loss(P, t, degree) - loss(Q, t, degree)))

    return jax.lax.map(of_pair, (base, twins), batch_size=32)


@eqx.filter_jit(compiler_options=NO_NESTED_THREADS)  # type: ignore[reportCallIssue]
def _loss_at(loss: AbstractLoss, control_points: Array, t: Array, degree: int) -> Array:
    return jax.vmap(lambda P, t: loss(P, t[None], degree)[0])(control_points, t)


@eqx.filter_jit(compiler_options=NO_NESTED_THREADS)  # type: ignore[reportCallIssue]
def _examples(flow: Flow, keys: Array, k: Array, position: Array, n_objectives: int) -> Array:
    """The example t_i of iteration k that was exchanged, for each twin: drawn again from the run's key."""
    return jax.vmap(lambda key, k, position: flow.draw(key, k, n_objectives)[0][position])(keys, k, position)
