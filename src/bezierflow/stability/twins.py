"""Twin runs: the same flow on the same samples, all but one. Vectorized over many twins."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..bezier import BezierSimplex
from ..compilation import NO_NESTED_THREADS
from ..flow import Flow
from ..simplex import AbstractSampler
from .checks import check_count

Objectives = Callable[[Array], Array]

BATCH_NUMBERS = 50_000
"""Numbers in the design matrices and points of the runs that advance side by side: few enough to stay in a cache."""


class Given(AbstractSampler):
    """A sampler that hands out the t it was given: how one iteration of a flow is replayed with one sample exchanged."""

    t: Float[Array, "n_samples n_objectives"]
    weights: Float[Array, " n_samples"]

    @property
    def n_samples(self) -> int:
        """N."""
        return len(self.t)

    def __call__(self, key: Array, n_objectives: int) -> tuple[Array, Array]:
        """The given t and weights; the key is not used."""
        return self.t, self.weights


class Exchange(NamedTuple):
    """Which example a twin has of its own: at iteration k (from 1), position i, another t. Leading axes: one entry a run."""

    k: Int[Array | np.ndarray, "*runs"]
    position: Int[Array | np.ndarray, "*runs"]
    t: Float[Array | np.ndarray, "*runs n_objectives"]

    @classmethod
    def none(cls, n_runs: int, n_objectives: int) -> "Exchange":
        """Nothing exchanged: no iteration has the number 0."""
        zeros = np.zeros(n_runs, dtype=int)
        return cls(zeros, zeros, np.full((n_runs, n_objectives), 1 / n_objectives))

    @classmethod
    def random(cls, k: Int[np.ndarray, " n_runs"], n_samples: int, n_objectives: int, seed: int = 0) -> "Exchange":
        """For each run a uniformly drawn position and a uniformly drawn new t, at the given iterations."""
        generator = np.random.default_rng(seed)
        k = np.asarray(k)
        return cls(k, generator.integers(n_samples, size=len(k)), generator.dirichlet(np.ones(n_objectives), len(k)))


@eqx.filter_jit
def samples_of_run(flow: Flow, key: Array, n_iterations: int, n_objectives: int) -> Float[Array, "K n_samples n_objectives"]:
    """T_1, …, T_K: every t that a run from this key draws."""
    return jax.lax.map(lambda k: flow.draw(key, k, n_objectives)[0], 1 + jnp.arange(n_iterations))


def run_many(
    flow: Flow,
    objectives: Objectives,
    surface: BezierSimplex,
    keys: Array,
    exchange: Exchange,
    n_iterations: int,
    *,
    whole: bool = False,
) -> Float[Array, "n_runs *K n_controls n_variables"]:
    """Many runs of a flow at once, each with one example exchanged: the final control points P^(K+1) of each.

    A run with nothing exchanged is the run that `bezierflow.minimize` makes with the same seed. Call in double precision.

    Args:
        flow: the flow, settled by `for_objectives`.
        objectives: of a flat vector.
        surface: P^(1).
        keys: one key a run; equal keys draw equal samples.
        exchange: what each run has of its own.
        n_iterations: K.
        whole: return P^(1), …, P^(K+1) of each run instead of the last alone.
    """
    check_count(n_iterations, "n_iterations")
    check_traceable(flow)
    width = surface.n_controls + surface.n_variables
    batch = max(1, BATCH_NUMBERS // (flow.n_samples * width))
    return _run_many(flow, objectives, surface, keys, exchange, n_iterations, whole, min(batch, len(keys)))


def check_traceable(flow: Flow) -> None:
    """Raises a TypeError for a flow that cannot be vectorized."""
    if flow.runs_on_host:
        raise TypeError(
            f"flow must have a method that JAX can trace, so that twins run side by side; {type(flow.method).__name__} runs "
            "in Python. Use GradientDescent, Newton, Optax(...) or Optimistix(...)"
        )


@eqx.filter_jit(compiler_options=NO_NESTED_THREADS)  # type: ignore[reportCallIssue]
def _run_many(flow, objectives, surface, keys, exchange, n_iterations: int, whole: bool, batch: int) -> Array:
    M = surface.n_objectives

    def iterate(own: Exchange, state):
        t, weights = flow.draw(state.key, state.k, M)
        exchanged = t.at[own.position].set(own.t)
        replayed = eqx.tree_at(lambda flow: flow.sampler, flow, Given(jnp.where(state.k == own.k, exchanged, t), weights))
        following, _ = replayed.iterate(objectives, state)
        return following, state.surface.control_points if whole else None

    def run(of_one):
        key, own = of_one
        state = flow.begin(surface, key)
        state, before = jax.lax.scan(lambda state, _: iterate(own, state), state, length=n_iterations)
        last = state.surface.control_points
        return last if before is None else jnp.concatenate([before, last[None]])

    return jax.lax.map(run, (keys, Exchange(*map(jnp.asarray, exchange))), batch_size=batch)
