"""Stability and gap against N: does one example matter less when there are more of them, and how fast?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit

from ..bezier import BezierSimplex
from ..flow import Flow
from ..precision import double_precision
from ..simplex import Uniform
from .checks import check_count, check_gradients, check_samples
from .empirical import empirical_stability
from .gap import generalization_gap
from .gram import gram_root
from .losses import loss_for
from .smallest_eigenvalue import Interval

QUANTITIES = ("last", "anywhere", "worst", "gap", "spread")


@dataclass(frozen=True)
class Scaling:
    """How stability and gap fall with N. One entry for each N.

    Attributes:
        n_samples: the values of N.
        last: mean of sup_t |ℓ(P; t) − ℓ(P'; t)| over twins that differ in one example of the last iteration.
        anywhere: the same for an example of any iteration, all of them alike.
        worst: the largest over all of these twins.
        gap: |E[R_S − R]|, estimated.
        gap_low: lower end of the 95 % interval of E[R_S − R], with its sign.
        gap_high: upper end.
        spread: RMS distance of a run's surface from the mean surface over runs with different samples.
        spread_by_twins: the same estimated by twins: √(KN/2 · E|P − P'|_Γ²), an upper bound by Efron and Stein's inequality.
        risk: mean of R over the runs.
        slopes: of each quantity in log-log scales, with 95 % intervals (of the straight line's fit).
    """

    n_samples: np.ndarray
    last: np.ndarray
    anywhere: np.ndarray
    worst: np.ndarray
    gap: np.ndarray
    gap_low: np.ndarray
    gap_high: np.ndarray
    spread: np.ndarray
    spread_by_twins: np.ndarray
    risk: np.ndarray
    slopes: dict[str, Interval]

    def rows(self) -> list[dict[str, float]]:
        """One dictionary for each N."""
        names = [name for name in self.__dataclass_fields__ if name != "slopes"]
        return [{name: float(getattr(self, name)[row]) for name in names} for row in range(len(self.n_samples))]


def against_samples(
    flow: Flow,
    objectives: Any,
    x0: np.ndarray,
    n_samples: Sequence[int],
    n_iterations: int,
    *,
    n_runs: int = 32,
    seed: int = 0,
) -> Scaling:
    """Measures stability and gap of a flow for each N, over independent runs with two twins each.

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
        raise ValueError(f"n_samples must hold at least three different N to measure a slope, got {list(n_samples)}")
    x0 = np.asarray(x0, dtype=float)
    with double_precision():
        check_gradients(objectives, x0)
        n_objectives = jax.eval_shape(objectives, x0).shape[0]
    for N in n_samples:
        check_samples(N, n_objectives, flow.degree)
    check_count(n_runs, "n_runs", 2)
    with double_precision():
        surface = BezierSimplex.constant(x0, n_objectives, flow.degree)
        rows = [
            _measure(_with_samples(flow, N, n_objectives), objectives, surface, n_iterations, n_runs, seed) for N in n_samples
        ]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    slopes = {name: slope(columns["n_samples"], columns[name]) for name in QUANTITIES}
    return Scaling(**columns, slopes=slopes)


def _with_samples(flow: Flow, n_samples: int, n_objectives: int) -> Flow:
    sampler = Uniform(n_samples)
    return eqx.tree_at(lambda f: f.sampler, flow, sampler, is_leaf=lambda leaf: leaf is None).for_objectives(n_objectives)


def _measure(flow: Flow, objectives: Any, surface: BezierSimplex, K: int, n_runs: int, seed: int) -> dict[str, float]:
    N, loss = flow.sampler.n_samples, loss_for(objectives, flow)  # type: ignore[union-attr]
    keys = jax.random.split(jax.random.key(seed), n_runs)
    # Evenly spread over the iterations instead of drawn: as uniform, with less noise where only the last few matter.
    evenly = 1 + (np.arange(n_runs) * K + K // 2) // n_runs
    iterations = np.concatenate([np.full(n_runs, K), evenly])
    twins = empirical_stability(flow, objectives, surface, K, loss, iterations, keys=keys, seed=seed)
    P = twins.ends
    gap = generalization_gap(flow, objectives, surface, K, loss, keys=keys, control_points=P)
    off_mean = gram_root(surface.n_objectives, flow.degree) @ (P - P.mean(axis=0))
    return {
        "n_samples": N,
        "last": float(twins.sup_loss[:n_runs].mean()),
        "anywhere": float(twins.sup_loss[n_runs:].mean()),
        "worst": float(twins.sup_loss.max()),
        "gap": abs(gap.expected.estimate),
        "gap_low": gap.expected.low,
        "gap_high": gap.expected.high,
        "spread": float(np.sqrt(np.sum(off_mean**2) / (n_runs - 1))),
        "spread_by_twins": float(np.sqrt(K * N / 2 * np.mean(twins.rms[n_runs:] ** 2))),
        "risk": float(gap.risks.mean()),
    }


def slope(n: Float[np.ndarray, " n"], values: Float[np.ndarray, " n"], confidence: float = 0.95) -> Interval:
    """The exponent p of values ∝ n^p: a straight line through the logarithms, with Student's interval."""
    x, y = np.log(n), np.log(np.maximum(values, np.finfo(float).tiny))
    x = x - x.mean()
    exponent = float(x @ y / (x @ x))
    residual = y - y.mean() - exponent * x
    free = len(x) - 2
    half = float(stdtrit(free, (1 + confidence) / 2)) * float(np.sqrt(residual @ residual / free / (x @ x)))
    return Interval(exponent, exponent - half, exponent + half)
