"""Runs and their twins: the same flow on the same samples, all but one; how far apart they end.

A `Setting` is what all runs of a study share: the flow, the objectives, the start, K, and the loss
ℓ(P; t).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..arguments import read_count
from ..bezier import BezierSimplex, basis
from ..compilation import compiled, map_in_batches
from ..flows import Flow, FlowState, LeastSquares
from ..methods import GradientDescent
from ..objectives import FlatObjectives
from ..scalarizations import AbstractScalarization, Scalarized, WeightedSum
from ..simplex import Leverage, grid, largest_degree_within, low_discrepancy
from .schedule import SCHEDULE
from .statistics import gram_root


class Distance(eqx.Module):
    """ℓ(P; t) = |b(t|P) − x*(t)|, the paper's loss (equation 12).

    Attributes:
        problem: has `pareto_map(t)`, which is x*.
    """

    problem: Any

    def __call__(
        self,
        control_points: Float[Array, "n_controls n_variables"],
        t: Float[Array, "n n_objectives"],
        degree: int,
    ) -> Float[Array, " n"]:
        """The distances at t."""
        x = basis(t, degree) @ control_points
        return jnp.linalg.norm(x - self.problem.pareto_map(t), axis=-1)


class Stationarity(eqx.Module):
    """ℓ(P; t) = |∇_x f(b(t|P) | t)|, the stationarity residual: it needs gradients, not x*.

    It is 0 where b(t) is stationary for its own weights. Where f(·|t) has Hessian eigenvalues
    between m > 0 and β along the segment from x*(t) to b(t), it encloses the paper's loss:
    residual/β ≤ |b(t|P) − x*(t)| ≤ residual/m. Its one-sample change is at most β times that of the
    surface. Where f(·|t) is not convex it is 0 at every stationary point, and where gradients are
    unbounded it is unbounded.
    """

    objectives: FlatObjectives
    scalarization: AbstractScalarization

    def __call__(
        self,
        control_points: Float[Array, "n_controls n_variables"],
        t: Float[Array, "n n_objectives"],
        degree: int,
    ) -> Float[Array, " n"]:
        """The residuals at t."""
        x = basis(t, degree) @ control_points
        gradient = jax.vmap(
            lambda t, x: Scalarized(self.objectives, self.scalarization, t).gradient(x)
        )(t, x)
        return jnp.linalg.norm(gradient, axis=-1)


Loss = Distance | Stationarity
"""ℓ(P; t) of a surface with control points P, at a batch of t. Traceable."""


class Setting(eqx.Module):
    """A run of a lifted method without its samples, which are drawn from the key of each run.

    Attributes:
        flow: M(A), with its sampler settled for the number of objectives.
        objectives: of a flat vector.
        surface: P^(1).
        n_iterations: K.
    """

    flow: Flow
    objectives: FlatObjectives
    surface: BezierSimplex
    n_iterations: int = eqx.field(static=True)

    def __init__(
        self, flow: Flow, objectives: FlatObjectives, surface: BezierSimplex, n_iterations: int
    ):
        if flow.method.runs_on_host:
            raise TypeError(
                "flow must have a method that JAX can trace, so that twins run side by side;"
                f" {type(flow.method).__name__} runs in Python. Use GradientDescent, Newton,"
                " Optax(...) or Optimistix(...)"
            )
        self.flow = flow.for_objectives(surface.n_objectives)
        self.objectives, self.surface = objectives, surface
        self.n_iterations = read_count(n_iterations, "n_iterations", 1)

    @property
    def n_samples(self) -> int:
        """N."""
        assert self.flow.sampler is not None  # settled when this setting was made
        return self.flow.sampler.n_samples

    @property
    def n_objectives(self) -> int:
        """M."""
        return self.surface.n_objectives

    @property
    def degree(self) -> int:
        """D."""
        return self.flow.degree

    @property
    def loss(self) -> Loss:
        """The paper's loss for weighted sums of a problem with a Pareto map, else the residual."""
        scalarization = self.flow.scalarization
        if hasattr(self.objectives, "pareto_map") and isinstance(scalarization, WeightedSum):
            return Distance(self.objectives)
        return Stationarity(self.objectives, scalarization)


def check_gradients(objectives: Callable, x: np.ndarray) -> None:
    """Raises a TypeError for objectives that JAX cannot differentiate."""
    try:
        jax.eval_shape(jax.jacrev(objectives), x)
    except Exception as error:
        reason = str(error).strip().split("\n")[0]
        raise TypeError(
            "objectives must have gradients, written with jax.numpy; differentiating them failed:"
            f" {reason}"
        ) from error


def dense_points(
    n_objectives: int, n: int = SCHEDULE.dense
) -> Float[np.ndarray, "n_points n_objectives"]:
    """For suprema over t: a regular grid of at most n points, and n evenly spread ones."""
    regular = grid(n_objectives, largest_degree_within(n_objectives, n))
    return np.concatenate([regular, held_out_points(n_objectives, n)])


def held_out_points(
    n_objectives: int, n: int = SCHEDULE.dense
) -> Float[np.ndarray, "n_points n_objectives"]:
    """For averages over t: n evenly spread ones that no run draws. Call in double precision."""
    return np.asarray(low_discrepancy(jax.random.key(2**31 - 1), n, n_objectives))


class Exchange(NamedTuple):
    """Which example a twin has of its own: at iteration k (from 1), position i, another t.

    Leading axes: one entry per run.
    """

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
        """At the given iterations, a uniformly drawn position and new t for each run."""
        generator = np.random.default_rng(seed)
        position = generator.integers(n_samples, size=len(k))
        return cls(k, position, generator.dirichlet(np.ones(n_objectives), len(k)))

    def followed_by(self, other: "Exchange") -> "Exchange":
        """The entries of both, these first."""
        return Exchange(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))


@compiled
def samples_of_run(setting: Setting, key: Array) -> Float[Array, "K n_samples n_objectives"]:
    """T_1, …, T_K: every t that a run from this key draws."""
    iterations = 1 + jnp.arange(setting.n_iterations)
    return jax.lax.map(lambda k: setting.flow.draw(key, k, setting.n_objectives)[0], iterations)


@compiled
def run_many(
    setting: Setting, keys: Array, exchange: Exchange, *, whole: bool = False
) -> Float[Array, "n_runs *K n_controls n_variables"]:
    """Many runs at once, each with one example exchanged: the final control points P^(K+1) of each.

    A run with nothing exchanged is the run that `bezierflow.minimize` makes with the same seed.
    Call in double precision.

    Args:
        setting: what all runs share.
        keys: one key per run; equal keys draw equal samples.
        exchange: what each run has of its own.
        whole: return P^(1), …, P^(K+1) of each run instead of the last alone.
    """
    flow, surface = setting.flow, setting.surface

    def iterate(own: Exchange, state: FlowState) -> tuple[FlowState, Array | None]:
        t, weights = flow.draw(state.key, state.k, setting.n_objectives)
        t = jnp.where(state.k == own.k, t.at[own.position].set(own.t), t)
        # The iteration again, with a sampler that returns this t.
        replayed = eqx.tree_at(lambda flow: flow.sampler, flow, lambda key, M: (t, weights))
        following, _ = replayed.iterate(setting.objectives, state)
        return following, state.surface.control_points if whole else None

    def run(key_and_exchange: tuple[Array, Exchange]) -> Array:
        key, own = key_and_exchange
        state, before = jax.lax.scan(
            lambda state, _: iterate(own, state),
            flow.begin(surface, key),
            length=setting.n_iterations,
        )
        last = state.surface.control_points
        return last if before is None else jnp.concatenate([before, last[None]])

    numbers = setting.n_samples * (surface.n_controls + surface.n_variables)
    batch = min(max(1, SCHEDULE.batch_numbers // numbers), len(keys))
    return map_in_batches(run, (keys, Exchange(*map(jnp.asarray, exchange))), batch)


@dataclass(frozen=True)
class TwinRuns:
    """Pairs of runs that share all examples but one, and how far apart they end; one entry each.

    Attributes:
        exchange: what was exchanged; `exchange.k` is the iteration.
        control_points: P^(K+1).
        control_points_twin: P'^(K+1).
        distance: |P^(K+1) − P'^(K+1)|_F.
        rms: RMS distance of the two surfaces over the simplex, |P − P'|_Γ.
        sup_move: sup_t |b(t|P) − b(t|P')|, over a dense grid.
        sup_loss: sup_t |ℓ(P; t) − ℓ(P'; t)|, likewise: what uniform stability is about.
        at_example: ℓ(P; t_i) − ℓ(P'; t_i) at the exchanged example t_i, which P alone has seen.
            Over uniform iterations and positions its mean is that of the generalization gap.
        ends: P^(K+1) of each run, one per key, twins or not.
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
        keys: one key per run.
        runs: which run each twin belongs to, by the position of its key; in turn if not given.
    """
    check_exchangeable(setting)
    M, degree = setting.n_objectives, setting.degree
    runs = np.arange(len(exchange.k)) % len(keys) if runs is None else runs
    # Runs and their twins go in one call: one compilation, one batch.
    together = Exchange.none(len(keys), M).followed_by(exchange)
    P = run_many(setting, jnp.concatenate([keys, keys[runs]]), together)
    ends, twins = P[: len(keys)], P[len(keys) :]
    base, t = ends[runs], jnp.asarray(dense_points(M))
    sup_move, sup_loss = _suprema(setting.loss, base, twins, t, degree)
    k, position = jnp.asarray(exchange.k), jnp.asarray(exchange.position)
    at_example = _at_examples(setting, base, twins, keys[runs], k, position)
    apart = np.asarray(base - twins)
    return TwinRuns(
        exchange=exchange,
        control_points=np.asarray(base),
        control_points_twin=np.asarray(twins),
        distance=np.linalg.norm(apart, axis=(1, 2)),
        rms=np.linalg.norm(gram_root(M, degree) @ apart, axis=(1, 2)),
        sup_move=np.asarray(sup_move),
        sup_loss=np.asarray(sup_loss),
        at_example=np.asarray(at_example),
        ends=np.asarray(ends),
    )


def check_exchangeable(setting: Setting) -> None:
    """Refuses samplers whose weights belong to their points: exchanged examples are uniform t."""
    if isinstance(setting.flow.sampler, Leverage):
        raise TypeError(
            "sampler must draw points of equal weight, one of which can be exchanged, got Leverage;"
            " mean_field says where runs with it go"
        )


@compiled
def _suprema(loss: Loss, base: Array, twins: Array, t: Array, degree: int) -> tuple[Array, Array]:
    Z = basis(t, degree)

    def of_pair(pair: tuple[Array, Array]) -> tuple[Array, Array]:
        P, Q = pair
        move = jnp.max(jnp.linalg.norm(Z @ (P - Q), axis=-1))
        return move, jnp.max(jnp.abs(loss(P, t, degree) - loss(Q, t, degree)))

    return map_in_batches(of_pair, (base, twins), SCHEDULE.at_once)


@compiled
def _at_examples(
    setting: Setting, base: Array, twins: Array, keys: Array, k: Array, position: Array
) -> Array:
    """ℓ(P; t_i) − ℓ(P'; t_i) at the example t_i of iteration k that was exchanged."""

    def of_pair(P: Array, Q: Array, key: Array, k: Array, position: Array) -> Array:
        # drawn again from the run's key
        t = setting.flow.draw(key, k, setting.n_objectives)[0][position][None]
        loss, degree = setting.loss, setting.degree
        return (loss(P, t, degree) - loss(Q, t, degree))[0]

    return jax.vmap(of_pair)(base, twins, keys, k, position)


@dataclass(frozen=True)
class Trace:
    """Every P^(k) and every t of a run of Algorithm 2.

    Attributes:
        control_points: P^(1), …, P^(K+1).
        t: T_1, …, T_K.
        step_sizes: α^(1), …, α^(K).
        degree: D.
    """

    control_points: Float[np.ndarray, "K_and_one n_controls n_variables"]
    t: Float[np.ndarray, "K n_samples n_objectives"]
    step_sizes: Float[np.ndarray, " K"]
    degree: int

    def fitted(self) -> Float[np.ndarray, "K n_controls n_variables"]:
        """ĝ_k = (ZᵀZ)⁻¹ZᵀG = (P^(k) − P^(k+1))/α^(k): the net of the fitted gradient field."""
        return -np.diff(self.control_points, axis=0) / self.step_sizes[:, None, None]


def trace(setting: Setting, key: Array) -> Trace:
    """The run from this key, written down. Call in double precision."""
    rule = check_papers(setting.flow).step_size
    k = np.arange(1, setting.n_iterations + 1)
    alphas = [float(rule(jnp.asarray(i)) if callable(rule) else rule) for i in k]
    P = run_many(setting, key[None], Exchange.none(1, setting.n_objectives), whole=True)[0]
    t = np.asarray(samples_of_run(setting, key))
    return Trace(np.asarray(P), t, np.array(alphas), setting.degree)


def is_papers(flow: Flow) -> bool:
    """Whether the flow is Algorithm 2, which theorems are about: nothing that a subclass or another
    refit may do is proved."""
    parts = (flow.method, flow.scalarization, flow.refit)
    return flow.bounds is None and tuple(map(type, parts)) == (
        GradientDescent,
        WeightedSum,
        LeastSquares,
    )


def check_papers(flow: Flow) -> GradientDescent:
    """The method of a flow that is Algorithm 2, or a TypeError."""
    if not is_papers(flow):
        raise TypeError(
            "flow must lift GradientDescent on weighted sums with least squares and without bounds,"
            f" about which theorems are, got {type(flow.method).__name__} on"
            f" {type(flow.scalarization).__name__} with {type(flow.refit).__name__}"
            f"{'' if flow.bounds is None else ' and bounds'}; empirical_stability measures any"
        )
    assert isinstance(flow.method, GradientDescent)
    return flow.method
