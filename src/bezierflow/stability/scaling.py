"""Stability and gap against N: does one example matter less when there are more of them, and how
fast?"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from ..bezier import BezierSimplex
from ..flows import Flow
from ..objectives import FlatObjectives
from ..precision import double_precision
from ..simplex import Uniform
from .checks import check_count, check_gradients, check_samples
from .empirical import empirical_stability
from .gap import generalization_gap
from .gram import gram_root
from .intervals import Interval, mean_interval, slope
from .setting import Setting
from .twins import Exchange

QUANTITIES = ("last", "last_move", "anywhere", "anywhere_move", "worst", "gap", "spread")
"""Of these slopes are taken."""

TWINS_A_RUN = 8
"""Twins of each run whose exchanged example is anywhere. Few of them make large differences, so
that it takes hundreds for a mean square that can be told from the spread it is compared with."""


@dataclass(frozen=True)
class Scaling:
    """How stability and gap fall with N. One entry for each N.

    Attributes:
        n_samples: the values of N.
        last: mean of sup_t |ℓ(P; t) − ℓ(P'; t)| over twins that differ in one example of the last
            iteration.
        last_move: mean of sup_t |b(t|P) − b(t|P')| over the same twins.
        anywhere: the mean of sup_t |ℓ(P; t) − ℓ(P'; t)| for an example of any iteration, all of
            them alike.
        anywhere_move: mean of sup_t |b(t|P) − b(t|P')| over the same twins.
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
        """One dictionary for each N."""
        names = [field.name for field in fields(self) if field.name != "slopes"]
        return [
            {name: float(getattr(self, name)[row]) for name in names}
            for row in range(len(self.n_samples))
        ]

    def gap_without_sign(self) -> list[int]:
        """The N at which the interval of the gap holds 0."""
        within = (self.gap_low <= 0) & (self.gap_high >= 0)
        return [int(n) for n in self.n_samples[within]]


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
    check_count(n_runs, "n_runs", 2)
    start = np.asarray(x0, dtype=float)
    with double_precision():
        check_gradients(objectives, start)
        n_objectives = jax.eval_shape(objectives, start).shape[0]
        for N in n_samples:
            check_samples(N, n_objectives, flow.degree)
        surface = BezierSimplex.constant(start, n_objectives, flow.degree)
        settings = [
            Setting(_with_samples(flow, N), objectives, surface, n_iterations) for N in n_samples
        ]
        rows = [_measure(setting, n_runs, seed) for setting in settings]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return Scaling(
        **columns, slopes={name: slope(columns["n_samples"], columns[name]) for name in QUANTITIES}
    )


def _with_samples(flow: Flow, n_samples: int) -> Flow:
    return eqx.tree_at(
        lambda f: f.sampler, flow, Uniform(n_samples), is_leaf=lambda leaf: leaf is None
    )


def _measure(setting: Setting, n_runs: int, seed: int) -> dict[str, float]:
    K, N = setting.n_iterations, setting.n_samples
    keys = jax.random.split(jax.random.key(seed), n_runs)
    n_anywhere = n_runs * TWINS_A_RUN
    # Evenly spread over the iterations instead of drawn: as uniform, with less noise where only the
    # last few matter. The order is random, so that a run's own twins are not all early or all late.
    evenly = np.random.default_rng(seed).permutation(
        1 + (np.arange(n_anywhere) * K + K // 2) // n_anywhere
    )
    exchange = Exchange.random(
        np.concatenate([np.full(n_runs, K), evenly]), N, setting.n_objectives, seed
    )
    twins = empirical_stability(setting, exchange, keys=keys)
    last, anywhere = slice(0, n_runs), slice(n_runs, None)
    gap = generalization_gap(setting, keys=keys, control_points=twins.ends)
    off_mean = gram_root(setting.n_objectives, setting.degree) @ (
        twins.ends - twins.ends.mean(axis=0)
    )
    by_twins = mean_interval(K * N / 2 * twins.rms[anywhere] ** 2)
    return {
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
