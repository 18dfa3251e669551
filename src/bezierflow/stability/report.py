"""A report a person can read: how much one sample matters to a solution, and what the run needs more of."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..flow import Flow, Origin, Solution
from ..methods import GradientDescent
from ..precision import double_precision
from ..scalarizations import WeightedSum
from ..simplex import Uniform
from .bounds import Bound, PaperBounds
from .checks import check_count, check_gradients, check_probability, check_samples
from .empirical import TwinRuns, empirical_stability
from .error_parts import ErrorParts, error_parts
from .gap import GeneralizationGap, generalization_gap
from .losses import Distance, loss_for
from .run_bounds import curvature_bounds, sharper_bounds, trace
from .smallest_eigenvalue import draws_for, smallest_eigenvalue_law
from .twins import check_traceable

ENOUGH = 1e-6
"""An error this small, relative to the surface's diameter, needs nothing."""


@dataclass(frozen=True)
class Report:
    """How stable a solution is. Print it.

    Attributes:
        n_samples: N.
        n_iterations: K.
        degree: D.
        diameter: of the control points' bounding box, to compare distances with.
        twins: the run against twins with one sample exchanged; the first half in the last iteration, the others anywhere.
        gap: the generalization gap over runs with other samples.
        parts: where the error comes from.
        loss: "distance" to the exact Pareto map, or "stationarity" residual.
        epsilon: ε of the paper's bound.
        bounds: bounds on sup_t |ℓ(P; t) − ℓ(P'; t)| by name: "paper", "sharper", "curvature". For gradient descent with
            uniform samples only, as nothing is proved for others.
    """

    n_samples: int
    n_iterations: int
    degree: int
    diameter: float
    twins: TwinRuns
    gap: GeneralizationGap
    parts: ErrorParts
    loss: str
    epsilon: float
    bounds: dict[str, Bound]

    @property
    def needs(self) -> str:
        """What the run needs more of: "samples", "degree", "iterations", or "nothing"."""
        if self.parts.total <= ENOUGH * self.diameter:
            return "nothing"
        return "iterations" if self.parts.largest == "method" else self.parts.largest

    @property
    def advice(self) -> str:
        """What to do, in a sentence."""
        parts = self.parts
        rest = float(np.hypot(parts.degree, parts.method))
        more = int(np.ceil(self.n_samples * (parts.samples / rest) ** 2)) if rest > 0 else 4 * self.n_samples
        return {
            "nothing": "The error is negligible; nothing more is needed.",
            "samples": f"The samples are the largest part of the error: about {more:,} of them an iteration would bring it down "
            "to what remains without (it falls like 1/√N), or nodes that are not drawn at random (bf.Fixed).",
            "degree": f"No surface of degree {self.degree} comes closer than {parts.degree:.3g}: a higher degree is what this "
            "run needs; more samples or iterations would not help much.",
            "iterations": "The flow itself is the largest part of the error: more iterations, other step sizes, or a method that "
            "settles at the best fit, such as bf.Newton().",
        }[self.needs]

    def figures(self) -> dict[str, Any]:
        """The report as plain numbers, for a JSON file."""
        half = len(self.twins.k) // 2
        moved = {
            "last_mean": float(self.twins.sup_move[:half].mean()),
            "last_max": float(self.twins.sup_move[:half].max()),
            "anywhere_mean": float(self.twins.sup_move[half:].mean()),
            "anywhere_max": float(self.twins.sup_move[half:].max()),
        }
        parts = {name: getattr(self.parts, name) for name in ("degree", "method", "samples", "n_missing", "n_held_out", "exact")}
        gap = self.gap.expected
        return {
            "n_samples": self.n_samples,
            "n_iterations": self.n_iterations,
            "degree": self.degree,
            "diameter": self.diameter,
            "loss": self.loss,
            "one_sample_moves": moved,
            "largest_change_of_loss": float(self.twins.sup_loss.max()),
            "gap": {"estimate": gap.estimate, "low": gap.low, "high": gap.high, "risk": float(self.gap.risks.mean())},
            "error_parts": parts,
            "epsilon": self.epsilon,
            "bounds": {name: {"value": bound.value, "assumes": bound.assumes} for name, bound in self.bounds.items()},
            "needs": self.needs,
            "advice": self.advice,
        }

    def __str__(self) -> str:
        figures = self.figures()
        moved, parts, gap = figures["one_sample_moves"], self.parts, self.gap.expected
        what = "distance to x*" if self.loss == "distance" else "stationarity residual |∇f(b(t)|t)|"
        lines = [
            f"Stability of a surface of degree {self.degree}, made of {self.n_samples} samples in each of "
            f"{self.n_iterations} iterations (its bounding box is {self.diameter:.3g} across)",
            "",
            "Had one sample been different, the surface would have moved, at most over t, by",
            f"  {moved['last_mean']:.2e} on average, {moved['last_max']:.2e} in the worst twin: a sample of the last iteration",
            f"  {moved['anywhere_mean']:.2e} on average, {moved['anywhere_max']:.2e} in the worst twin: one of any iteration",
            "",
            "Where the error comes from (RMS distances"
            + ("" if parts.exact else ", x* found by Newton's method")
            + (f", {parts.n_missing} of {parts.n_held_out} held-out t without one" if parts.n_missing else "")
            + ")",
            f"  degree   {parts.degree:.3e}   no surface of degree {self.degree} can avoid it",
            f"  method   {parts.method:.3e}   the mean over runs against the best fit",
            f"  samples  {parts.samples:.3e}   from run to run",
            "",
            f"Generalization gap R_S - R of the {what}: {gap.estimate:.2e} (95 %: {gap.low:.2e} to {gap.high:.2e}), R = "
            f"{self.gap.risks.mean():.3e}",
        ]
        if self.bounds:
            lines += ["", f"Proved bounds on how much one sample can change the loss (observed {self.twins.sup_loss.max():.2e})"]
            lines += [f"  {name:9} {bound.value:.2e}   if {bound.assumes}" for name, bound in self.bounds.items()]
        return "\n".join([*lines, "", self.advice])


def report(
    solution: Solution,
    *,
    epsilon: float = 0.05,
    n_twins: int = 24,
    n_runs: int = 8,
    mu: float | None = None,
    seed: int = 0,
) -> Report:
    """How much the surface would move had one sample been different, and whether samples or degree are what the run needs.

    The run is made again many times: with one sample exchanged, and with other samples altogether. With 100 samples and 1000
    iterations of three objectives that takes some twenty seconds on two cores.

    Args:
        solution: from `minimize`, with a lifted method.
        epsilon: the paper's bound is to hold with probability 1 − ε over the samples.
        n_twins: how many twins, half of them with a sample of the last iteration exchanged.
        n_runs: how many runs with other samples.
        mu: the objectives' Lipschitz constant where the run goes, for the bounds; measured along the run if not given.
        seed: draws the exchanges and the other runs' samples.
    """
    check_probability(epsilon, "epsilon")
    check_count(n_twins, "n_twins", 2)
    check_count(n_runs, "n_runs", 2)
    if mu is not None and not 0 < mu < np.inf:
        raise ValueError(f"mu must be a finite number above 0, got {mu!r}")
    origin, objectives = _origin(solution), solution.flat_objectives
    flow, surface, K = origin.flow, origin.surface, solution.stats.iterations
    check_traceable(flow)
    check_samples(flow.sampler.n_samples, surface.n_objectives, flow.degree)  # type: ignore[union-attr]
    with double_precision():
        check_gradients(objectives, jnp.asarray(surface.control_points)[0])
        loss = loss_for(objectives, flow)
        own = jax.random.key(origin.seed)
        places = np.random.default_rng(seed).integers(1, K + 1, n_twins - n_twins // 2)
        k = np.concatenate([np.full(n_twins // 2, K), places])
        # The solution's own run, which all twins belong to, and others with keys folded in, so that none has its samples.
        keys = jnp.concatenate([own[None], jax.random.split(jax.random.fold_in(own, 1 + seed), n_runs)])
        twins = empirical_stability(flow, objectives, surface, K, loss, k, keys=keys, of=np.zeros(n_twins, dtype=int), seed=seed)
        gap = generalization_gap(flow, objectives, surface, K, loss, keys=keys, control_points=twins.ends)
        parts = error_parts(flow, objectives, twins.ends, surface.n_objectives)
        bounds = _bounds(flow, objectives, origin, K, epsilon, mu)
    return Report(
        n_samples=flow.sampler.n_samples,  # type: ignore[union-attr]
        n_iterations=K,
        degree=flow.degree,
        diameter=float(np.linalg.norm(np.ptp(np.asarray(solution.flat_surface.control_points), axis=0))),
        twins=twins,
        gap=gap,
        parts=parts,
        loss="distance" if isinstance(loss, Distance) else "stationarity",
        epsilon=epsilon,
        bounds=bounds,
    )


def _origin(solution: Solution) -> Origin:
    if not isinstance(solution, Solution):
        raise TypeError(f"solution must come from bezierflow.minimize, got {type(solution).__name__}")
    if solution.origin is None:
        raise ValueError(
            "this solution does not say how to make its run again: it came from a file, or from a method without samples; "
            "call bf.minimize with a lifted method, such as bf.lift(bf.Newton(), degree=3, sampler=bf.Uniform(100))"
        )
    return solution.origin


def _bounds(flow: Flow, objectives: Any, origin: Origin, K: int, epsilon: float, mu: float | None) -> dict[str, Bound]:
    """The bounds that are proved for this flow: for the paper's own algorithm three, for others none."""
    proved = isinstance(flow.method, GradientDescent) and isinstance(flow.scalarization, WeightedSum)
    if not (proved and isinstance(flow.sampler, Uniform)):
        return {}
    M, N = origin.surface.n_objectives, flow.sampler.n_samples
    run = trace(flow, objectives, origin.surface, jax.random.key(origin.seed), K)
    sharper = sharper_bounds(run, objectives, mu)
    law = smallest_eigenvalue_law(M, flow.degree, N, draws_for(epsilon / (K + 1)))
    paper = PaperBounds(sharper.mu, N, law.eta(epsilon, K), law.zeta(epsilon, K))
    curved = curvature_bounds(run, flow, objectives)
    return {"paper": paper.stability(K), "sharper": sharper.stability(), "curvature": curved.stability()}
