"""Twin runs: the same flow on the same samples, all but one. Vectorized over many twins."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..compilation import compiled, map_in_batches
from ..flows import FlowState
from ..simplex import AbstractSampler
from .setting import Setting

BATCH_NUMBERS = 50_000
"""Numbers in the design matrices and points of the runs that advance side by side: few enough to
stay in a cache."""


class Given(AbstractSampler):
    """A sampler that returns the t it was given: how one iteration of a flow is replayed with one
    sample exchanged."""

    t: Float[Array, "n_samples n_objectives"]
    weights: Float[Array, " n_samples"]

    @property
    def n_samples(self) -> int:
        """N."""
        return len(self.t)

    def __call__(
        self, key: Array, n_objectives: int
    ) -> tuple[Float[Array, "n_samples n_objectives"], Float[Array, " n_samples"]]:
        """The given t and weights; the key is not used."""
        return self.t, self.weights


class Exchange(NamedTuple):
    """Which example a twin has of its own: at iteration k (from 1), position i, another t. Leading
    axes: one entry a run."""

    k: Int[Array | np.ndarray, "*runs"]
    position: Int[Array | np.ndarray, "*runs"]
    t: Float[Array | np.ndarray, "*runs n_objectives"]

    @classmethod
    def none(cls, n_runs: int, n_objectives: int) -> "Exchange":
        """Nothing exchanged: no iteration has the number 0."""
        zeros = np.zeros(n_runs, dtype=int)
        return cls(zeros, zeros, np.full((n_runs, n_objectives), 1 / n_objectives))

    @classmethod
    def random(
        cls, k: Int[np.ndarray, " n_runs"], n_samples: int, n_objectives: int, seed: int = 0
    ) -> "Exchange":
        """For each run a uniformly drawn position and a uniformly drawn new t, at the given
        iterations."""
        generator = np.random.default_rng(seed)
        return cls(
            k,
            generator.integers(n_samples, size=len(k)),
            generator.dirichlet(np.ones(n_objectives), len(k)),
        )

    def followed_by(self, other: "Exchange") -> "Exchange":
        """The entries of both, these first."""
        return Exchange(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))


@compiled
def samples_of_run(setting: Setting, key: Array) -> Float[Array, "K n_samples n_objectives"]:
    """T_1, …, T_K: every t that a run from this key draws."""
    iterations = 1 + jnp.arange(setting.n_iterations)
    return jax.lax.map(lambda k: setting.flow.draw(key, k, setting.n_objectives)[0], iterations)


def run_many(
    setting: Setting, keys: Array, exchange: Exchange, *, whole: bool = False
) -> Float[Array, "n_runs *K n_controls n_variables"]:
    """Many runs at once, each with one example exchanged: the final control points P^(K+1) of each.

    A run with nothing exchanged is the run that `bezierflow.minimize` makes with the same seed.
    Call in double precision.

    Args:
        setting: what all runs share.
        keys: one key a run; equal keys draw equal samples.
        exchange: what each run has of its own.
        whole: return P^(1), …, P^(K+1) of each run instead of the last alone.
    """
    width = setting.surface.n_controls + setting.surface.n_variables
    batch = max(1, BATCH_NUMBERS // (setting.n_samples * width))
    return _run_many(setting, keys, exchange, whole, min(batch, len(keys)))


@compiled
def _run_many(setting: Setting, keys: Array, exchange: Exchange, whole: bool, batch: int) -> Array:
    flow = setting.flow

    def iterate(own: Exchange, state: FlowState) -> tuple[FlowState, Array | None]:
        t, weights = flow.draw(state.key, state.k, setting.n_objectives)
        exchanged = t.at[own.position].set(own.t)
        replayed = eqx.tree_at(
            lambda flow: flow.sampler,
            flow,
            Given(jnp.where(state.k == own.k, exchanged, t), weights),
        )
        following, _ = replayed.iterate(setting.objectives, state)
        return following, state.surface.control_points if whole else None

    def run(key_and_exchange: tuple[Array, Exchange]) -> Array:
        key, own = key_and_exchange
        state = flow.begin(setting.surface, key)
        state, before = jax.lax.scan(
            lambda state, _: iterate(own, state), state, length=setting.n_iterations
        )
        last = state.surface.control_points
        return last if before is None else jnp.concatenate([before, last[None]])

    return map_in_batches(run, (keys, Exchange(*map(jnp.asarray, exchange))), batch)
