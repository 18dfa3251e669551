"""The generalization gap R_S − R, and how fast stability and gap fall with N.

The gap says how much better a surface looks at the examples that made it than at fresh ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..arguments import read_count
from ..bezier import BezierSimplex
from ..compilation import compiled, map_in_batches
from ..flows import Flow
from ..objectives import FlatObjectives
from ..precision import double_precision
from ..simplex import Uniform
from .schedule import SCHEDULE
from .statistics import Interval, check_samples, gram_root, mean_interval, slope
from .twins import (
    Exchange,
    Setting,
    check_exchangeable,
    check_gradients,
    empirical_stability,
    held_out_points,
    run_many,
)

QUANTITIES = ("last", "last_move", "anywhere", "anywhere_move", "worst", "gap", "spread")
"""Of these slopes against N are taken."""


@dataclass(frozen=True)
class GeneralizationGap:
    """R_S − R over independent runs, S being all K N examples of a run.

    Attributes:
        expected: E[R_S − R] with Student's interval over the runs, freed of most noise: from each
            run's gap, the gap of another run's surface on the same examples is subtracted, whose
            expectation is 0 because it never saw them.
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
    control_points: Float[np.ndarray, "n_runs n_controls n_variables"] | None = None,
) -> GeneralizationGap:
    """Measures the gap over independent runs. Call in double precision.

    Args:
        setting: what all runs share; where its loss is the stationarity residual, the gap is that
            of the surrogate.
        keys: one key per run, two at least.
        control_points: where the runs from these keys have ended, if that is known already.
    """
    read_count(len(keys), "the number of keys", 2)
    check_exchangeable(setting)
    if control_points is None:
        P = run_many(setting, keys, Exchange.none(len(keys), setting.n_objectives))
    else:
        P = jnp.asarray(control_points)
    held_out = jnp.asarray(held_out_points(setting.n_objectives, SCHEDULE.held_out))
    losses = _mean_losses(setting, P, jnp.roll(P, 1, axis=0), keys, held_out)
    seen, seen_by_others, risks = map(np.asarray, losses)
    gaps, controls = seen - risks, seen_by_others - np.roll(risks, 1)
    return GeneralizationGap(mean_interval(gaps - controls), gaps, risks, np.asarray(P))


@compiled
def _mean_losses(
    setting: Setting, own: Array, other: Array, keys: Array, held_out: Array
) -> tuple[Array, Array, Array]:
    """R_S of each run's own surface and of another run's, S drawn again from the run's key, and R
    of its own."""
    K, degree, loss = setting.n_iterations, setting.degree, setting.loss

    def of_run(surfaces_and_key: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        P, Q, key = surfaces_and_key
        both = jnp.stack([P, Q])

        def add(k: Array, totals: Array) -> Array:
            t, _ = setting.flow.draw(key, k, setting.n_objectives)
            return totals + jnp.mean(jax.vmap(lambda P: loss(P, t, degree))(both), axis=1)

        totals = jax.lax.fori_loop(1, K + 1, add, jnp.zeros(2))
        return totals[0] / K, totals[1] / K, jnp.mean(loss(P, held_out, degree))

    return map_in_batches(of_run, (own, other, keys), SCHEDULE.at_once)


@dataclass(frozen=True)
class Scaling:
    """How stability and gap fall with N. One entry per N.

    Attributes:
        n_samples: the values of N.
        last: mean of sup_t |ℓ(P; t) − ℓ(P'; t)| over twins that differ in one example of the last
            iteration.
        last_move: mean of sup_t |b(t|P) − b(t|P')| over the same twins.
        anywhere: as `last`, for an example of any iteration.
        anywhere_move: as `last_move`, likewise.
        worst: the largest sup_t |ℓ(P; t) − ℓ(P'; t)| over all of these twins.
        gap: |E[R_S − R]|, estimated.
        gap_low: lower end of the 95 % interval of E[R_S − R], with its sign.
        gap_high: upper end.
        spread: RMS distance of a run's surface from the mean surface over runs with different
            samples.
        by_twins: √(KN/2 · E|P − P'|_Γ²), estimated over the twins: by Efron and Stein's inequality
            at least the true spread, with equality where samples act independently of each other.
        by_twins_low: lower end of its 95 % interval.
        by_twins_high: upper end.
        risk: mean of R over the runs.
        slopes: of each quantity in log-log scales, with 95 % intervals (of the straight line's
            fit); None where a value is 0, missing or infinite.
    """

    n_samples: Float[np.ndarray, " n"]
    last: Float[np.ndarray, " n"]
    last_move: Float[np.ndarray, " n"]
    anywhere: Float[np.ndarray, " n"]
    anywhere_move: Float[np.ndarray, " n"]
    worst: Float[np.ndarray, " n"]
    gap: Float[np.ndarray, " n"]
    gap_low: Float[np.ndarray, " n"]
    gap_high: Float[np.ndarray, " n"]
    spread: Float[np.ndarray, " n"]
    by_twins: Float[np.ndarray, " n"]
    by_twins_low: Float[np.ndarray, " n"]
    by_twins_high: Float[np.ndarray, " n"]
    risk: Float[np.ndarray, " n"]
    slopes: dict[str, Interval | None]

    def rows(self) -> list[dict[str, float]]:
        """One dictionary per N."""
        names = [field.name for field in fields(self) if field.name != "slopes"]
        columns = zip(*(getattr(self, name).tolist() for name in names), strict=True)
        return [dict(zip(names, row, strict=True)) for row in columns]


def against_samples(
    flow: Flow,
    objectives: FlatObjectives,
    x0: Float[np.ndarray, " n_variables"] | Sequence[float],
    n_samples: Sequence[int],
    n_iterations: int,
    *,
    n_runs: int = 32,
    seed: int = 0,
) -> Scaling:
    """Measures stability and gap of a flow for each N, over independent runs with nine twins each.

    Args:
        flow: its sampler is replaced by `Uniform(N)`.
        objectives: a problem, or a function of a flat vector.
        x0: every control point of P^(1).
        n_samples: the values of N, three at least, each at least the number of control points.
        n_iterations: K.
        n_runs: independent runs for each N.
        seed: the same seed gives the same figures.
    """
    if len(set(n_samples)) < 3:
        raise ValueError(
            "n_samples must hold at least three different N to measure a slope, got"
            f" {list(n_samples)}"
        )
    read_count(n_runs, "n_runs", 2)
    start = np.asarray(x0, dtype=float)
    with double_precision():
        check_gradients(objectives, start)
        n_objectives = jax.eval_shape(objectives, start).shape[0]
        for N in n_samples:
            check_samples(N, n_objectives, flow.degree)
        surface = BezierSimplex.constant(start, n_objectives, flow.degree)
        rows, K, M = [], read_count(n_iterations, "n_iterations", 1), n_objectives
        keys = jax.random.split(jax.random.key(seed), n_runs)
        n_anywhere = n_runs * SCHEDULE.twins_per_run
        # Evenly spread over the iterations instead of drawn: as uniform, with less noise where only
        # the last few matter. The order is random, so that a run's own twins are not all early or
        # all late.
        evenly = 1 + (np.arange(n_anywhere) * K + K // 2) // n_anywhere
        k = np.concatenate([np.full(n_runs, K), np.random.default_rng(seed).permutation(evenly)])
        last, anywhere = slice(0, n_runs), slice(n_runs, None)
        root = gram_root(M, flow.degree)
        for N in n_samples:
            sampled = eqx.tree_at(
                lambda f: f.sampler, flow, Uniform(N), is_leaf=lambda leaf: leaf is None
            )
            setting = Setting(sampled, objectives, surface, K)
            exchange = Exchange.random(k, N, M, seed)
            twins = empirical_stability(setting, exchange, keys=keys)
            gap = generalization_gap(setting, keys=keys, control_points=twins.ends)
            off_mean = root @ (twins.ends - twins.ends.mean(axis=0))
            by_twins = mean_interval(K * N / 2 * twins.rms[anywhere] ** 2)
            rows.append(
                {
                    "n_samples": float(N),
                    "last": float(twins.sup_loss[last].mean()),
                    "last_move": float(twins.sup_move[last].mean()),
                    "anywhere": float(twins.sup_loss[anywhere].mean()),
                    "anywhere_move": float(twins.sup_move[anywhere].mean()),
                    "worst": float(twins.sup_loss.max()),
                    "gap": abs(gap.expected.estimate),
                    "gap_low": gap.expected.low,
                    "gap_high": gap.expected.high,
                    "spread": float(np.sqrt(np.sum(off_mean**2) / (n_runs - 1))),
                    "by_twins": float(np.sqrt(by_twins.estimate)),
                    "by_twins_low": float(np.sqrt(max(by_twins.low, 0.0))),
                    "by_twins_high": float(np.sqrt(by_twins.high)),
                    "risk": float(gap.risks.mean()),
                }
            )
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    slopes = {name: slope(columns["n_samples"], columns[name]) for name in QUANTITIES}
    return Scaling(**columns, slopes=slopes)
